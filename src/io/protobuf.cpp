// Varints, fixed-width numbers and length-delimited fields.
#include "io/protobuf.h"

#include <bit>

namespace sact::io {
namespace {

constexpr int kVarint = 0;
constexpr int kFixed64 = 1;
constexpr int kLengthDelimited = 2;
constexpr int kFixed32 = 5;

}  // namespace

ProtobufMessage& ProtobufMessage::integer(int field, int64_t value) {
  key(field, kVarint);
  varint(uint64_t(value));  // negative numbers take ten bytes, as int64 fields do
  return *this;
}

ProtobufMessage& ProtobufMessage::float32(int field, float value) {
  key(field, kFixed32);
  append_little_endian(bytes_, std::bit_cast<uint32_t>(value), 4);
  return *this;
}

ProtobufMessage& ProtobufMessage::float64(int field, double value) {
  key(field, kFixed64);
  append_little_endian(bytes_, std::bit_cast<uint64_t>(value), 8);
  return *this;
}

ProtobufMessage& ProtobufMessage::bytes(int field, std::string_view value) {
  begin_bytes(field, value.size());
  bytes_ += value;
  return *this;
}

ProtobufMessage& ProtobufMessage::begin_bytes(int field, uint64_t size) {
  key(field, kLengthDelimited);
  varint(size);
  return *this;
}

void ProtobufMessage::key(int field, int wire_type) {
  varint(uint64_t(field) << 3 | uint64_t(wire_type));
}

void ProtobufMessage::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += char(value | 0x80);
  bytes_ += char(value);
}

void append_little_endian(std::string& bytes, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) bytes += char(value >> (8 * i));
}

}  // namespace sact::io
