// Containers alone, and whole models with and without a spec.
#include <filesystem>

#include "base/file.h"
#include "fuzz/seeds.h"
#include "model/initial_weights.h"
#include "model/model_file.h"
#include "support/safetensors_bytes.h"
#include "support/temporary.h"

namespace sact::test {
namespace {

std::vector<std::byte> model_bytes(const ModelSpec& spec, io::Dtype dtype) {
  TemporaryDirectory directory;
  write_model(directory / "m", spec, initial_weights(spec), dtype);
  return read_file(directory / "m", 1 << 20);
}

/// The same weights, whose spec then has to be worked out.
std::vector<std::byte> without_spec(const std::vector<std::byte>& model) {
  TemporaryDirectory directory;
  const io::Safetensors content = io::parse_safetensors(model, "seed");
  std::vector<io::NamedTensor> tensors;
  for (const auto& [name, view] : content.tensors) tensors.push_back({name, view});
  io::write_safetensors(directory / "m", tensors, {});
  return read_file(directory / "m", 1 << 20);
}

}  // namespace

std::vector<std::vector<std::byte>> fuzz_seeds() {
  ModelSpec spec;
  spec.units = {2};
  spec.width = 1;
  spec.classes = 2;
  spec.halting = Halting::kSact;
  spec.labels = {"a", "b"};
  const auto sact = model_bytes(spec, io::Dtype::kF16);
  spec.unit = UnitKind::kBasic;
  spec.stem = Stem::kSmall;
  spec.halting = Halting::kNone;
  return {safetensors_bytes("{}", 0),
          safetensors_bytes(R"({"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
                            R"("b":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]}})",
                            22),
          sact, without_spec(sact), model_bytes(spec, io::Dtype::kF32)};
}

}  // namespace sact::test
