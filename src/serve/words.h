// Words of HTTP.
#pragma once

#include <strings.h>

#include <string_view>

namespace sact::serve {

/// Names of headers, types and hosts are the same in small letters and in capitals.
inline bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace sact::serve
