// Tests of reading lists of JSON objects one at a time.
#include "io/json_records.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/errors.h"

namespace sact::io {
namespace {

using test::error_of;

const std::vector<JsonList> kLists = {{"images", {"id", "file"}}, {"boxes", {"id", "box", "on"}}};

struct Row {
  size_t list = 0;
  int64_t id = 0;
};

std::vector<Row> rows_of(std::string_view text) {
  std::vector<Row> rows;
  read_json_records(text, "x.json", kLists, [&rows](size_t list, const JsonRecord& record) {
    EXPECT_EQ(record.index(),
              size_t(std::count_if(rows.begin(), rows.end(),
                                   [list](const Row& row) { return row.list == list; })));
    rows.push_back({list, record.integer("id")});
  });
  return rows;
}

/// Applies `action` to the only object of a file that is a list.
template <typename Action>
void with_record(const std::string& object, const Action& action) {
  const std::vector<JsonList> lists = {{"", {"a", "b"}}};
  int records = 0;
  read_json_records("[" + object + "]", "x.json", lists, [&](size_t, const JsonRecord& record) {
    ++records;
    action(record);
  });
  EXPECT_EQ(records, 1);
}

template <typename Action>
std::string refusal_of(const std::string& object, const Action& action) {
  return error_of([&] { with_record(object, action); });
}

TEST(JsonRecords, ListsComeInTheOrderOfTheFileAndTheRestIsPassedOver) {
  const auto rows = rows_of(R"({
      "info": {"images": [{"id": 99}], "boxes": 3},
      "boxes": [{"id": 7, "more": [{"id": 5}, [1, 2, {"id": 6}]]}, {"more": {"id": 1}, "id": 8}],
      "licenses": [{"id": 98}, 4, "images"],
      "images": [{"file": "a", "id": 1}]})");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].list, 1u);
  EXPECT_EQ(rows[0].id, 7);
  EXPECT_EQ(rows[1].id, 8);
  EXPECT_EQ(rows[2].list, 0u);
  EXPECT_EQ(rows[2].id, 1);
  EXPECT_TRUE(rows_of(R"({"images": [], "boxes": []})").empty());
}

TEST(JsonRecords, FieldsHaveTheirTypes) {
  with_record(R"({"a": 3, "b": [1, 2.5, -3, 4e2]})", [](const JsonRecord& record) {
    EXPECT_EQ(record.integer("a"), 3);
    EXPECT_EQ(record.number("a"), 3);
    EXPECT_EQ(record.four_numbers("b"), (std::array<double, 4>{1, 2.5, -3, 400}));
  });
  with_record(R"({"a": -0.5, "b": "caf\u00e9"})", [](const JsonRecord& record) {
    EXPECT_EQ(record.number("a"), -0.5);
    EXPECT_EQ(record.text("b"), "caf\xc3\xa9");
  });
  with_record(R"({"a": true, "b": 0})", [](const JsonRecord& record) {
    EXPECT_TRUE(record.flag("a"));
    EXPECT_FALSE(record.flag("b"));
  });
  with_record(R"({"a": 42.0, "b": null})", [](const JsonRecord& record) {
    EXPECT_EQ(record.integer("a"), 42);
    EXPECT_TRUE(record.has("a"));
    EXPECT_FALSE(record.has("b"));
  });
  with_record(R"({"a": 1, "a": [9], "a": 2})", [](const JsonRecord& record) {
    EXPECT_EQ(record.integer("a"), 2);  // the last of a name counts
    EXPECT_FALSE(record.has("b"));
  });
}

TEST(JsonRecords, NothingIsLeftFromTheObjectBefore) {
  const std::vector<JsonList> lists = {{"", {"a"}}};
  std::vector<bool> has;
  read_json_records(R"([{"a": [1, 2]}, {}, {"a": [1, 2, 3, 4]}])", "x", lists,
                    [&has](size_t, const JsonRecord& record) {
                      has.push_back(record.has("a"));
                      if (has.size() < 3) return;
                      EXPECT_EQ(record.four_numbers("a")[3], 4);
                    });
  EXPECT_EQ(has, (std::vector<bool>{true, false, true}));
}

TEST(JsonRecords, WrongTypesAreRefusedWithPlaceAndFinding) {
  const auto integer = [](const JsonRecord& record) { record.integer("a"); };
  const auto four = [](const JsonRecord& record) { record.four_numbers("a"); };
  EXPECT_EQ(refusal_of(R"({"a": "x\ny"})", integer),
            "x.json: [0]: 'a' must be a whole number; it is the text 'x?y'");
  EXPECT_EQ(refusal_of(R"({})", integer), "x.json: [0]: 'a' must be a whole number; it is missing");
  EXPECT_EQ(refusal_of(R"({"a": 1.5})", integer),
            "x.json: [0]: 'a' must be a whole number; it is 1.5");
  EXPECT_EQ(refusal_of(R"({"a": 99999999999999999999})", integer),
            "x.json: [0]: 'a' must be a whole number; it is 1e+20");
  EXPECT_EQ(refusal_of(R"({"a": [1, 2, 3]})", four),
            "x.json: [0]: 'a' must be a list of four numbers; it is a list of 3");
  EXPECT_EQ(refusal_of(R"({"a": [1, 2, 3, 4, 5]})", four),
            "x.json: [0]: 'a' must be a list of four numbers; it is a list of 5");
  EXPECT_EQ(refusal_of(R"({"a": [1, 2, "3", 4]})", four),
            "x.json: [0]: 'a' must be a list of four numbers; it is a list of something else");
  EXPECT_EQ(refusal_of(R"({"a": [1, [2], 3, 4]})", four),
            "x.json: [0]: 'a' must be a list of four numbers; it is a list of something else");
  EXPECT_EQ(refusal_of(R"({"a": {"x": 1, "y": "2"}})", four),
            "x.json: [0]: 'a' must be a list of four numbers; it is an object");
  EXPECT_EQ(refusal_of(R"({"a": 2})", [](const JsonRecord& record) { record.flag("a"); }),
            "x.json: [0]: 'a' must be 0 or 1; it is 2");
  EXPECT_EQ(refusal_of(R"({"a": null})", [](const JsonRecord& record) { record.text("a"); }),
            "x.json: [0]: 'a' must be text; it is null");
  EXPECT_EQ(refusal_of(R"({"a": true})", [](const JsonRecord& record) { record.number("a"); }),
            "x.json: [0]: 'a' must be a number; it is true");
}

TEST(JsonRecords, FilesOfAnotherShapeAreRefused) {
  const auto refusal = [](std::string_view text) { return error_of([&] { rows_of(text); }); };
  EXPECT_EQ(refusal("[]"), "x.json: must be an object with lists");
  EXPECT_EQ(refusal("3"), "x.json: must be an object with lists");
  EXPECT_EQ(refusal(R"({"images": []})"), "x.json: has no list 'boxes'");
  EXPECT_EQ(refusal(R"({"images": 3})"), "x.json: 'images' must be a list");
  EXPECT_EQ(refusal(R"({"images": {"id": 3}})"), "x.json: 'images' must be a list");
  EXPECT_EQ(refusal(R"({"images": [{"id": 1}, 2]})"), "x.json: images[1] must be an object");
  EXPECT_EQ(refusal(R"({"images": [[]]})"), "x.json: images[0] must be an object");
  EXPECT_EQ(refusal(R"({"images": [], "images": []})"), "x.json: has the list 'images' twice");
  const std::vector<JsonList> list = {{"", {"a"}}};
  for (const char* text : {"{}", "3", "\"x\"", "null"}) {
    EXPECT_EQ(
        error_of([&] { read_json_records(text, "r.json", list, [](size_t, const auto&) {}); }),
        "r.json: must be a list of objects");
  }
}

TEST(JsonRecords, DamagedTextIsRefusedWithThePlace) {
  const auto refusal = [](const std::string& text) { return error_of([&] { rows_of(text); }); };
  EXPECT_EQ(refusal(R"({"boxes": [{"id": 1}, {"id": 2, "box": [1, NaN, 2, 3]}]})"),
            "x.json: is not valid JSON in boxes[1] (near byte 44 of 56); JSON has no NaN and no "
            "infinity");
  EXPECT_EQ(refusal(R"({"boxes": [{"id": 1, "box": [1e999]}]})"),
            "x.json: has a number that is too large in boxes[0]: 1e999");
  EXPECT_EQ(refusal(R"({"images": [], "boxes": []} x)"),
            "x.json: is not valid JSON (near byte 29 of 29)");
  std::string deep = R"({"other": )";
  for (int i = 0; i < 1000000; ++i) deep += '[';
  EXPECT_EQ(refusal(deep), "x.json: JSON nests deeper than 64 levels");
}

TEST(JsonRecords, EveryTruncationIsRefused) {
  const std::string_view whole =
      R"({"images": [{"id": 12, "file": "a\u00e9b"}], "boxes": [{"id": 1, "on": true}]})";
  EXPECT_EQ(rows_of(whole).size(), 2u);
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::string message = error_of([&] { rows_of(whole.substr(0, length)); });
    EXPECT_TRUE(message.starts_with("x.json: is not valid JSON")) << length << ": " << message;
  }
}

}  // namespace
}  // namespace sact::io
