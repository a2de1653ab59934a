// "Did you mean ...?": the known word that is most like what somebody typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sact {

/// How many letters must be put in, taken out, replaced or swapped with their neighbour to make one
/// word of the other.
int edit_distance(std::string_view a, std::string_view b);

/// The known word nearest to `word`, or nothing when none is near enough to have been meant: at
/// most one change for every three letters.
std::string closest(std::string_view word, const std::vector<std::string>& known);

/// " (did you mean 'x'?)" for messages, or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace sact
