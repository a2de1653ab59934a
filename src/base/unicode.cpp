// The UTF-8 decoder, and the ranges of characters that are wide or have no width.
#include "base/unicode.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace sact {
namespace {

struct CharacterRange {
  char32_t first, last;
  bool operator()(char32_t character) const { return first <= character && character <= last; }
};

constexpr std::array kNoWidth = {
    CharacterRange{0x0300, 0x036f},  // combining accents
    CharacterRange{0x1ab0, 0x1aff}, CharacterRange{0x1dc0, 0x1dff}, CharacterRange{0x20d0, 0x20ff},
    CharacterRange{0x200b, 0x200f},  // joiners and marks of direction
    CharacterRange{0xfe00, 0xfe0f},  // variants of the character before
    CharacterRange{0xfe20, 0xfe2f}, CharacterRange{0xfeff, 0xfeff},
};

constexpr std::array kWide = {
    CharacterRange{0x1100, 0x115f},  // Korean letters
    CharacterRange{0x2e80, 0x303e},  // Chinese radicals and punctuation
    CharacterRange{0x3041, 0xa4cf},  // kana, Chinese
    CharacterRange{0xa960, 0xa97f},   CharacterRange{0xac00, 0xd7a3},  // Korean syllables
    CharacterRange{0xf900, 0xfaff},   CharacterRange{0xfe30, 0xfe6f},
    CharacterRange{0xff01, 0xff60},   CharacterRange{0xffe0, 0xffe6},
    CharacterRange{0x1f300, 0x1f64f},  // pictographs
    CharacterRange{0x1f680, 0x1f6ff}, CharacterRange{0x1f900, 0x1faff},
    CharacterRange{0x20000, 0x3fffd},
};

bool in_any(const auto& ranges, char32_t character) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [character](const CharacterRange& range) { return range(character); });
}

/// Whether `length` bytes are the form that UTF-8 prescribes for the character.
bool well_formed(char32_t character, size_t length) {
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  return character >= kSmallest[length] && character <= 0x10ffff && !surrogate;
}

}  // namespace

bool is_control(char32_t character) {
  constexpr CharacterRange kLinesAndDirections[] = {{0x2028, 0x202e}, {0x2066, 0x2069}};
  return character < 0x20 || (character >= 0x7f && character < 0xa0) ||
         in_any(kLinesAndDirections, character);
}

char32_t next_character(std::string_view& text) {
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  char32_t character = length == 1 ? lead : lead & (0x7fu >> length);
  bool good = length == 1 || (length > 1 && lead < 0xf8 && text.size() >= length);
  for (size_t i = 1; good && i < length; ++i) {
    good = (byte(i) & 0xc0) == 0x80;
    character = character << 6 | (byte(i) & 0x3f);
  }
  good = good && well_formed(character, length);
  text.remove_prefix(good ? length : 1);
  return good ? character : kReplacementCharacter;
}

void append_utf8(std::string& text, char32_t character) {
  const auto tail = [&](int shift) { text += char(0x80 | ((character >> shift) & 0x3f)); };
  if (character < 0x80) {
    text += char(character);
  } else if (character < 0x800) {
    text += char(0xc0 | (character >> 6));
    tail(0);
  } else if (character < 0x10000) {
    text += char(0xe0 | (character >> 12));
    tail(6);
    tail(0);
  } else {
    text += char(0xf0 | (character >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const char32_t character = next_character(text);
    if (!in_any(kNoWidth, character)) width += in_any(kWide, character) ? 2 : 1;
  }
  return width;
}

std::string cut_middle(std::string_view text, size_t width) {
  const size_t whole = display_width(text);
  if (whole <= width) return std::string(text);
  if (width == 0) return {};
  const size_t head = (width - 1) / 2, tail_begin = whole - (width - 1 - head);
  std::string front, back;
  size_t end = 0;        // cells up to the end of the character
  bool in_front = true;  // what the last character with a width went to
  bool in_back = false;
  while (!text.empty()) {
    std::string_view character = text;
    next_character(text);
    character.remove_suffix(text.size());
    if (const size_t cells = display_width(character)) {
      in_back = end >= tail_begin;
      end += cells;
      in_front = end <= head;
    }  // else: a combining mark stays with the character before it
    if (in_front) front += character;
    if (in_back) back += character;
  }
  return front + "…" + back;
}

std::string cut_end(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  size_t cells = 1;  // the ellipsis
  std::string_view rest = text;
  while (true) {
    std::string_view character = rest;
    next_character(rest);
    character.remove_suffix(rest.size());
    cells += display_width(character);
    if (cells > width) {
      text.remove_suffix(character.size() + rest.size());
      break;
    }
  }
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  return std::string(text) + "…";
}

std::string single_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const char32_t character = next_character(text);
    const bool space = character == '\n' || character == '\t' || character == '\r';
    append_utf8(line, space ? U' ' : is_control(character) ? kReplacementCharacter : character);
  }
  return line;
}

}  // namespace sact
