// sact_mat_reader FILE VARIABLE: reads a matrix of a MATLAB file for read_mat(). What a damaged
// file does to matio and HDF5 ends this program and no other. Prints height and width as two ints
// and then the numbers row by row, or ends with 3 and prints why not.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "io/mat_matio.h"
#include "sact/error.h"

namespace {

/// Beyond what the program has when it starts, which a sanitizer makes much of.
void limit_memory(uint64_t more) {
  unsigned long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  if (pages == 0) return;
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, pages * uint64_t(::getpagesize()) + more);
  ::setrlimit(RLIMIT_AS, &limit);
}

void set_limits() {
  constexpr unsigned kSeconds = 60;
  constexpr uint64_t kBytes = uint64_t(3) << 30;  // 100 million numbers, read, unpacked and copied
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  limit_memory(kBytes);
  ::signal(SIGALRM, SIG_DFL);  // a program may start with signals ignored
  ::alarm(kSeconds);
}

bool print(const void* data, size_t size) {
  return std::fwrite(data, 1, size, stdout) == size;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  set_limits();
  try {
    const sact::Map map = sact::io::read_mat_by_matio(argv[1], argv[2]);
    const int sides[] = {map.height, map.width};
    const bool printed = print(sides, sizeof sides) &&
                         print(map.values.data(), map.values.size() * sizeof(float)) &&
                         std::fflush(stdout) == 0;
    // Without what HDF5 wants to do at the end: all is said.
    ::_exit(printed ? 0 : 2);
  } catch (const sact::Error& error) {
    const std::string_view text = error.what();
    ::_exit(print(text.data(), text.size()) && std::fflush(stdout) == 0 ? 3 : 2);
  }
}
