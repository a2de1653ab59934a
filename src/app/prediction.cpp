#include "app/prediction.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "io/safetensors.h"
#include "model/flops.h"
#include "report/ponder_picture.h"

namespace sact::app {
namespace {

std::string best_class(const ModelSpec& spec, const Prediction& prediction) {
  const ScoredClass& best = prediction.top.front();
  return fmt::format("{} {:.1f} %", printable(spec.label(best.index)), 100 * best.score);
}

std::string file_name(const Prediction& prediction) {
  return printable(std::filesystem::path(prediction.path).filename().string());
}

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace

Prediction classify(NetworkSession& session, const ModelSpec& spec, const io::RgbImage& image,
                    const std::string& path, const ClassifyOptions& options) {
  Stopwatch watch;
  const View view = view_of(image, spec.input, options.view);
  session.expect_memory(1, view.size);
  const std::vector<float> pixels = network_pixels(image, view, spec.input);
  const double preprocess = watch.lap();
  Prediction prediction = std::move(
      classify(session, spec, pixels_view(pixels, 1, view.size), {path}, options.top).front());
  prediction.crop = view.crop;
  prediction.ms.preprocess = preprocess;
  return prediction;
}

std::vector<Prediction> classify(NetworkSession& session, const ModelSpec& spec,
                                 const InputView& images, const std::vector<std::string>& names,
                                 int top) {
  Stopwatch watch;
  std::vector<ImageResult> results = session.run(images);
  const double network = watch.lap() / images.count;
  std::vector<Prediction> predictions;
  for (size_t i = 0; i < results.size(); ++i) {
    predictions.push_back(
        prediction_of(spec, std::move(results[i]), images.size, names[i], top, network));
  }
  return predictions;
}

Prediction prediction_of(const ModelSpec& spec, ImageResult result, Size size,
                         const std::string& name, int top, double network_ms) {
  Stopwatch watch;
  Prediction prediction;
  prediction.path = name;
  prediction.size = size;
  prediction.result = std::move(result);
  prediction.dense_flops = dense_flops(spec, size);
  check_finite(prediction.result, name);
  prediction.top = top_classes(prediction.result.logits, top);
  prediction.ms.network = network_ms;
  prediction.ms.postprocess = watch.lap();
  return prediction;
}

double dense_share(const Prediction& prediction) {
  return double(prediction.result.flops) / double(prediction.dense_flops);
}

io::Json blocks_json(const ModelSpec& spec, const ImageResult& result) {
  io::Json blocks = io::Json::array();
  for (size_t block = 0; block < result.blocks.size(); ++block) {
    const double units = mean_units(result.blocks[block]);
    blocks.push_back({{"ponder_cost", mean_ponder_cost(result.blocks[block])},
                      {"units", units},
                      {"active_fraction", units / spec.units[block]}});
  }
  return blocks;
}

io::Json prediction_json(const ModelSpec& spec, const Prediction& prediction) {
  io::Json top = io::Json::array();
  for (const ScoredClass& entry : prediction.top) {
    top.push_back(
        {{"class", entry.index}, {"label", spec.label(entry.index)}, {"score", entry.score}});
  }
  const StageTimes& ms = prediction.ms;
  io::Json json = {{"path", prediction.path},
                   {"top", std::move(top)},
                   {"ponder_cost", ponder_cost(prediction.result)},
                   {"blocks", blocks_json(spec, prediction.result)},
                   {"flops", prediction.result.flops},
                   {"dense_flops", prediction.dense_flops},
                   {"ms",
                    {{"load", ms.load},
                     {"preprocess", ms.preprocess},
                     {"network", ms.network},
                     {"postprocess", ms.postprocess}}}};
  json["map"] = prediction.map.empty() ? io::Json(nullptr) : io::Json(prediction.map);
  return json;
}

io::RgbImage prediction_picture(const ModelSpec& spec, const Prediction& prediction,
                                const io::RgbImage& photo) {
  report::PonderPicture picture;
  picture.photo = photo;
  picture.total = ponder_cost_map(prediction.result);
  for (size_t block = 0; block < prediction.result.blocks.size(); ++block) {
    picture.blocks.push_back({prediction.result.blocks[block].ponder_cost, spec.units[block]});
  }
  picture.title = fmt::format("{}: {}", file_name(prediction), best_class(spec, prediction));
  picture.subtitle = fmt::format(
      "ponder cost {:.2f} of at most {}, {} = {:.0f} % of the dense network",
      ponder_cost(prediction.result), spec.total_units() + (spec.adaptive() ? spec.blocks() : 0),
      format_flops(double(prediction.result.flops)), 100 * dense_share(prediction));
  return report::draw_ponder_picture(picture);
}

report::PonderSheet::Cell overview_cell(const ModelSpec& spec, const Prediction& prediction,
                                        const io::RgbImage& photo) {
  return report::PonderSheet::cell(
      photo, ponder_cost_map(prediction.result),
      fmt::format("{}\n{}\nponder cost {:.2f}, {:.0f} % of dense", file_name(prediction),
                  best_class(spec, prediction), ponder_cost(prediction.result),
                  100 * dense_share(prediction)));
}

io::RgbImage draw_overview(const report::PonderSheet& overview) {
  return overview.draw(std::clamp(int(std::ceil(std::sqrt(double(overview.size())))), 1, 8));
}

void write_raw(const std::filesystem::path& path, const ModelSpec& spec,
               const std::vector<Prediction>& predictions) {
  if (predictions.empty()) fail("{}: not written, because no image could be run", path.string());
  const Size image = predictions.front().size;
  io::Json paths = io::Json::array();
  const int64_t count = int64_t(predictions.size());
  std::vector<float> logits;
  std::vector<std::vector<float>> ponder(size_t(spec.blocks()));
  std::vector<std::vector<int64_t>> units(size_t(spec.blocks()));
  for (const Prediction& prediction : predictions) {
    if (prediction.size != image) {
      fail("{}: changed while the images were run; nothing is written to {}", prediction.path,
           path.string());
    }
    paths.push_back(prediction.path);
    const ImageResult& result = prediction.result;
    logits.insert(logits.end(), result.logits.begin(), result.logits.end());
    for (size_t block = 0; block < ponder.size(); ++block) {
      const auto& map = result.blocks[block].ponder_cost.values;
      const auto& n = result.blocks[block].units;
      ponder[block].insert(ponder[block].end(), map.begin(), map.end());
      units[block].insert(units[block].end(), n.begin(), n.end());
    }
  }
  std::vector<io::NamedTensor> tensors;
  tensors.push_back({"logits", {io::Dtype::kF32, {count, spec.classes}, bytes_of(logits)}});
  for (int block = 0; block < spec.blocks(); ++block) {
    const Size size = spec.block_size(block, image);
    const io::Shape shape = {count, size.height, size.width};
    tensors.push_back({fmt::format("ponder.{}", block),
                       {io::Dtype::kF32, shape, bytes_of(ponder[size_t(block)])}});
    tensors.push_back(
        {fmt::format("units.{}", block), {io::Dtype::kI64, shape, bytes_of(units[size_t(block)])}});
  }
  io::write_safetensors(path, tensors, {{"images", io::dump_json(paths)}});
}

}  // namespace sact::app
