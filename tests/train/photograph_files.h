// A dense network and photographs in files, for tests of adapting.
#pragma once

#include <filesystem>
#include <string>

#include "data/open.h"
#include "io/image.h"
#include "model/model_file.h"
#include "support/random_model.h"

namespace sact::test {

/// Two blocks of three units on 32 x 32 images.
inline ModelSpec small_dense_spec(UnitKind unit = UnitKind::kBottleneckV1) {
  ModelSpec spec = tiny_spec(Halting::kNone, {3, 3});
  spec.stem = Stem::kSmall;
  spec.unit = unit;
  spec.width = 8;
  spec.input.size = 32;
  spec.labels = {"circle", "square", "cross", "star", "ring", "line"};
  return spec;
}

inline void write_dense(const std::filesystem::path& path, const ModelSpec& spec,
                        uint64_t seed = 5) {
  write_model(path, spec, random_weights(spec, seed));
}

/// Made-up pictures as PNG files.
inline void write_photographs(const std::filesystem::path& folder, int count) {
  std::filesystem::create_directories(folder);
  const auto set =
      data::open_dataset("synthetic:size=40,count=" + std::to_string(count) + ",val=1", "train");
  for (int64_t i = 0; i < count; ++i) {
    io::write_image(folder / (std::to_string(i) + ".png"), set->load(i).image);
  }
}

}  // namespace sact::test
