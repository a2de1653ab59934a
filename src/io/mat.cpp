#include "io/mat.h"

#include <cstring>
#include <span>

#include "base/program.h"
#include "io/mat_damage.h"

namespace sact::io {
namespace {

Map map_of(std::span<const std::byte> bytes) {
  int sides[2];
  SACT_ASSERT(bytes.size() >= sizeof sides);
  std::memcpy(sides, bytes.data(), sizeof sides);
  Map map(sides[0], sides[1]);
  SACT_ASSERT(bytes.size() == sizeof sides + map.values.size() * sizeof(float));
  std::memcpy(map.values.data(), bytes.data() + sizeof sides, bytes.size() - sizeof sides);
  return map;
}

}  // namespace

std::filesystem::path mat_reader() {
  return part_of_program("sact_mat_reader");
}

Map read_mat(const std::filesystem::path& path, const std::string& variable) {
  constexpr size_t kMaxBytes = 500'000'000;  // more than a matrix of the largest size
  const std::filesystem::path reader = mat_reader();
  if (reader.empty()) {
    fail(
        "{}: cannot be read, because sact_mat_reader is not beside this program; build it with "
        "-DSACT_MAT=ON",
        path.string());
  }
  const Finished finished = run_program(reader, {path.string(), variable}, kMaxBytes);
  if (finished.status == 0) return map_of(finished.output);
  if (finished.status == kReaderTookTooLong) {
    fail("{}: takes too long to read for a file of its size; it is damaged, or made to do that",
         path.string());
  }
  if (finished.status != kReaderSaidWhy) fail_for_mat_damage(path);
  throw Error(
      std::string(reinterpret_cast<const char*>(finished.output.data()), finished.output.size()));
}

}  // namespace sact::io
