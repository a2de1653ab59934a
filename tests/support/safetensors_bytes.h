// Building safetensors files byte by byte, right and wrong ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace sact::test {

/// A file with this header text and that many bytes of data. `claimed` replaces the true header
/// length where it is not negative.
inline std::vector<std::byte> safetensors_bytes(std::string_view header, size_t data_bytes,
                                                int64_t claimed = -1) {
  std::vector<std::byte> file(8 + header.size() + data_bytes);
  const uint64_t length = claimed >= 0 ? uint64_t(claimed) : header.size();
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, header.data(), header.size());
  for (size_t i = 0; i < data_bytes; ++i) file[8 + header.size() + i] = std::byte(i * 37);
  return file;
}

}  // namespace sact::test
