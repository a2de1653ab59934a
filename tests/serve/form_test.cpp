#include "serve/form.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/stopwatch.h"

namespace sact::serve {
namespace {

struct Read {
  HttpRequest request;
  int status = 0;
};

/// A form with the boundary "b", taken in pieces of so many bytes.
Read read_form(const std::string& body, size_t piece = 1 << 16, size_t most_files = 4) {
  Read read;
  FormReader reader("b", most_files, read.request);
  for (size_t at = 0; at < body.size(); at += piece) {
    if (!reader.take(std::string_view(body).substr(at, piece))) break;
  }
  reader.end();
  read.status = reader.status();
  EXPECT_EQ(read.status == 0 || read.status == 413, reader.why().empty());
  return read;
}

std::string part(const std::string& disposition, const std::string& content = "x") {
  return "--b\r\nContent-Disposition: " + disposition + "\r\n\r\n" + content + "\r\n";
}
const std::string kEnd = "--b--\r\n";

TEST(Form, HasFilesAndFieldsHoweverTheyArrive) {
  const std::string body = "before\r\n" +
                           part("form-data; name=\"image\"; filename=\"a.png\"", "one\r\n--") +
                           part("form-data; name=\"top\"", "3") +
                           "--b\r\nX-More: y\r\nCONTENT-DISPOSITION: Form-Data; name=image; "
                           "filename=b.png\r\nContent-Type: image/png\r\n\r\n\r\n\r\n--c\r\n" +
                           part("form-data; name=empty", "") + kEnd + "after";
  for (size_t piece = 1; piece < 80; ++piece) {
    const Read read = read_form(body, piece);
    ASSERT_EQ(read.status, 0);
    ASSERT_EQ(read.request.files.size(), 2u);
    EXPECT_EQ(read.request.files[0].name, "a.png");
    EXPECT_EQ(read.request.files[0].content, "one\r\n--");
    EXPECT_EQ(read.request.files[1].name, "b.png");
    EXPECT_EQ(read.request.files[1].content, "\r\n\r\n--c");
    const std::multimap<std::string, std::string> right = {{"empty", ""}, {"top", "3"}};
    EXPECT_EQ(read.request.parameters, right);
  }
}

TEST(Form, NamesStandInAnyOrderAndManner) {
  for (const auto& [parameters, name] : std::vector<std::pair<std::string, std::string>>{
           {"name=image; filename=a.png", "a.png"},
           {"filename=\"a.png\"; name=\"image\"", "a.png"},
           {"NAME=image;FileName=\"a;b.png\"", "a;b.png"},
           {"name = image ; filename = a.png ;", "a.png"},
           {R"(name="image"; filename="a \"b\" \\ c")", R"(a "b" \ c)"},
           {R"(name="image"; filename="C:\d\a.png")", R"(C:\d\a.png)"},
           {"name=image; filename*=UTF-8''a%20%C3%A4.png", "a \xC3\xA4.png"},
           {"filename=\"a\"; filename*=utf-8'en'b%2g%4; name=image", "b%2g%4"},
           {"name=image; filename=\"\"", ""}}) {
    const Read read = read_form(part("form-data; " + parameters) + kEnd);
    ASSERT_EQ(read.status, 0) << parameters;
    ASSERT_EQ(read.request.files.size(), 1u) << parameters;
    EXPECT_EQ(read.request.files[0].name, name);
    EXPECT_EQ(read.request.files[0].content, "x");
  }
}

TEST(Form, BoundariesAreThoseOfForms) {
  for (const char* type :
       {"multipart/form-data; boundary=b", "Multipart/Form-Data; charset=utf-8; Boundary=\"b\"",
        "multipart/form-data;boundary=b;charset=utf-8", " multipart/form-data ; boundary=b ;"}) {
    EXPECT_EQ(boundary_of_form(type), "b") << type;
  }
  for (const char* type :
       {"", "image/png", "multipart/mixed; boundary=b", "multipart/form-dataa"}) {
    EXPECT_EQ(boundary_of_form(type), std::nullopt) << type;
  }
  for (const std::string& rest :
       {std::string(), std::string("; boundary="), std::string("; boundary"),
        "; boundary=" + std::string(71, 'b'), std::string("; boundary=\"b"),
        std::string("; boundary=\"a\"b"), std::string("; boundary=a; boundary=b")}) {
    EXPECT_THROW(boundary_of_form("multipart/form-data" + rest), Error) << rest;
  }
}

TEST(Form, WhatIsNoneIsRefused) {
  const std::string good = part("form-data; name=top") + kEnd;
  for (const std::string& body :
       {std::string(), std::string("x"), good.substr(0, good.size() - 4),
        part("form-data; name=top"), part("form-data") + kEnd, part("form-data; filename") + kEnd,
        part("attachment; name=a") + kEnd, part("form-data; name=\"a") + kEnd,
        part("form-data; name=a; Name=b") + kEnd, part("form-data; name=\"a\"b") + kEnd,
        part("form-data; filename*=a; name=b") + kEnd,
        part("form-data; name=a\r\nContent-Disposition: form-data; name=b") + kEnd,
        std::string("--b\r\n\r\nx\r\n--b--\r\n"), std::string("--bc\r\n\r\nx\r\n--b--\r\n")}) {
    for (const size_t piece : {1u, 7u, 1000u})
      EXPECT_EQ(read_form(body, piece).status, 400) << body;
  }
}

TEST(Form, PartsAndTheirHeadersHaveLimits) {
  std::string files, fields;
  for (int i = 0; i < 5; ++i) files += part("form-data; name=image; filename=a");
  EXPECT_EQ(read_form(files + kEnd).status, 413);
  EXPECT_EQ(read_form(files + kEnd, 100, 5).status, 0);
  for (int i = 0; i < 65; ++i) fields += part("form-data; name=a");
  EXPECT_EQ(read_form(fields + kEnd).status, 413);
  for (const size_t piece : {1u, 5000u}) {
    EXPECT_EQ(read_form(part("form-data; name=" + std::string(4000, 'a')) + kEnd, piece).status, 0);
    EXPECT_EQ(read_form(part("form-data; name=" + std::string(4100, 'a')) + kEnd, piece).status,
              431);
  }
}

TEST(Form, HostileHeadersTakeNoLongerThanOthers) {
  std::string hostile = "form-data; name=\"image\"";
  while (hostile.size() < 4000) hostile += "\";filename=\"\";filename*=";
  std::string returns = "form-data; name=a\r\nX: ";
  while (returns.size() < 4000) returns += '\r';
  Stopwatch watch;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(read_form(part(hostile) + kEnd).status, 400);
    EXPECT_EQ(read_form(part(returns) + kEnd, 1).status, 0);
  }
  // Milliseconds are enough; what backtracks takes minutes.
  EXPECT_LT(watch.lap(), 2000);
}

}  // namespace
}  // namespace sact::serve
