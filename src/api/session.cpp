#include <algorithm>
#include <new>
#include <utility>

#include "api/state.h"
#include "base/error.h"
#include "base/text.h"
#include "base/threads.h"
#include "model/halting_request.h"
#include "model/preprocess.h"

namespace sact {
namespace api {
namespace {

int checked_threads(int asked) {
  if (asked < 0 || asked > kMaxThreads) {
    fail("SessionOptions::threads is {}: use 1 to {}, or 0 for all that there are", asked,
         kMaxThreads);
  }
  return thread_count(asked);
}

HaltingControl checked_halting(const SessionOptions& options, const ModelState& model) {
  const HaltingRequest request{
      options.halting_shift,
      options.budget,
      options.hard_budget,
      {"SessionOptions::halting_shift", "SessionOptions::budget", "SessionOptions::hard_budget"}};
  return halting_control(request, *model.spec, model.dial, printable(model.name));
}

int checked_batch(int batch) {
  if (batch < 1) fail("SessionOptions::batch is {}: at least 1 is needed", batch);
  return batch;
}

}  // namespace

SessionState::SessionState(std::shared_ptr<const ModelState> model, const SessionOptions& options)
    : model_(std::move(model)),
      batch_(checked_batch(options.batch)),
      session_(model_->network->session(checked_threads(options.threads),
                                        checked_halting(options, *model_))) {}

void SessionState::run(const InputView& images, std::vector<Result>& results) {
  for (int first = 0; first < images.count; first += batch_) {
    const InputView part = images.part(first, std::min(batch_, images.count - first));
    try {
      run_together(part, results);
    } catch (const std::bad_alloc&) {
      fail("there is not enough memory for {} of {}x{}; use smaller ones or fewer at a time",
           pluralize(part.count, "image"), images.size.height, images.size.width);
    }
  }
}

void SessionState::run_together(const InputView& images, std::vector<Result>& results) {
  for (ImageResult& image : session_->run(images)) {
    check_finite(image, fmt::format("image {}", results.size()));
    results.push_back(Result(
        std::make_shared<ResultState>(ResultState{model_->spec, images.size, std::move(image)})));
  }
}

}  // namespace api

namespace {

api::SessionState& present(const std::unique_ptr<api::SessionState>& state) {
  if (!state) fail("this session was moved to another variable; use that one");
  return *state;
}

void append(const io::RgbImage& image, const View& view, const InputSpec& input,
            std::vector<float>& pixels) {
  try {
    append_network_pixels(image, view, input, pixels);
  } catch (const std::bad_alloc&) {
    fail("there is not enough memory for an input of {}x{}; use a smaller size", view.size.height,
         view.size.width);
  }
}

}  // namespace

Session::Session(const Model& model, const SessionOptions& options)
    : model_(model), state_(std::make_unique<api::SessionState>(model.state_, options)) {}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Result Session::run(const Image& image, const InputOptions& options) {
  return run(std::vector<Image>{image}, options).front();
}

std::vector<Result> Session::run(const std::vector<Image>& images, const InputOptions& options) {
  api::SessionState& state = present(state_);
  const ModelSpec& spec = *model_.state_->spec;
  std::vector<Result> results;
  std::vector<float> pixels;  // of images that follow each other and have one size
  Size size;
  int waiting = 0;
  const auto run_waiting = [&] {
    if (waiting > 0) state.run(pixels_view(pixels, waiting, size), results);
    pixels.clear();
    waiting = 0;
  };
  for (const Image& image : images) {
    const View view = api::view_of(spec, *image.pixels_, options);
    if (view.size != size || waiting == state.batch()) run_waiting();
    size = view.size;
    append(*image.pixels_, view, spec.input, pixels);
    ++waiting;
  }
  run_waiting();
  return results;
}

Result Session::run(const NetworkInput& input) {
  const size_t expected =
      size_t(3) * size_t(std::max(input.height, 0)) * size_t(std::max(input.width, 0));
  if (input.planes.size() != expected) {
    fail("an input of {}x{} needs {} values (three planes), found {}", input.height, input.width,
         expected, input.planes.size());
  }
  return run_tensor(input.planes.data(), 1, input.height, input.width).front();
}

std::vector<Result> Session::run_tensor(const float* planes, int count, int height, int width) {
  const Size size{height, width};
  validate_image_size(size);
  if (count < 0 || (count > 0 && !planes)) {
    fail("{} at {} cannot be run", pluralize(count, "image"),
         planes ? "this address" : "no address");
  }
  const std::span<const float> all(planes, size_t(count) * size_t(3 * size.positions()));
  if (!all_finite(all)) fail("the input has values that are not finite");
  std::vector<Result> results;
  present(state_).run(planes_view(all, count, size), results);
  return results;
}

}  // namespace sact
