#include "serve/models.h"

#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "measure/benchmark.h"
#include "model/detection.h"
#include "model/flops.h"

namespace sact::serve {

ServedModel::ServedModel(const std::string& path, const app::Compute& compute)
    : file_(path),
      name_(std::filesystem::path(path).stem().string()),
      compute_(app::compute_for(file_, compute)),
      ids_(file_.spec()),
      sessions_(thread_count(compute.threads),
                [this](int threads) { return network_->session(threads); }),
      dense_sessions_(thread_count(compute.threads),
                      [this](int threads) { return dense_network_->session(threads); }),
      detectors_(thread_count(compute.threads), [this](int threads) {
        return std::make_unique<detect::ObjectDetector>(*detector_, threads);
      }) {
  for (const std::string& remark : file_.remarks()) log_warning("{}", remark);
  if (detects()) {
    detector_ = app::load_detector(file_, compute_);
  } else {
    network_ = app::load_network(image_network_of(file_), compute_);
  }
  warm_up();
}

void ServedModel::warm_up() {
  const int threads = thread_count(compute_.threads);
  const int side = detects() ? spec().detection->shorter_side : own_size(spec()).height;
  if (detects()) {
    detector(threads)->detect(io::RgbImage(side, side));
  } else {
    const std::vector<float> grey(3 * size_t(side) * size_t(side), 0.0f);
    session(threads)->run(pixels_view(grey, 1, {side, side}));
  }
}

ServedModel::Session ServedModel::dense_session(int threads) {
  std::call_once(
      dense_, [&] { dense_network_ = app::load_network(measure::dense_network(file_), compute_); });
  return dense_sessions_.take(threads);
}

void ServedModel::drop_idle_sessions() {
  sessions_.drop_idle();
  dense_sessions_.drop_idle();
  detectors_.drop_idle();
}

io::Json ServedModel::json() const {
  const ModelSpec& own = spec();
  const Size size = own_size(own);
  io::Json json = {{"name", name_},
                   {"kind", detects() ? "detector" : "classifier"},
                   {"classes", own.classes},
                   {"units", own.units},
                   {"adaptive", own.adaptive()},
                   {"saliency", own.halting == Halting::kSact},
                   {"input_size", detects() ? own.detection->shorter_side : size.height},
                   {"parameters", parameter_count(own)},
                   {"dtype", std::string(precision_name(compute_.precision))}};
  json["budgets"] = file_.dial() && !detects()
                        ? io::Json{file_.dial()->least_share(), file_.dial()->largest_share()}
                        : io::Json(nullptr);
  return json;
}

Models::Models(const std::vector<std::string>& paths, const app::Compute& compute) {
  for (const std::string& path : paths) {
    auto model = std::make_unique<ServedModel>(path, compute);
    if (find(model->name()) && !all_.empty()) {
      fail("{}: two models have the name '{}'; give their files different names", printable(path),
           printable(model->name()));
    }
    all_.push_back(std::move(model));
  }
}

ServedModel* Models::find(const std::string& name) const {
  if (name.empty()) return all_.empty() ? nullptr : all_.front().get();
  for (const auto& model : all_) {
    if (model->name() == name) return model.get();
  }
  return nullptr;
}

ServedModel* Models::first(bool detects) const {
  for (const auto& model : all_) {
    if (model->detects() == detects) return model.get();
  }
  return nullptr;
}

void Models::drop_idle_sessions() {
  for (const auto& model : all_) model->drop_idle_sessions();
}

io::Json Models::json() const {
  io::Json json = io::Json::array();
  for (const auto& model : all_) json.push_back(model->json());
  return json;
}

}  // namespace sact::serve
