#include "train/classify/photographs.h"

#include "base/error.h"
#include "base/memory.h"
#include "model/preprocess.h"
#include "report/ponder_sheet.h"
#include "train/classify/augment.h"
#include "train/classify/evaluation.h"
#include "train/torch/torch_runner.h"

namespace sact::train {
namespace {

double decoded_bytes(const data::Dataset& dataset, int side) {
  return double(dataset.size()) * 3 * side * side;
}

}  // namespace

LoaderPlan plan_loaders(const PhotographSettings& settings, const data::Dataset& train_set,
                        const data::Dataset& val_set, int side, int eval_side,
                        const InputSpec& input, const RunContext& context) {
  auto storage_size = [&](const data::Dataset& dataset, int seen, double crop) {
    return settings.storage_size ? settings.storage_size
                                 : data::suitable_storage_size(dataset, seen, crop);
  };
  LoaderPlan plan;
  plan.train.workers = context.workers;
  plan.train.max_corrupt = settings.max_corrupt;
  plan.train.device = context.device;
  plan.train.interrupted = context.interrupted;
  plan.val = plan.train;
  plan.train.storage_size = storage_size(train_set, side, InputSpec().crop);
  // Evaluation sees what `sact eval` of the model would see.
  plan.val.storage_size = storage_size(val_set, eval_side, input.crop);
  const double bytes = decoded_bytes(train_set, plan.train.storage_size) +
                       decoded_bytes(val_set, plan.val.storage_size);
  const bool cache = settings.cache == "memory" ||
                     (settings.cache == "auto" &&
                      context.group.local_size() * bytes < 0.5 * double(available_memory()));
  plan.train.cache = plan.val.cache = cache;
  if (cache) plan.kept = "in memory";
  return plan;
}

torch::Tensor augmented(const DeviceBatch& batch, const PhotographSettings& settings, int64_t epoch,
                        int side, const InputSpec& input) {
  std::vector<Augmentation> augmentations;
  for (size_t i = 0; i < batch.indices.size(); ++i) {
    augmentations.push_back(draw_augmentation(settings, uint64_t(settings.seed), epoch,
                                              batch.indices[i], batch.aspects[i], batch.boxes[i]));
  }
  return augment_batch(batch.pixels, augmentations, side, input);
}

std::optional<io::RgbImage> draw_ponder_maps(Network network, const data::Dataset& dataset,
                                             Size size, int count, const SampleCaption& caption) {
  if (count == 0 || !network->spec().adaptive()) return std::nullopt;
  const EvaluationMode mode(*network);
  const ModelSpec& spec = network->spec();
  const torch::Device device = network->parameters().front().device();
  report::PonderSheet sheet;
  count = int(std::min<int64_t>(count, dataset.size()));
  for (int i = 0; i < count; ++i) {
    // Spread over the set, which may be ordered by class.
    const int64_t index = int64_t(i) * dataset.size() / count;
    io::RgbImage image;
    try {
      image = dataset.load(index).image;
    } catch (const Error&) {
      continue;  // named when it was met in a batch
    }
    const io::Crop crop = io::central_crop(image, spec.input.crop);
    std::vector<float> input = network_input(image, crop, size, spec.input);
    const torch::Tensor images =
        torch::from_blob(input.data(), {1, 3, size.height, size.width}, torch::kFloat32).to(device);
    const ImageResult result = std::move(results_of(spec, network->forward(images), size).front());
    sheet.add(io::cut(image, crop), ponder_cost_map(result), caption(index, images, result));
  }
  if (sheet.size() == 0) return std::nullopt;
  return sheet.draw(2);
}

}  // namespace sact::train
