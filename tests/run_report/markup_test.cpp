// Tests of escaping, addresses, base64 and short numbers.
#include "report/markup.h"

#include <gtest/gtest.h>

namespace sact::report {
namespace {

std::string base64_of(std::string_view text) {
  return base64(std::as_bytes(std::span(text)));
}

TEST(Markup, EverythingWithAMeaningIsEscaped) {
  EXPECT_EQ(escape_markup("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(escape_markup("τ ≤ 0.005\n"), "τ ≤ 0.005\n");
}

TEST(Markup, WhatXmlCannotHoldIsReplaced) {
  EXPECT_EQ(escape_markup(std::string_view("a\0b\x01", 4)), "a\ufffdb\ufffd");
  EXPECT_EQ(escape_markup("caf\xe9"), "caf\ufffd");
  EXPECT_EQ(escape_markup("\uffff"), "\ufffd");
}

TEST(Markup, PathsStayPathsInAddresses) {
  EXPECT_EQ(relative_url("maps/epoch 3.png"), "./maps/epoch%203.png");
  EXPECT_EQ(relative_url("100%#?.png"), "./100%25%23%3F.png");
  EXPECT_EQ(relative_url("javascript:x"), "./javascript%3Ax");
  EXPECT_EQ(relative_url("ρ"), "./%CF%81");
}

TEST(Markup, Base64OfRfc4648) {
  EXPECT_EQ(base64_of(""), "");
  EXPECT_EQ(base64_of("f"), "Zg==");
  EXPECT_EQ(base64_of("fo"), "Zm8=");
  EXPECT_EQ(base64_of("foo"), "Zm9v");
  EXPECT_EQ(base64_of("foob"), "Zm9vYg==");
  EXPECT_EQ(base64_of("\xff\xef\xbe"), "/+++");
}

TEST(Markup, NumbersAreShort) {
  EXPECT_EQ(short_number(12.5), "12.5");
  EXPECT_EQ(short_number(100), "100");
  EXPECT_EQ(short_number(1.0 / 3), "0.33");
  EXPECT_EQ(short_number(-0.001), "0");
  EXPECT_EQ(short_number(-7.10), "-7.1");
}

}  // namespace
}  // namespace sact::report
