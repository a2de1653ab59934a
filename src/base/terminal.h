// What the terminal can show: how wide it is, and whether colour is wanted.
#pragma once

#include <string>
#include <string_view>

namespace sact {

/// Columns for text on a descriptor: COLUMNS of the environment, else the terminal's width, else
/// 80; at least 40.
int text_columns(int descriptor);

/// The width of the terminal that a descriptor is, or 0 where it is none.
int columns_of_terminal(int descriptor);

/// Whether text on a descriptor may have colour: it is a terminal other than "dumb", and NO_COLOR
/// (https://no-color.org) is not in the environment.
bool colour_wanted(int descriptor);

enum class Style { kHeading, kError, kWarning };

/// The text in a style, or as it is where colour is not wanted.
std::string styled(std::string_view text, Style style, bool colour);

}  // namespace sact
