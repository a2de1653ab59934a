// Printing several lines of results.
#pragma once

#include <string_view>

namespace sact::cli {

/// As print(), which prints one line and lets no line end or control character of a name through,
/// but as it is: for JSON, and for tables, whose cells have been made harmless.
void print_block(std::string_view text);

}  // namespace sact::cli
