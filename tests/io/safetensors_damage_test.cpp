// Damaged safetensors files: each must be refused with one clear line.
#include <gtest/gtest.h>

#include <cstring>

#include "base/random.h"
#include "io/safetensors.h"
#include "support/errors.h"
#include "support/safetensors_bytes.h"

namespace sact::io {
namespace {

struct Case {
  const char* what;
  std::string header;
  size_t data_bytes;
  const char* expected;  // must be part of the message
  int64_t claimed = -1;
};

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

std::vector<Case> cases() {
  const std::string good = entry("a", "F32", "[1]", "[0,4]");
  return {
      {"header does not start with a brace", "[1]", 0, "does not start with"},
      {"empty header", "", 4, "does not start with"},
      {"blank before the brace", " {}", 0, "does not start with"},
      {"header longer than the limit", "{}", 0, "limit", 100'000'001},
      {"header longer than the file", "{}", 0, "cut short", 3},
      {"header of 2^63 bytes", "{}", 0, "limit", INT64_MAX},
      {"not JSON", "{\"a\"", 0, "not valid JSON"},
      {"rubbish after the object", "{} x", 0, "not valid JSON"},
      {"two objects", "{}{}", 0, "not valid JSON"},
      {"endless brackets", "{\"a\":" + std::string(100000, '['), 0, "where"},
      {"endless braces", "{\"a\":{\"dtype\":" + std::string(100000, '{'), 0, "where"},
      {"bytes that are not UTF-8", "{\"\xff\xfe\":1}", 0, "not valid JSON"},
      {"a number instead of a tensor", "{\"a\":1}", 0, "where"},
      {"a string instead of a tensor", "{\"a\":\"x\"}", 0, "where"},
      {"null instead of a tensor", "{\"a\":null}", 0, "where"},
      {"an array instead of a tensor", "{\"a\":[]}", 0, "where"},
      {"no dtype", R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, "no dtype"},
      {"no shape", R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, "no shape"},
      {"no offsets", R"({"a":{"dtype":"F32","shape":[1]}})", 4, "no data_offsets"},
      {"unknown field without an end", R"({"a":{"x":[{"dtype":"F32","shape":[1])", 4, "JSON"},
      {"endless brackets in an unknown field", "{\"a\":{\"x\":" + std::string(100000, '['), 0,
       "JSON"},
      {"all fields inside an unknown one",
       R"({"a":{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}})", 4, "no dtype"},
      {"field twice", R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4,
       "twice"},
      {"unknown dtype", "{" + entry("a", "F13", "[1]", "[0,4]") + "}", 4, "unknown type"},
      {"dtype is a number", R"({"a":{"dtype":32,"shape":[1],"data_offsets":[0,4]}})", 4, "where"},
      {"negative dimension", "{" + entry("a", "F32", "[-1]", "[0,4]") + "}", 4, "where"},
      {"fractional dimension", "{" + entry("a", "F32", "[1.5]", "[0,4]") + "}", 4, "where"},
      {"dimension is a string", "{" + entry("a", "F32", "[\"1\"]", "[0,4]") + "}", 4, "where"},
      {"dimension over 63 bits", "{" + entry("a", "F32", "[18446744073709551615]", "[0,4]") + "}",
       4, "dimension"},
      {"nested shape", "{" + entry("a", "F32", "[[1]]", "[0,4]") + "}", 4, "where"},
      {"shape overflows", "{" + entry("a", "F32", "[4294967296,4294967296]", "[0,4]") + "}", 4,
       "impossible shape"},
      {"size in bytes overflows", "{" + entry("a", "F64", "[4611686018427387904]", "[0,4]") + "}",
       4, "impossible shape"},
      {"one offset", "{" + entry("a", "F32", "[1]", "[0]") + "}", 4, "offsets"},
      {"three offsets", "{" + entry("a", "F32", "[1]", "[0,4,8]") + "}", 4, "offsets"},
      {"negative offset", "{" + entry("a", "F32", "[1]", "[-4,0]") + "}", 4, "where"},
      {"offsets reversed", "{" + entry("a", "F32", "[1]", "[4,0]") + "}", 4, "claims"},
      {"offset past the end", "{" + entry("a", "F32", "[2]", "[0,8]") + "}", 4, "cut short"},
      {"offset of 2^64-1", "{" + entry("a", "F32", "[1]", "[0,18446744073709551615]") + "}", 4,
       "cut short"},
      {"fewer bytes than the shape needs", "{" + entry("a", "F32", "[2]", "[0,4]") + "}", 4,
       "needs 8"},
      {"more bytes than the shape needs", "{" + entry("a", "F32", "[1]", "[0,8]") + "}", 8,
       "needs 4"},
      {"hole at the start", "{" + entry("a", "F32", "[1]", "[4,8]") + "}", 8, "hole"},
      {"hole between tensors", "{" + good + "," + entry("b", "F32", "[1]", "[8,12]") + "}", 12,
       "hole"},
      {"overlap", "{" + good + "," + entry("b", "F32", "[1]", "[2,6]") + "}", 6, "overlapping"},
      {"the same bytes twice", "{" + good + "," + entry("b", "F32", "[1]", "[0,4]") + "}", 4,
       "overlapping"},
      {"name twice", "{" + good + "," + entry("a", "F32", "[1]", "[4,8]") + "}", 8, "twice"},
      {"bytes after the last tensor", "{" + good + "}", 5, "tensors take 4"},
      {"bytes without tensors", "{}", 1, "tensors take 0"},
      {"metadata is a string", R"({"__metadata__":"x"})", 0, "metadata"},
      {"metadata with a number", R"({"__metadata__":{"a":1}})", 0, "metadata"},
      {"metadata with an object", R"({"__metadata__":{"a":{}}})", 0, "metadata"},
      {"metadata key twice", R"({"__metadata__":{"a":"1","a":"2"}})", 0, "twice"},
      {"metadata twice", R"({"__metadata__":{},"__metadata__":{}})", 0, "twice"},
  };
}

TEST(SafetensorsDamage, EveryHandmadeCaseIsRefusedForItsReason) {
  for (const Case& damaged : cases()) {
    SCOPED_TRACE(damaged.what);
    const auto bytes = test::safetensors_bytes(damaged.header, damaged.data_bytes, damaged.claimed);
    const std::string message = test::error_of([&] { parse_safetensors(bytes, "model.x"); });
    EXPECT_NE(message.find("model.x"), std::string::npos) << message;
    EXPECT_NE(message.find(damaged.expected), std::string::npos) << message;
    EXPECT_LT(message.size(), 400u) << message;
  }
}

std::vector<std::byte> good_file() {
  return test::safetensors_bytes("{\"__metadata__\":{\"k\":\"v\"}," +
                                     entry("a", "F32", "[2,2]", "[0,16]") + "," +
                                     entry("b", "I64", "[1]", "[16,24]") + "}",
                                 24);
}

TEST(SafetensorsDamage, EveryTruncationIsRefused) {
  const auto whole = good_file();
  EXPECT_EQ(parse_safetensors(whole, "x").tensors.size(), 2u);
  for (size_t length = 0; length < whole.size(); ++length) {
    SCOPED_TRACE(length);
    // A copy of exactly that size, so that the address sanitizer sees a read past the end.
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + long(length));
    test::error_of([&] { parse_safetensors(cut, "x"); });
  }
}

TEST(SafetensorsDamage, RandomDamageNeverBreaksTheReader) {
  const uint64_t seed = 11;
  SCOPED_TRACE(seed);
  Random random(seed);
  const auto whole = good_file();
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> damaged = whole;
    const int changes = 1 + int(random.below(4));
    for (int c = 0; c < changes; ++c) {
      damaged[size_t(random.below(int64_t(damaged.size())))] = std::byte(random.bits());
    }
    try {
      for (const auto& [name, view] : parse_safetensors(damaged, "x").tensors) {
        EXPECT_EQ(size_t(view.elements()) * dtype_size(view.dtype), view.bytes.size());
      }
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 5000) << "most damage hits the header and must be noticed";
}

}  // namespace
}  // namespace sact::io
