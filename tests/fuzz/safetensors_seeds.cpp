#include "fuzz/seeds.h"
#include "model/spec.h"
#include "support/safetensors_bytes.h"

namespace sact::test {

std::vector<std::vector<uint8_t>> fuzz_seeds() {
  ModelSpec spec;
  spec.units = {1, 2};
  spec.classes = 2;
  spec.labels = {"a", "b"};
  std::string escaped;
  for (char c : to_json(spec)) escaped += c == '"' ? std::string("\\\"") : std::string(1, c);
  const std::vector<std::vector<std::byte>> files = {
      safetensors_bytes("{}", 0),
      safetensors_bytes(R"({"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
                        R"("b":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]}})",
                        22),
      safetensors_bytes("{\"__metadata__\":{\"sact\":\"" + escaped + "\"}}", 0),
      safetensors_bytes(
          R"({"stem.conv.weight":{"dtype":"F16","shape":[1,1,7,7],"data_offsets":[0,98]},)"
          R"("stages.0.blocks.0.conv1.weight":{"dtype":"F16","shape":[1,1,1,1],)"
          R"("data_offsets":[98,100]},"head.fc.weight":{"dtype":"F16","shape":[2,1],)"
          R"("data_offsets":[100,104]}})",
          104)};
  std::vector<std::vector<uint8_t>> seeds;
  for (const auto& file : files) {
    const auto* data = reinterpret_cast<const uint8_t*>(file.data());
    seeds.emplace_back(data, data + file.size());
  }
  return seeds;
}

}  // namespace sact::test
