// Runs a fuzz target without libFuzzer: seed inputs, those that it is given and the files of its
// corpus, then a fixed number of random mutations of them. Deterministic, so that a failure in the
// tests can be repeated; real fuzzing is the `fuzz` preset, for which `--seeds FOLDER` writes the
// seed inputs as files.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "fuzz/seeds.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

void mutate(Bytes& bytes, const std::vector<Bytes>& seeds, sact::Random& random) {
  const auto place = [&] { return size_t(random.below(int64_t(bytes.size()) + 1)); };
  switch (random.below(6)) {
    case 0:  // overwrite a byte
      if (!bytes.empty())
        bytes[size_t(random.below(int64_t(bytes.size())))] = uint8_t(random.bits());
      break;
    case 1:  // flip a bit
      if (!bytes.empty()) {
        bytes[size_t(random.below(int64_t(bytes.size())))] ^= uint8_t(1u << random.below(8));
      }
      break;
    case 2:
      bytes.resize(place());
      break;  // cut
    case 3:
      bytes.insert(bytes.begin() + long(place()), uint8_t(random.bits()));
      break;
    case 4: {  // put a piece of another seed in
      const Bytes& other = seeds[size_t(random.below(int64_t(seeds.size())))];
      const size_t from = size_t(random.below(int64_t(other.size())));
      const size_t length = std::min(other.size() - from, size_t(random.below(64)));
      bytes.insert(bytes.begin() + long(place()), other.begin() + long(from),
                   other.begin() + long(from + length));
      break;
    }
    case 5: {  // a run of one interesting value
      const uint8_t values[] = {0, 0xff, 0x7f, 0x80, '[', '{', '9'};
      const uint8_t value = values[random.below(7)];
      const size_t start = place();
      for (size_t i = start; i < std::min(bytes.size(), start + 8); ++i) bytes[i] = value;
      break;
    }
  }
}

/// The files of a folder, sorted by name, so that every run is the same.
std::vector<Bytes> corpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code ignored;  // not every target has one
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Bytes> inputs;
  for (const std::filesystem::path& file : files) {
    const std::vector<std::byte> bytes = sact::read_file(file, 1 << 20);
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    inputs.emplace_back(data, data + bytes.size());
  }
  return inputs;
}

int write_seeds(const std::filesystem::path& folder) {
  int number = 0;
  for (const std::vector<std::byte>& seed : sact::test::fuzz_seeds()) {
    const std::string name = "seed-" + std::to_string(number++);
    sact::write_file_atomically(folder / name, seed, sact::Durability::kUnsynced);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--seeds") return write_seeds(argv[2]);
  const int runs = argc > 1 ? std::atoi(argv[1]) : 20000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::printf("seed %llu, %d runs\n", static_cast<unsigned long long>(seed), runs);
  std::vector<Bytes> seeds = corpus(SACT_FUZZ_CORPUS);
  for (const std::vector<std::byte>& seed_bytes : sact::test::fuzz_seeds()) {
    const auto* data = reinterpret_cast<const uint8_t*>(seed_bytes.data());
    seeds.emplace_back(data, data + seed_bytes.size());
  }
  SACT_ASSERT(!seeds.empty());
  for (const Bytes& bytes : seeds) LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  for (int i = 0; i < runs; ++i) {
    sact::Random random = sact::Random::derived(seed, uint64_t(i));
    Bytes bytes = seeds[size_t(random.below(int64_t(seeds.size())))];
    for (int64_t k = random.below(6); k >= 0; --k) mutate(bytes, seeds, random);
    // A fresh block of exactly that size lets the address sanitizer see every overrun.
    const Bytes exact(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
  }
  return 0;
}
