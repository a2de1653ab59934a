// What is left of a machine's memory, from files like those that the system shows.
#include "base/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "support/errors.h"
#include "support/sanitizers.h"
#include "support/temporary.h"

namespace sact {
namespace {

class AvailableMemory : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  /// A control group of the second version.
  void write_group(const std::string& name, const std::string& limit, const std::string& used) {
    write("sys/fs/cgroup/" + name + "/memory.max", limit + "\n");
    write("sys/fs/cgroup/" + name + "/memory.current", used + "\n");
    write("sys/fs/cgroup/" + name + "/memory.stat", "anon 7\ninactive_file 100\n");
  }
  uint64_t available() { return available_memory_below(root_.path()); }

  test::TemporaryDirectory root_;
};

TEST_F(AvailableMemory, IsWhatTheSystemSays) {
  write("proc/meminfo", "MemTotal:  9000 kB\nMemFree: 1 kB\nMemAvailable:   5000 kB\n");
  EXPECT_EQ(available(), 5000u * 1024);
}

TEST_F(AvailableMemory, IsHugeWhereNothingTells) {
  EXPECT_EQ(available(), UINT64_MAX);
}

TEST_F(AvailableMemory, IsWhatAContainerLeaves) {
  write("proc/meminfo", "MemAvailable: 5000 kB\n");
  write_group("", "1000", "700");
  EXPECT_EQ(available(), 400u) << "cached files make way";
  write_group("", "max", "700");
  EXPECT_EQ(available(), 5000u * 1024);
  write_group("", "1000", "2000");
  EXPECT_EQ(available(), 0u);
}

TEST_F(AvailableMemory, IsWhatTheProcessGroupAndThoseAboveLeave) {
  write("proc/meminfo", "MemAvailable: 5000 kB\n");
  write("proc/self/cgroup", "0::/jobs/mine\n");
  write_group("jobs/mine", "2000", "100");
  write_group("jobs/other", "50", "0");
  EXPECT_EQ(available(), 2000u);
  write_group("jobs", "3000", "2900");
  EXPECT_EQ(available(), 200u);
}

TEST_F(AvailableMemory, IsWhatGroupsOfTheFirstVersionLeave) {
  write("proc/meminfo", "MemAvailable: 5000 kB\n");
  write("proc/self/cgroup", "12:cpu:/a\n4:memory:/a/b\n");
  write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9000\n");
  write("sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "1000\n");
  write("sys/fs/cgroup/memory/a/b/memory.stat", "inactive_file 5\ntotal_inactive_file 300\n");
  EXPECT_EQ(available(), 8300u);
}

TEST(ExpectMemory, NamesWhatIsNeededAndWhatIsThere) {
  expect_memory(64 << 20, "a little");
  const std::string message =
      test::error_of([] { expect_memory(uint64_t{1} << 60, "2 images of 9x9"); });
  EXPECT_NE(message.find("2 images of 9x9 would need 1"), std::string::npos) << message;
  EXPECT_NE(message.find("of memory, but there is"), std::string::npos) << message;
}

TEST(ExpectMemory, CountsWhatTheCallerGivesBack) {
  const uint64_t available = available_memory();
  ASSERT_LT(available, uint64_t{1} << 60);
  expect_memory(available * 2, "more", available * 2);
}

#ifndef SACT_MEMORY_IS_SANITIZED
TEST(ExpectMemory, KeepsToTheLimitOfTheProcess) {
  rlimit old_limit{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &old_limit), 0);
  const rlimit small{rlim_t{4} << 30, old_limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &small), 0);
  const uint64_t available = available_memory();
  setrlimit(RLIMIT_AS, &old_limit);
  EXPECT_LT(available, uint64_t{4} << 30);
  EXPECT_GT(available, 0u);
}
#endif

}  // namespace
}  // namespace sact
