// Runs of `sact` in one folder that all tests of a suite share, because what they need takes a
// while to make.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/program.h"
#include "support/temporary.h"

namespace sact::test {

/// `Suite` is the class that inherits this, so that each has a folder of its own; its
/// SetUpTestSuite() begins with open_folder().
template <typename Suite>
class SharedFolder : public ::testing::Test {
 protected:
  static void open_folder() { directory_ = new TemporaryDirectory; }
  static void TearDownTestSuite() { delete directory_; }

  static const TemporaryDirectory& folder() { return *directory_; }

  static Finished run(const std::vector<std::string>& arguments) {
    return run_sact(arguments, directory_->path());
  }

  static Finished expect_done(const std::vector<std::string>& arguments) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return finished;
  }

  static void expect_error(const std::vector<std::string>& arguments, const std::string& part,
                           int status = 1) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
  }

 private:
  static inline TemporaryDirectory* directory_ = nullptr;
};

}  // namespace sact::test
