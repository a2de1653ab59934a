// Tests of CSV reading and of logs that survive killed runs.
#include "report/csv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/file.h"
#include "base/random.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact::report {
namespace {

using Row = std::vector<double>;

std::string text_of(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read_file(path, 1 << 20);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::vector<std::string>> rows_of(std::string_view text) {
  CsvParser parser(text, "test");
  std::vector<std::vector<std::string>> rows;
  for (std::vector<std::string> fields; parser.next(fields);) rows.push_back(fields);
  return rows;
}

void expect_error(std::string_view text, std::string_view part) {
  const std::string message = test::error_of([&] { parse_csv(text, "log.csv"); });
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Csv, RowsOfAnyTextComeBack) {
  const uint64_t seed = 20170711;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<std::string>> rows(size_t(1 + random.below(4)));
    std::string text;
    for (auto& row : rows) {
      row.resize(size_t(1 + random.below(4)));
      for (std::string& field : row) {
        for (int64_t i = random.below(5); i > 0; --i) field += ",\"\r\n a1"[random.below(7)];
      }
      text += csv_row(row);
    }
    EXPECT_EQ(rows_of(text), rows) << text;
  }
}

TEST(Csv, BothLineEndsAByteOrderMarkAndEmptyLines) {
  const CsvColumns table = parse_csv("\xef\xbb\xbfstep,loss\r\n1,0.5\r\n\n2,0.25", "t");
  EXPECT_EQ(table.names, (std::vector<std::string>{"step", "loss"}));
  EXPECT_EQ(*table.find("loss"), (Row{0.5, 0.25}));
  EXPECT_EQ(table.find("accuracy"), nullptr);
}

TEST(Csv, MissingValuesAreNaN) {
  const CsvColumns table = parse_csv("a,b,c\n1,, nan\n-inf,2e3,+4\n", "t");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_TRUE(std::isnan(table.values[1][0]));
  EXPECT_TRUE(std::isnan(table.values[2][0]));
  EXPECT_EQ(table.values[0][1], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(table.values[1][1], 2000);
  EXPECT_EQ(table.values[2][1], 4);
}

TEST(Csv, RowThatIsBeingWrittenIsLeftOut) {
  EXPECT_EQ(parse_csv("a,b\n1,2\n3", "t").rows(), 1u);
  EXPECT_EQ(parse_csv("a,b\n1,2\n3,4", "t").rows(), 2u);
}

TEST(Csv, ErrorsNameTheLine) {
  expect_error("", "log.csv: is empty");
  expect_error("a,b\n1,2\n3\n", "line 3 has 1 fields where the header has 2");
  expect_error("a,b\n1,2,3\n", "line 2 has 3 fields");
  expect_error("a,loss\n1,2\n2,high\n", "line 3: \"high\" in column \"loss\"");
  expect_error("a\n\"1\"2\n", "line 2: more text after a closing quote");
  expect_error("a\n1\n\"2\n3\n", "line 3: a quoted field has no closing quote");
  expect_error("a\n1\x1b[2J\n", "\"1?[2J\"");
}

TEST(CsvLog, ValuesComeBackBitForBit) {
  test::TemporaryDirectory directory;
  const Row first = {1, 0.1, 1.0 / 3};
  const Row second = {2, std::numeric_limits<double>::quiet_NaN(), 5e-324};
  {
    CsvLog log(directory / "log.csv", {"step", "a", "with, comma"});
    log.append(first);
    EXPECT_EQ(read_csv(directory / "log.csv").rows(), 1u) << "not flushed";
    log.append(second);
  }
  const CsvColumns table = read_csv(directory / "log.csv");
  EXPECT_EQ(table.names[2], "with, comma");
  EXPECT_EQ(table.values[0], (Row{1, 2}));
  EXPECT_EQ(table.values[1][0], 0.1);
  EXPECT_TRUE(std::isnan(table.values[1][1]));
  EXPECT_EQ(table.values[2], (Row{1.0 / 3, 5e-324}));
}

TEST(CsvLog, ResumingRemovesRowsThatWillComeAgain) {
  test::TemporaryDirectory directory;
  {
    CsvLog log(directory / "log.csv", {"step", "loss"});
    for (int step = 100; step <= 500; step += 100) log.append(Row{double(step), 1.0 / step});
  }
  CsvLog log(directory / "log.csv", {"step", "loss"}, 300);
  log.append(Row{400, 7});
  const CsvColumns table = read_csv(directory / "log.csv");
  EXPECT_EQ(table.values[0], (Row{100, 200, 300, 400}));
  EXPECT_EQ(table.values[1][3], 7);
}

TEST(CsvLog, ContinuingWithoutALimitKeepsAllRowsAndOneHeader) {
  test::TemporaryDirectory directory;
  for (int i = 0; i < 3; ++i) CsvLog(directory / "log.csv", {"a"}).append(Row{double(i)});
  EXPECT_EQ(text_of(directory / "log.csv"), "a\n0\n1\n2\n");
}

TEST(CsvLog, KilledAtAnyByteLosesAtMostTheRowBeingWritten) {
  test::TemporaryDirectory directory;
  const std::string whole = "step,loss\n10,0.5\n20,0.25\n";
  for (size_t length = 0; length <= whole.size(); ++length) {
    const std::string before = whole.substr(0, length);
    write_file_atomically(directory / "log.csv", before);
    CsvLog(directory / "log.csv", {"step", "loss"}).append(Row{30, 1});
    const size_t kept = std::max<size_t>(before.rfind('\n') + 1, 10);  // npos + 1 is 0
    EXPECT_EQ(text_of(directory / "log.csv"), whole.substr(0, kept) + "30,1\n") << length;
  }
}

TEST(CsvLog, RefusesAFileThatIsNotThisLogAndLeavesItAlone) {
  test::TemporaryDirectory directory;
  for (const std::string content : {"step,accuracy\n1,2\n", "dear diary", "\n", "step,loss\nx,1\n",
                                    "step,loss\n1\n", "step,loss\n\"1,2\n"}) {
    write_file_atomically(directory / "log.csv", content);
    const std::string message = test::error_of([&] {
      CsvLog(directory / "log.csv", {"step", "loss"}, 0);
    });
    EXPECT_NE(message.find("log.csv"), std::string::npos) << message;
    EXPECT_EQ(text_of(directory / "log.csv"), content);
  }
}

TEST(CsvLog, ColumnsThatAreNewAreEmptyInOldRows) {
  test::TemporaryDirectory directory;
  const std::filesystem::path path = directory / "log.csv";
  write_file_atomically(path, std::string_view("epoch,loss\n1,0.5\n2,0.25\n3,0.1\n"));
  CsvLog log(path, {"epoch", "val_loss", "loss"}, 2);
  log.append(Row{3, 0.75, 0.125});
  EXPECT_EQ(text_of(path), "epoch,val_loss,loss\n1,,0.5\n2,,0.25\n3,0.75,0.125\n");
  EXPECT_NE(test::error_of([&] {
              CsvLog(path, {"epoch", "loss"});
            }).find("val_loss"),
            std::string::npos);
}

}  // namespace
}  // namespace sact::report
