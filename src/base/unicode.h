// Reading UTF-8 that may be broken, and how wide it is on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sact {

/// What stands for bytes that are not UTF-8.
inline constexpr char32_t kReplacementCharacter = 0xfffd;

/// Takes one character off the front of `text`, which must not be empty. Of anything that is not
/// UTF-8 (overlong forms and surrogates too) one byte, as kReplacementCharacter.
char32_t next_character(std::string_view& text);

/// Whether a terminal may do something else with a character than show it: move, begin a line, take
/// what follows as a command (ESC, and U+009B, which is ESC [ in one) or turn the direction.
bool is_control(char32_t character);

void append_utf8(std::string& text, char32_t character);

/// The cells that a text takes on a terminal: two for Chinese, Japanese, Korean and pictographs,
/// none for combining marks, one for all else, such as ± or ρ.
size_t display_width(std::string_view text);

/// At most `width` cells of the text: what does not fit is left out in the middle, where an
/// ellipsis stands for it.
std::string cut_middle(std::string_view text, size_t width);

/// The same with the ellipsis at the end.
std::string cut_end(std::string_view text, size_t width);

/// The text on one line and harmless on a terminal: control characters and broken UTF-8 replaced.
std::string single_line(std::string_view text);

}  // namespace sact
