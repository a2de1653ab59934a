// Writing the protobuf wire format by hand: enough for messages of a few fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sact::io {

/// A message under construction. Fields are written in the order of the calls.
class ProtobufMessage {
 public:
  ProtobufMessage& integer(int field, int64_t value);
  ProtobufMessage& float32(int field, float value);
  ProtobufMessage& float64(int field, double value);
  /// Text, bytes, or a message in a message.
  ProtobufMessage& bytes(int field, std::string_view value);
  /// The start of such a field, for content that is too large to be copied: it must follow in the
  /// file.
  ProtobufMessage& begin_bytes(int field, uint64_t size);

  const std::string& encoded() const { return bytes_; }

 private:
  void key(int field, int wire_type);
  void varint(uint64_t value);

  std::string bytes_;
};

/// Appends an unsigned number of `size` bytes, the least significant first.
void append_little_endian(std::string& bytes, uint64_t value, int size);

}  // namespace sact::io
