#include <new>
#include <utility>

#include "api/state.h"
#include "base/error.h"
#include "engine/backends.h"
#include "model/flops.h"
#include "model/model_file.h"
#include "model/preprocess.h"

namespace sact {
namespace api {

const BackendRegistry& backends() {
  static const BackendRegistry all = [] {
    BackendRegistry registry;
    engine::add_backends(registry);
    return registry;
  }();
  return all;
}

View view_of(const ModelSpec& spec, const io::RgbImage& image, const InputOptions& options) {
  const Framing framing = options.whole ? Framing::kKeepAspect : Framing::kCentralCrop;
  return sact::view_of(image, spec.input, {framing, {options.size, options.size}});
}

}  // namespace api

Model::Model(std::shared_ptr<const api::ModelState> state) : state_(std::move(state)) {}

Model Model::load(const std::string& path, const ModelOptions& options) {
  const Backend& backend = api::backends().choose({.precision = options.precision});
  try {
    const ModelFile file(path);
    expect_classifier(file);
    const LoadOptions load{
        .precision = options.precision, .isa = options.isa, .exact = options.exact};
    return Model(std::make_shared<api::ModelState>(api::ModelState{
        std::make_shared<ModelSpec>(file.spec()), backend.load(image_network_of(file), load),
        file.name(), file.dial(), file.remarks()}));
  } catch (const std::bad_alloc&) {
    fail("{}: there is not enough memory to load this model", printable(path));
  }
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
  return state_->spec->input.size;
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
  return sact::dense_flops(*state_->spec, {height, width});
}

const std::vector<std::string>& Model::remarks() const {
  return state_->remarks;
}

NetworkInput Model::prepare(const Image& image, const InputOptions& options) const {
  const InputSpec& input = state_->spec->input;
  const View view = api::view_of(*state_->spec, *image.pixels_, options);
  try {
    return {view.size.height, view.size.width,
            network_input(*image.pixels_, view.crop, view.size, input)};
  } catch (const std::bad_alloc&) {
    fail("there is not enough memory for an input of {}x{}; use a smaller size", view.size.height,
         view.size.width);
  }
}

}  // namespace sact
