#include "fuzz/seeds.h"
#include "import/samples.h"

namespace sact::test {

std::vector<std::vector<std::byte>> fuzz_seeds() {
  const NamedList state = {filled("conv1.weight", {2, 1, 1, 2}), filled("fc.bias", {3})};
  std::vector<std::vector<std::byte>> seeds;
  for (const TorchFile& file : {TorchFile{state}, TorchFile{state, "state_dict", true, true}}) {
    std::vector<std::pair<std::string, std::string>> records;
    for (const std::string& text : {file.bytes(), file.pickle(records)}) {
      const auto bytes = std::as_bytes(std::span(text));
      seeds.emplace_back(bytes.begin(), bytes.end());
    }
  }
  return seeds;
}

}  // namespace sact::test
