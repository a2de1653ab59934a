// Free memory as the system and the control group tell it.
#include "data/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace sact::data {
namespace {

/// The number after `key` in a file of lines "key number".
std::optional<uint64_t> value_of(const char* file, const std::string& key) {
  std::ifstream lines(file);
  std::string line;
  while (std::getline(lines, line)) {
    if (!line.starts_with(key + " ")) continue;
    return std::strtoull(line.c_str() + key.size(), nullptr, 10);
  }
  return std::nullopt;
}

std::optional<uint64_t> number_in(const char* file) {
  std::ifstream stream(file);
  uint64_t number = 0;
  if (!(stream >> number)) return std::nullopt;  // "max" too: no limit
  return number;
}

}  // namespace

uint64_t available_memory() {
  uint64_t available = std::numeric_limits<uint64_t>::max();
  if (const auto kib = value_of("/proc/meminfo", "MemAvailable:")) available = *kib * 1024;
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (limit && used) {
    // Cached file contents count as used there, but make way.
    const uint64_t cached = value_of("/sys/fs/cgroup/memory.stat", "inactive_file").value_or(0);
    const uint64_t taken = *used - std::min(cached, *used);
    available = std::min(available, *limit - std::min(taken, *limit));
  }
  return available;
}

}  // namespace sact::data
