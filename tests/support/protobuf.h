// Reading the protobuf wire format back, with code that shares nothing with the writer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sact::test {

/// The fields of a protobuf message by number: raw bytes, or eight bytes of a number.
using Fields = std::map<int, std::vector<std::string>>;

template <typename T>
T number(std::string_view bytes) {
  T value{};
  EXPECT_GE(bytes.size(), sizeof value);
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

inline std::string_view take(std::string_view& bytes, size_t count) {
  EXPECT_LE(count, bytes.size());
  const std::string_view part = bytes.substr(0, count);
  bytes.remove_prefix(part.size());
  return part;
}

inline uint64_t take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = uint8_t(take(bytes, 1)[0]);
    value |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  ADD_FAILURE() << "endless varint";
  return 0;
}

inline Fields parse_message(std::string_view bytes) {
  Fields fields;
  while (!bytes.empty() && !testing::Test::HasFailure()) {
    const uint64_t key = take_varint(bytes);
    std::string value;
    switch (key & 7) {
      case 0: {
        const uint64_t integer = take_varint(bytes);
        value.assign(reinterpret_cast<const char*>(&integer), 8);
        break;
      }
      case 1:
        value = take(bytes, 8);
        break;
      case 2:
        value = take(bytes, take_varint(bytes));
        break;
      case 5:
        value = take(bytes, 4);
        break;
      default:
        ADD_FAILURE() << "wire type " << (key & 7);
    }
    fields[int(key >> 3)].push_back(value);
  }
  return fields;
}

}  // namespace sact::test
