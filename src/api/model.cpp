#include <algorithm>
#include <new>
#include <utility>

#include "api/state.h"
#include "base/error.h"
#include "engine/backends.h"
#include "engine/cuda/component.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/model_file.h"
#include "model/preprocess.h"

namespace sact {
namespace api {

const BackendRegistry& backends() {
  static const BackendRegistry all = [] {
    BackendRegistry registry;
    engine::add_backends(registry);
    registry.add(
        engine::make_cuda_backend());  // alone on GPUs, so whoever names the device names it
    return registry;
  }();
  return all;
}

View view_of(const ModelSpec& spec, const io::PixelView& image, const InputOptions& options) {
  const Framing framing = options.whole ? Framing::kKeepAspect : Framing::kCentralCrop;
  return sact::view_of(image, spec.input, {framing, {options.size, options.size}});
}

}  // namespace api

Model::Model(std::shared_ptr<const api::ModelState> state) : state_(std::move(state)) {}

Model Model::load(const std::string& path, const ModelOptions& options) {
  try {
    const ModelFile file(path);
    const bool detects = file.spec().detection.has_value();
    const Precision own =
        !detects && !file.input_scales().empty() ? Precision::kInt8 : Precision::kFloat32;
    const Precision precision = options.precision.value_or(own);
    const Backend& backend = api::backends().choose(
        {.device = options.device, .precision = precision, .detector = detects});
    const LoadOptions load{.device = options.device,
                           .precision = precision,
                           .isa = options.isa,
                           .exact = options.exact};
    auto state = std::make_shared<api::ModelState>();
    state->spec = std::make_shared<ModelSpec>(file.spec());
    if (detects) {
      state->detector = backend.load_detector(detector_of(file), load);
    } else {
      state->network = backend.load(image_network_of(file), load);
    }
    state->name = file.name();
    state->dial = file.dial();
    state->remarks = file.remarks();
    return Model(std::move(state));
  } catch (const std::bad_alloc&) {
    fail("{}: there is not enough memory to load this model", printable(path));
  }
}

std::vector<std::string> Model::devices() {
  std::vector<std::string> devices;
  for (const std::string& name : api::backends().names()) {
    for (const SupportedType& type : api::backends().named(name).capabilities().types) {
      if (std::find(devices.begin(), devices.end(), type.device) == devices.end()) {
        devices.push_back(type.device);
      }
    }
  }
  return devices;
}

bool Model::detects() const {
  return state_->detector != nullptr;
}

int Model::classes() const {
  return state_->spec->classes;
}

const std::vector<std::string>& Model::labels() const {
  return state_->spec->labels;
}

std::string Model::label(int class_index) const {
  if (class_index < 0 || class_index >= classes()) {
    fail("there is no class {}: the model has {}, numbered from 0", class_index, classes());
  }
  return state_->spec->label(class_index);
}

int Model::input_size() const {
  return state_->spec->detection ? state_->spec->detection->shorter_side : state_->spec->input.size;
}

Halting Model::halting() const {
  return state_->spec->halting;
}

const std::vector<int>& Model::units() const {
  return state_->spec->units;
}

int64_t Model::parameters() const {
  return parameter_count(*state_->spec);
}

int64_t Model::dense_flops(int height, int width) const {
  validate_image_size({height, width});
  return sact::dense_flops(image_network(*state_->spec), {height, width});
}

std::optional<std::pair<double, double>> Model::budgets() const {
  if (!state_->dial) return {};
  return std::pair(state_->dial->least_share(), state_->dial->largest_share());
}

const std::vector<std::string>& Model::remarks() const {
  return state_->remarks;
}

NetworkInput Model::prepare(const Image& image, const InputOptions& options) const {
  return prepare(image.view(), options);
}

NetworkInput Model::prepare(const ImageView& image, const InputOptions& options) const {
  const io::PixelView pixels = api::checked(image);
  const View view = api::view_of(*state_->spec, pixels, options);
  try {
    return {view.size.height, view.size.width,
            network_input(pixels, view.crop, view.size, state_->spec->input)};
  } catch (const std::bad_alloc&) {
    fail("there is not enough memory for an input of {}x{}; use a smaller size", view.size.height,
         view.size.width);
  }
}

}  // namespace sact
