// JSON limits and messages.
#include "io/json.h"

#include <gtest/gtest.h>

#include "io/json_numbers.h"
#include "support/errors.h"

namespace sact::io {
namespace {

TEST(Json, DeepNestingIsRefusedBeforeItCostsMemory) {
  const std::string deep(1 << 20, '[');
  EXPECT_NE(test::error_of([&] { parse_json(deep, "x.json"); }).find("nests deeper"),
            std::string::npos);
}

TEST(Json, BracketsInsideStringsDoNotNest) {
  const std::string text =
      "{\"a\": \"" + std::string(1000, '[') + "\\\"" + std::string(100, '{') + "\"}";
  EXPECT_TRUE(parse_json(text, "x").is_object());
}

TEST(Json, NestingLimitIsExact) {
  EXPECT_FALSE(nests_deeper_than("[[[]]]", 3));
  EXPECT_TRUE(nests_deeper_than("[[[[]]]]", 3));
  EXPECT_FALSE(nests_deeper_than("[[],[],[[]]]", 3));
}

TEST(Json, MoreValuesThanATreeShouldHoldAreRefusedBeforeThereIsOne) {
  std::string text = "[0";
  for (int i = 1; i < 2'000'000; ++i) text += ",0";
  EXPECT_EQ(parse_json(text + "]", "x.json").size(), 2'000'000u);
  EXPECT_NE(test::error_of([&] { parse_json(text + ",0]", "x.json"); }).find("absurdly many"),
            std::string::npos);
  const std::string in_text(3'000'000, ',');
  EXPECT_EQ(parse_json("[\"" + in_text + "\"]", "x.json")[0].get<std::string>(), in_text);
}

/// Each key is compared with all others of its object.
TEST(Json, ObjectsOfAbsurdlyManyKeysAreRefused) {
  const auto object = [](int keys) {
    std::string text = "{\"a\": {}";
    for (int i = 0; i < keys; ++i) text += ",\"" + std::to_string(i) + "\":[]";
    return text + "}";
  };
  EXPECT_EQ(parse_json(object(21'843), "x.json").size(), 21'844u) << "as many as ImageNet has";
  EXPECT_NE(test::error_of([&] { parse_json(object(100'000), "x.json"); }).find("many keys"),
            std::string::npos);
}

TEST(Json, ErrorsNameTheFileAndThePlace) {
  const auto message = test::error_of([] { parse_json("{\"a\": 1,, }", "x.json"); });
  EXPECT_NE(message.find("x.json"), std::string::npos);
  EXPECT_NE(message.find("byte 9"), std::string::npos) << message;
}

TEST(Json, TextThatEndsTooEarlyIsNotBlamedOnAByteBehindItsEnd) {
  for (const char* text : {"{ ", "[1,", "\"a", ""}) {
    const auto message = test::error_of([&] { parse_json(text, "x.json"); });
    EXPECT_NE(message.find("ends too early"), std::string::npos) << message;
  }
}

TEST(Json, BytesThatAreNotUtf8DoNotStopOutput) {
  EXPECT_EQ(dump_json(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(Json, NumbersThatAnIntCannotHoldAreNone) {
  const auto number = [](const char* text) { return int_of(parse_json(text, "x")); };
  EXPECT_EQ(number("2147483647"), 2147483647);
  EXPECT_EQ(number("-2147483648"), -2147483647 - 1);
  for (const char* text : {"2147483648", "-2147483649", "4294967520", "18446744073709551615",
                           "1e99", "3.0", "\"3\"", "null"}) {
    EXPECT_EQ(number(text), std::nullopt) << text;
  }
}

TEST(Json, KeysKeepTheirOrder) {
  EXPECT_EQ(dump_json(parse_json("{\"z\":1,\"a\":2}", "x")), "{\"z\":1,\"a\":2}");
}

}  // namespace
}  // namespace sact::io
