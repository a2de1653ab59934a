// The text of the progress line.
#include "base/progress.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sact {
namespace {

TEST(Progress, ShowsShareRateAndTimeLeft) {
  const std::string line = progress_line("reading", "images", 50, 200, 10, 80);
  EXPECT_NE(line.find("50/200 images"), std::string::npos) << line;
  EXPECT_NE(line.find(" 5.00 images/s"), std::string::npos) << line;
  EXPECT_NE(line.find("0:10, 0:30 left"), std::string::npos) << line;
  const auto filled = std::count(line.begin(), line.end(), '#');
  const auto empty = std::count(line.begin(), line.end(), '.');
  EXPECT_NEAR(double(filled) / double(filled + empty), 0.25, 0.05) << line;
}

TEST(Progress, RatesAndTimesArePlainNumbers) {
  EXPECT_NE(progress_line("x", "images", 50'000, 100'000, 10, 90).find(" 5000 images/s"),
            std::string::npos);
  EXPECT_NE(progress_line("x", "images", 1, 400, 25, 90).find(" 0.040 images/s"),
            std::string::npos);
  EXPECT_NE(progress_line("x", "images", 1, 400, 25, 90).find(" 0:25, 2:46:15 left"),
            std::string::npos);
}

TEST(Progress, NeverWiderThanTheTerminal) {
  for (int columns = 0; columns < 120; ++columns) {
    EXPECT_LE(progress_line("a label", "items", 12345, 67890, 3.5, columns).size(),
              size_t(columns));
  }
}

TEST(Progress, SurvivesAbsurdCounts) {
  EXPECT_NE(progress_line("x", "y", 0, 0, 0, 60).find("0/0"), std::string::npos);
  const std::string over = progress_line("x", "y", 20, 10, 1, 60);
  EXPECT_EQ(over.substr(0, over.find(']')).find('.'), std::string::npos)
      << "the bar is not full: " << over;
}

}  // namespace
}  // namespace sact
