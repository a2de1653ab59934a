#include <algorithm>

#include "api/state.h"
#include "base/text.h"
#include "saliency/postprocess.h"

namespace sact {
namespace {

api::SessionState& state_of(const std::unique_ptr<api::SessionState>& state) {
  return api::present(state, "session");
}

}  // namespace

Session::Session(const Model& model, const SessionOptions& options)
    : model_(model), state_(std::make_unique<api::SessionState>(model.state_, options)) {}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Result Session::run(const Image& image, const RunOptions& options) {
  return run(image.view(), options);
}

Result Session::run(const ImageView& image, const RunOptions& options) {
  return run(std::vector<ImageView>{image}, options).front();
}

std::vector<Result> Session::run(const std::vector<Image>& images, const RunOptions& options) {
  return run(api::views_of(images), options);
}

std::vector<Result> Session::run(const std::vector<ImageView>& images, const RunOptions& options) {
  return state_of(state_).run(images, options);
}

Result Session::run(const NetworkInput& input, const RunOptions& options) {
  const size_t expected =
      size_t(3) * size_t(std::max(input.height, 0)) * size_t(std::max(input.width, 0));
  if (input.planes.size() != expected) {
    fail("an input of {}x{} needs {} values (three planes), found {}", input.height, input.width,
         expected, input.planes.size());
  }
  return run_tensor(input.planes.data(), 1, input.height, input.width, options).front();
}

std::vector<Result> Session::run_tensor(const float* planes, int count, int height, int width,
                                        const RunOptions& options) {
  const Size size{height, width};
  validate_image_size(size);
  if (count < 0 || (count > 0 && !planes)) {
    fail("{} at {} cannot be run", pluralize(count, "image"),
         planes ? "this address" : "no address");
  }
  const std::span<const float> all(planes, size_t(count) * size_t(3 * size.positions()));
  if (!all_finite(all)) fail("the input has values that are not finite");
  return state_of(state_).run(planes_view(all, count, size), options);
}

Map Session::saliency_map(const Image& image, const SaliencyOptions& saliency,
                          const RunOptions& options) {
  return saliency_map(image.view(), saliency, options);
}

Map Session::saliency_map(const ImageView& image, const SaliencyOptions& saliency,
                          const RunOptions& options) {
  const api::ModelState& model = state_of(state_).model();
  api::check_saliency(saliency, model);
  RunOptions whole = options;
  whole.input.whole = true;
  whole.input.size = saliency.size != 0 ? saliency.size : saliency::usual_size(*model.spec).height;
  return api::saliency_of(run(image, whole).ponder_cost_map(), saliency);
}

void Session::warm_up(int images, const InputOptions& input) {
  state_of(state_).warm_up(images, input);
}

}  // namespace sact
