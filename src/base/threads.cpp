#include "base/threads.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

namespace sact {
namespace {

/// The CPU quota of the control group in whole processors, or `otherwise` when there is none.
int quota(int otherwise) {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string limit;
  double period = 0;
  if (!(file >> limit >> period) || limit == "max" || !(period > 0)) return otherwise;
  const double share = std::strtod(limit.c_str(), nullptr) / period;
  return share > 0 ? std::max(1, int(std::floor(share))) : otherwise;
}

}  // namespace

int available_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int processors = int(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof set, &set) == 0) processors = CPU_COUNT(&set);
  processors = std::max(1, processors);
  return std::min(processors, quota(processors));
}

int thread_count(int asked) {
  return asked > 0 ? asked : available_threads();
}

}  // namespace sact
