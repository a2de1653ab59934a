// What trainings on single photographs have in common: loaders, augmented batches, and pictures of
// ponder cost maps.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "data/dataset.h"
#include "io/image.h"
#include "model/result.h"
#include "train/classify/data_loader.h"
#include "train/classify/settings.h"
#include "train/loop/task.h"
#include "train/torch/network.h"

namespace sact::train {

/// How the training and the validation images of a run are loaded.
struct LoaderPlan {
  DeviceLoaderOptions train, val;
  std::string kept;  // "in memory", or empty
};

/// `side` and `eval_side` are those of the images that the network sees, which cuts out of
/// validation images what `input` says.
LoaderPlan plan_loaders(const PhotographSettings& settings, const data::Dataset& train_set,
                        const data::Dataset& val_set, int side, int eval_side,
                        const InputSpec& input, const RunContext& context);

/// The images of a batch, each with its augmentation of that epoch.
torch::Tensor augmented(const DeviceBatch& batch, const PhotographSettings& settings, int64_t epoch,
                        int side, const InputSpec& input);

/// What stands under the picture of a sample: `images` [1, 3, H, W] is what the network saw of it.
using SampleCaption =
    std::function<std::string(int64_t sample, const torch::Tensor& images, const ImageResult&)>;

/// Ponder cost maps over `count` images spread over the set; nothing where none can be drawn.
std::optional<io::RgbImage> draw_ponder_maps(Network network, const data::Dataset& dataset,
                                             Size size, int count, const SampleCaption& caption);

}  // namespace sact::train
