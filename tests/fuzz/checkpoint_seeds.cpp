// Checkpoints of a small network: with a checksum, which few mutations pass, and as early versions
// wrote them, without.
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "fuzz/seeds.h"
#include "io/safetensors.h"
#include "model/initial_weights.h"
#include "support/temporary.h"
#include "train/classify/settings.h"
#include "train/loop/checkpoint_file.h"

namespace sact::test {
namespace {

/// The same file without its checksum.
void make_early(const std::filesystem::path& path) {
  const io::SafetensorsFile file(path);
  io::Metadata metadata = file.metadata();
  metadata.erase(metadata.find(io::kChecksumKey));
  std::string& json = metadata.at("sact_checkpoint");
  const std::string mark = " with checksum";
  json.erase(json.find(mark), mark.size());
  std::vector<io::NamedTensor> tensors;
  for (const auto& [name, view] : file.tensors()) tensors.push_back({name, view});
  io::write_safetensors(path, tensors, metadata);
}

}  // namespace

std::vector<std::vector<std::byte>> fuzz_seeds() {
  TemporaryDirectory directory;
  ModelSpec spec;
  spec.units = {1};
  spec.unit = UnitKind::kBasic;
  spec.stem = Stem::kSmall;
  spec.width = 1;
  spec.classes = 2;
  spec.halting = Halting::kSact;
  const std::vector<Weight> weights = initial_weights(spec);
  std::vector<io::NamedTensor> tensors;
  for (const Weight& weight : weights) {
    for (const char* kind : {"model/", "momentum/"}) {
      tensors.push_back(
          {kind + weight.info.name,
           {io::Dtype::kF32, weight.info.shape, std::as_bytes(std::span(weight.values))}});
    }
  }
  train::Progression progression;
  progression.epoch = 2;
  progression.position = 8;
  progression.step = 22;
  progression.sums = {1.5, 2};
  progression.maxima = {3};
  const auto path = directory / "c";
  train::write_checkpoint(path, tensors, progression,
                          {"sact train", train::to_json(train::TrainSettings{}), spec});
  const auto summed = read_file(path, 1 << 20);
  make_early(path);
  const auto early = read_file(path, 1 << 20);
  train::write_checkpoint(path, {}, progression, {"sact adapt", "{}", spec});
  make_early(path);
  return {summed, early, read_file(path, 1 << 20)};
}

}  // namespace sact::test
