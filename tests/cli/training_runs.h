// Small runs of `sact train`, and looking at what they leave behind.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "support/program.h"

namespace sact::test {

/// Waits for something that a program does; false when it does not happen.
inline bool wait_until(const std::function<bool()>& happened) {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!happened()) {
    if (std::chrono::steady_clock::now() > patience) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// A start that must fail, with words that its message must have.
struct Mistake {
  std::vector<std::string> arguments;
  std::vector<std::string> words;
};

class TrainingRuns : public ::testing::Test {
 protected:
  /// A run of a second or so in the folder `run`; later settings count.
  std::vector<std::string> arguments(const std::string& run,
                                     const std::vector<std::string>& more = {}) {
    std::vector<std::string> list = {
        "train",     "--out",      run,          "--data",       "synthetic:size=36,count=40,val=9",
        "units=2,2", "stem=small", "unit=basic", "width=4",      "size=32",
        "epochs=6",  "batch=4",    "samples=0",  "halting=sact", "workers=1",
        "--threads", "1"};
    list.insert(list.end(), more.begin(), more.end());
    return list;
  }

  std::unique_ptr<Running> start(const std::vector<std::string>& arguments,
                                 uint64_t max_file_bytes = 0) {
    return std::make_unique<Running>(
        Command{SACT_PROGRAM, arguments, {}, directory_.path(), max_file_bytes});
  }

  Finished run(const std::vector<std::string>& arguments, uint64_t max_file_bytes = 0) {
    return start(arguments, max_file_bytes)->wait();
  }

  void expect_success(const std::vector<std::string>& arguments) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 0) << finished.err;
  }

  /// Status 1, and the only line about an error, the last, has these words in it.
  static void expect_error(const Finished& finished, const std::vector<std::string>& words) {
    EXPECT_EQ(finished.status, 1) << finished.err << finished.out;
    EXPECT_EQ(finished.out, "");
    const std::string mark = "sact: error: ";
    const size_t error = finished.err.find(mark);
    ASSERT_NE(error, std::string::npos) << finished.err;
    EXPECT_TRUE(error == 0 || finished.err[error - 1] == '\n') << finished.err;
    EXPECT_EQ(finished.err.find('\n', error), finished.err.size() - 1) << finished.err;
    for (const std::string& word : words) {
      EXPECT_NE(finished.err.find(word, error), std::string::npos)
          << "'" << word << "' is not in: " << finished.err;
    }
  }

  /// All of them, a few at a time since each spends half a second on loading LibTorch.
  void expect_errors(const std::vector<Mistake>& mistakes) {
    constexpr size_t kTogether = 4;
    for (size_t first = 0; first < mistakes.size(); first += kTogether) {
      std::vector<std::unique_ptr<Running>> running;
      const size_t end = std::min(mistakes.size(), first + kTogether);
      for (size_t i = first; i < end; ++i) running.push_back(start(mistakes[i].arguments));
      for (size_t i = first; i < end; ++i) {
        SCOPED_TRACE(mistakes[i].words.front() + ", case " + std::to_string(i));
        expect_error(running[i - first]->wait(), mistakes[i].words);
      }
    }
  }

  std::string bytes_of(const std::string& file) {
    std::ifstream stream(directory_ / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  void write(const std::string& file, const std::string& bytes) {
    std::filesystem::create_directories((directory_ / file).parent_path());
    std::ofstream(directory_ / file, std::ios::binary) << bytes;
  }

  bool exists(const std::string& file) { return std::filesystem::exists(directory_ / file); }

  /// The run's result is that of another, which nothing disturbed.
  void expect_same_model(const std::string& run, const std::string& other) {
    const std::string expected = bytes_of(other + "/last.safetensors");
    EXPECT_FALSE(expected.empty());
    EXPECT_TRUE(bytes_of(run + "/last.safetensors") == expected) << run << " and " << other;
  }

  TemporaryDirectory directory_;
};

}  // namespace sact::test
