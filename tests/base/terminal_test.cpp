#include "base/terminal.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "support/terminal.h"

namespace sact {
namespace {

/// A terminal of a given width; environment variables that matter are as the test sets them.
class Terminal : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::can_make_terminals()) GTEST_SKIP() << "there are no pseudo terminals here";
    winsize size{};
    size.ws_row = 24;
    size.ws_col = 63;
    ASSERT_EQ(::openpty(&master_, &terminal_, nullptr, nullptr, &size), 0);
    ASSERT_EQ(::pipe(pipe_), 0);
    for (const char* name : {"COLUMNS", "NO_COLOR"}) ::unsetenv(name);
    ::setenv("TERM", "xterm", 1);
  }
  void TearDown() override {
    for (int descriptor : {master_, terminal_, pipe_[0], pipe_[1]}) ::close(descriptor);
    for (const char* name : {"COLUMNS", "NO_COLOR"}) ::unsetenv(name);
  }
  int master_ = -1, terminal_ = -1, pipe_[2] = {-1, -1};
};

TEST_F(Terminal, ItsWidthIsUsedAndEightyWithoutOne) {
  EXPECT_EQ(text_columns(terminal_), 63);
  EXPECT_EQ(text_columns(pipe_[1]), 80);
}

TEST_F(Terminal, ColumnsOfTheEnvironmentCountFirst) {
  ::setenv("COLUMNS", "120", 1);
  EXPECT_EQ(text_columns(terminal_), 120);
  EXPECT_EQ(text_columns(pipe_[1]), 120);
  ::setenv("COLUMNS", "3", 1);
  EXPECT_EQ(text_columns(terminal_), 40) << "no text fits into less";
  for (const char* nonsense : {"", "wide", "90x", "-5", "99999999999999"}) {
    ::setenv("COLUMNS", nonsense, 1);
    EXPECT_EQ(text_columns(terminal_), 63) << nonsense;
  }
}

TEST_F(Terminal, ColourNeedsATerminalAndNobodyAgainstIt) {
  EXPECT_TRUE(colour_wanted(terminal_));
  EXPECT_FALSE(colour_wanted(pipe_[1]));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(colour_wanted(terminal_));
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(colour_wanted(terminal_)) << "an empty one says nothing";
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(colour_wanted(terminal_));
}

TEST_F(Terminal, StylesEndWhereTheTextEnds) {
  EXPECT_EQ(styled("error:", Style::kError, true), "\033[1;31merror:\033[0m");
  EXPECT_EQ(styled("error:", Style::kError, false), "error:");
}

}  // namespace
}  // namespace sact
