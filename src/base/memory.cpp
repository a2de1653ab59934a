// Free memory as the system, control groups and limits of the process tell it.
#include "base/memory.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace sact {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

/// The number after `key` in a file of lines "key number".
std::optional<uint64_t> value_of(const fs::path& file, const std::string& key) {
  std::ifstream lines(file);
  std::string line;
  while (std::getline(lines, line)) {
    if (!line.starts_with(key + " ") && !line.starts_with(key + "\t")) continue;
    return std::strtoull(line.c_str() + key.size(), nullptr, 10);
  }
  return std::nullopt;
}

std::optional<uint64_t> number_in(const fs::path& file) {
  std::ifstream stream(file);
  uint64_t number = 0;
  if (!(stream >> number)) return std::nullopt;  // "max" too: no limit
  return number;
}

uint64_t difference(uint64_t limit, uint64_t used) {
  return limit - std::min(used, limit);
}

/// How one version of control groups calls its files.
struct GroupFiles {
  const char *limit, *used, *cached;
};

/// What a control group and those above it leave, up to where they are mounted.
uint64_t left_in_groups(const fs::path& mount, fs::path group, const GroupFiles& files) {
  uint64_t left = kUnlimited;
  for (;; group = group.parent_path()) {
    const fs::path directory = mount / group.relative_path();
    const auto limit = number_in(directory / files.limit), used = number_in(directory / files.used);
    if (limit && used) {
      // Cached file contents count as used there, but make way.
      const uint64_t cached = value_of(directory / "memory.stat", files.cached).value_or(0);
      left = std::min(left, difference(*limit, difference(*used, cached)));
    }
    if (!group.has_relative_path()) return left;
  }
}

/// /proc/self/cgroup has lines "0::/path" (version 2) and "4:memory:/path" (version 1). Inside of a
/// container the path may be one of the world outside, where nothing is mounted: the mount itself
/// is looked at in any case.
uint64_t left_in_all_groups(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  constexpr GroupFiles kFirst = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                 "total_inactive_file"},
                       kSecond = {"memory.max", "memory.current", "inactive_file"};
  uint64_t left =
      std::min(left_in_groups(mount, "/", kSecond), left_in_groups(mount / "memory", "/", kFirst));
  std::ifstream lines(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(lines, line)) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string kind = line.substr(first + 1, second - first - 1);
    const fs::path group = fs::path(line.substr(second + 1)).lexically_normal();
    if (kind.empty()) left = std::min(left, left_in_groups(mount, group, kSecond));
    if (kind == "memory") left = std::min(left, left_in_groups(mount / "memory", group, kFirst));
  }
  return left;
}

/// What a limit of the process leaves; `key` is what the system calls that which counts.
uint64_t left_of_limit(int resource, const char* key) {
  rlimit limit{};
  if (::getrlimit(__rlimit_resource_t(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return kUnlimited;
  }
  return difference(limit.rlim_cur, value_of("/proc/self/status", key).value_or(0) * 1024);
}

}  // namespace

uint64_t available_memory_below(const fs::path& root) {
  const auto kib = value_of(root / "proc/meminfo", "MemAvailable:");
  return std::min(kib ? *kib * 1024 : kUnlimited, left_in_all_groups(root));
}

uint64_t available_memory() {
  return std::min({available_memory_below("/"), left_of_limit(RLIMIT_AS, "VmSize:"),
                   left_of_limit(RLIMIT_DATA, "VmData:")});
}

void expect_memory(uint64_t bytes, std::string_view what, uint64_t held) {
  constexpr uint64_t kAlwaysThere = 32 << 20;
  if (bytes <= held + kAlwaysThere) return;
  const uint64_t available = available_memory();
  if (available > kUnlimited - held || bytes <= available + held) return;
  throw NoMemory(fmt::format(
      "{} would need {} of memory, but there is {} here; use smaller images or fewer at a time",
      what, format_bytes(bytes), format_bytes(available + held)));
}

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

}  // namespace sact
