#include "io/mat.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/component.h"
#include "base/program.h"
#include "io/mat_damage.h"

namespace sact::io {
namespace {

constexpr char kReader[] = "sact_mat_reader";

/// What the reader printed: two sides and then so many numbers.
Map map_of(std::span<const std::byte> bytes, const std::filesystem::path& path) {
  int sides[2] = {};
  if (bytes.size() >= sizeof sides) std::memcpy(sides, bytes.data(), sizeof sides);
  const uint64_t numbers = (bytes.size() - std::min(bytes.size(), sizeof sides)) / sizeof(float);
  if (sides[0] < 1 || sides[1] < 1 || uint64_t(sides[0]) * uint64_t(sides[1]) != numbers ||
      bytes.size() % sizeof(float) != 0) {
    fail("{}: {} answered with {} bytes, which are no matrix; install both from one build",
         path.string(), kReader, bytes.size());
  }
  Map map(sides[0], sides[1]);
  std::memcpy(map.values.data(), bytes.data() + sizeof sides, bytes.size() - sizeof sides);
  return map;
}

}  // namespace

std::filesystem::path mat_reader() {
  return find_part(kReader);
}

Map read_mat(const std::filesystem::path& path, const std::string& variable) {
  constexpr size_t kMaxBytes = 500'000'000;  // more than a matrix of the largest size
  const std::filesystem::path reader = mat_reader();
  if (reader.empty()) {
    fail("{}: cannot be read, because {}; build it with -DSACT_MAT=ON", path.string(),
         why_no_part(kReader));
  }
  const Finished finished = run_program(reader, {path.string(), variable}, kMaxBytes);
  if (finished.status == 0) return map_of(finished.output, path);
  if (finished.status == kReaderTookTooLong) {
    fail("{}: takes too long to read for a file of its size; it is damaged, or made to do that",
         path.string());
  }
  if (finished.status != kReaderSaidWhy) fail_for_mat_damage(path);
  throw Error(
      std::string(reinterpret_cast<const char*>(finished.output.data()), finished.output.size()));
}

}  // namespace sact::io
