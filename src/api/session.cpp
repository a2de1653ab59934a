#include <algorithm>
#include <new>
#include <utility>

#include "api/state.h"
#include "base/error.h"
#include "base/text.h"
#include "base/threads.h"
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

int checked_batch(int batch) {
  if (batch < 1) fail("SessionOptions::batch is {}: at least 1 is needed", batch);
  return batch;
}

}  // namespace

SessionState::SessionState(std::shared_ptr<const ModelState> model, const SessionOptions& options)
    : model_(std::move(model)),
      batch_(checked_batch(options.batch)),
      session_(model_->plan, checked_threads(options.threads)) {}

void SessionState::run(std::span<const float> planes, Size size, std::vector<Result>& results) {
  const size_t each = size_t(3 * size.positions());
  while (!planes.empty()) {
    const size_t values = std::min(planes.size(), size_t(batch_) * each);
    const int count = int(values / each);
    const std::span<const float> part = planes.first(values);
    try {
      session_.expect_memory(count, size);  // a copy of the input is among it
      run_together({part.begin(), part.end()}, count, size, results);
    } catch (const std::bad_alloc&) {
      fail("there is not enough memory for {} of {}x{}; use smaller ones or fewer at a time",
           counted(count, "image"), size.height, size.width);
    }
    planes = planes.subspan(values);
  }
}

void SessionState::run_together(std::vector<float> planes, int count, Size size,
                                std::vector<Result>& results) {
  for (ImageResult& image : session_.run(planes, count, size)) {
    check_finite(image, fmt::format("image {}", results.size()));
    results.push_back(
        Result(std::make_shared<ResultState>(ResultState{model_->spec, size, std::move(image)})));
  }
}

}  // namespace api

namespace {

api::SessionState& present(const std::unique_ptr<api::SessionState>& state) {
  if (!state) fail("this session was moved to another variable; use that one");
  return *state;
}

}  // namespace

Session::Session(const Model& model, const SessionOptions& options)
    : model_(model), state_(std::make_unique<api::SessionState>(model.state_, options)) {}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Result Session::run(const Image& image, const InputOptions& options) {
  return run(model_.prepare(image, options));
}

std::vector<Result> Session::run(const std::vector<Image>& images, const InputOptions& options) {
  api::SessionState& state = present(state_);
  std::vector<Result> results;
  NetworkInput together;  // of images that follow each other and have one size
  size_t waiting = 0;
  const auto run_waiting = [&] {
    state.run(together.planes, {together.height, together.width}, results);
    waiting = 0;
  };
  for (const Image& image : images) {
    NetworkInput input = model_.prepare(image, options);
    const bool alike = input.height == together.height && input.width == together.width;
    if (!alike || waiting == size_t(state.batch())) run_waiting();
    if (waiting++ == 0) {
      together = std::move(input);
    } else {
      together.planes.insert(together.planes.end(), input.planes.begin(), input.planes.end());
    }
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
    fail("{} at {} cannot be run", counted(count, "image"), planes ? "this address" : "no address");
  }
  const std::span<const float> all(planes, size_t(count) * size_t(3 * size.positions()));
  if (!all_finite(all)) fail("the input has values that are not finite");
  std::vector<Result> results;
  present(state_).run(all, size, results);
  return results;
}

}  // namespace sact
