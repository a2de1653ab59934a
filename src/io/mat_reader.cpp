// sact_mat_reader FILE VARIABLE: reads a matrix of a MATLAB file for read_mat(). What a damaged
// file does to matio and HDF5 ends this program and no other. Prints height and width as two ints
// and then the numbers row by row, or ends with kReaderSaidWhy and prints why not. Time and memory
// are limited by the size of the file: a few bytes could take either without bound.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "io/mat_damage.h"
#include "io/mat_matio.h"

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

/// Of processor time, so that a busy machine refuses nothing. A photograph's fixations take a few
/// hundredths of a second, a hundred million numbers without compression a few seconds. Numbers
/// that are nearly all zero take most for the bytes of their file: 36 million in 283 kB one second.
void limit_seconds(uint64_t file_bytes) {
  constexpr uint64_t kMost = 60, kBytesPerSecond = 1 << 20;
  const rlim_t seconds = std::min(kMost, 2 + file_bytes / kBytesPerSecond);
  ::signal(SIGXCPU, [](int) { ::_exit(sact::io::kReaderTookTooLong); });
  rlimit limit{seconds, seconds + 1};
  ::setrlimit(RLIMIT_CPU, &limit);
  ::signal(SIGALRM, SIG_DFL);  // a program may start with signals ignored
  ::alarm(kMost);              // where it waits and takes no time of the processor
}

void set_limits(const char* path) {
  std::error_code ignored;
  uint64_t file_bytes = std::filesystem::file_size(path, ignored);
  if (ignored) file_bytes = 0;  // reading it will say why
  // 100 million numbers, read, unpacked and copied; deflate makes 1032 numbers of a byte at most.
  constexpr uint64_t kMost = uint64_t(3) << 30, kLeast = 64 << 20, kPerByte = 6 * 1040;
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  limit_memory(std::min(kMost, kLeast + kPerByte * std::min(file_bytes, kMost / kPerByte)));
  limit_seconds(file_bytes);
}

bool print(const void* data, size_t size) {
  return std::fwrite(data, 1, size, stdout) == size;
}

[[noreturn]] void say_why(std::string_view text) {
  const bool said = print(text.data(), text.size()) && std::fflush(stdout) == 0;
  ::_exit(said ? sact::io::kReaderSaidWhy : 2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  set_limits(argv[1]);
  try {
    const sact::Map map = sact::io::read_mat_by_matio(argv[1], argv[2]);
    const int sides[] = {map.height, map.width};
    const bool printed = print(sides, sizeof sides) &&
                         print(map.values.data(), map.values.size() * sizeof(float)) &&
                         std::fflush(stdout) == 0;
    // Without what HDF5 wants to do at the end: all is said.
    ::_exit(printed ? 0 : 2);
  } catch (const sact::Error& error) {
    say_why(error.what());
  } catch (const std::bad_alloc&) {
    say_why(fmt::format("{}: its numbers take too much memory for a file of its size", argv[1]));
  }
}
