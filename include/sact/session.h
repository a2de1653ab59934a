// Classifying pictures: class scores, ponder cost maps and the work that they took.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sact/model.h"

namespace sact {

namespace api {
struct ResultState;
class SessionState;
}  // namespace api

struct ClassScore {
  int index = 0;
  std::string label;
  double score = 0;  // probability
};

/// Milliseconds that an image took; those that ran together share the network's time.
struct RunTimes {
  double prepare = 0;  // cutting, resizing, normalising; 0 for prepared inputs
  double network = 0;
};

/// What a network gave for one image.
class Result {
 public:
  Result(const Result&) = default;  // and no move: no result is ever empty
  Result& operator=(const Result&) = default;

  const std::vector<float>& logits() const;
  /// One for each class, by softmax; their sum is 1.
  std::vector<double> probabilities() const;
  /// The most probable classes, the best first.
  std::vector<ClassScore> top(int count = 5) const;

  /// Ponder cost and number of units at every position of every block.
  const std::vector<BlockResult>& blocks() const;
  /// The sum of the blocks' maps, enlarged to the resolution of the first.
  Map ponder_cost_map() const;
  /// The sum over blocks of the mean over positions.
  double ponder_cost() const;

  /// Floating point operations that were spent, and those of the same network without halting.
  int64_t flops() const;
  int64_t dense_flops() const;

  const RunTimes& ms() const;

 private:
  friend class api::SessionState;
  explicit Result(std::shared_ptr<const api::ResultState> state);
  std::shared_ptr<const api::ResultState> state_;
};

/// Runs a classifier. Sessions of one model share its weights; give every thread of yours its own.
class Session {
 public:
  explicit Session(const Model& model, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  Result run(const Image& image, const RunOptions& options = {});
  Result run(const ImageView& image, const RunOptions& options = {});
  /// Images may have different sizes; those whose inputs have one size pass through the network
  /// together. Results come in the order of the images.
  std::vector<Result> run(const std::vector<Image>& images, const RunOptions& options = {});
  std::vector<Result> run(const std::vector<ImageView>& images, const RunOptions& options = {});
  Result run(const NetworkInput& input, const RunOptions& options = {});
  /// Runs on `count` normalised images of one size that lie one after another as
  /// [3, height, width].
  std::vector<Result> run_tensor(const float* planes, int count, int height, int width,
                                 const RunOptions& options = {});

  /// Where people will look: the ponder cost map of the whole picture, normalised, blurred, with a
  /// centred Gaussian added. `sact saliency map` shows the same with a blur of 3 and a weight of 1,
  /// after a softmax.
  Map saliency_map(const Image& image, const SaliencyOptions& saliency = {},
                   const RunOptions& options = {});
  Map saliency_map(const ImageView& image, const SaliencyOptions& saliency = {},
                   const RunOptions& options = {});

  /// Takes memory, prepares weights and wakes threads for that many images of an input's size, so
  /// that the first run takes no longer than later ones.
  void warm_up(int images = 1, const InputOptions& input = {});

 private:
  Model model_;
  std::unique_ptr<api::SessionState> state_;
};

}  // namespace sact
