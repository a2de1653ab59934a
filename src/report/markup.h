// Text and data inside SVG and HTML.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sact::report {

/// The text safe between tags and inside quoted attributes. Bytes that are not UTF-8 and control
/// characters, both of which would make a file that no XML parser takes, become U+FFFD.
std::string escape_markup(std::string_view text);

/// A relative path as an attribute's address: '/' stays, what has a meaning in addresses is coded.
std::string relative_url(std::string_view path);

std::string base64(std::span<const std::byte> bytes);

/// At most two decimals and no zeros that say nothing: "12.5", "-3", "0".
std::string short_number(double value);

}  // namespace sact::report
