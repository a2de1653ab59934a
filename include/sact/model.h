// A network with its weights, read from one file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sact/image.h"
#include "sact/options.h"
#include "sact/types.h"

namespace sact {

namespace api {
struct ModelState;
}

/// A picture made ready for a model: cut, resized, normalised.
struct NetworkInput {
  int height = 0;
  int width = 0;
  std::vector<float> planes;  // [3, height, width]
};

struct ModelOptions {
  /// Instruction set of the kernels, such as "AVX2" or "scalar". Empty: what the environment
  /// variable SACT_ISA names, or the fastest that this processor has.
  std::string isa;
  /// bfloat16 takes half the memory, and less time where the processor multiplies it itself;
  /// it keeps two to three digits of every operand. None: whole numbers of 8 bits for a model that
  /// was exported for them, and float32 for others.
  std::optional<Precision> precision;
  /// Direct products in all layers. Otherwise 3x3 convolutions in float32 run with fewer
  /// multiplications where that is faster; logits differ by rounding then, by up to 1e-4 of their
  /// size.
  bool exact = false;
  /// What runs the model: one of Model::devices().
  std::string device = "cpu";
};

/// A classifier or a detector. Copies share the weights, and any number of threads may use one.
class Model {
 public:
  static Model load(const std::string& path, const ModelOptions& options = {});
  /// The devices that this library has back ends for.
  static std::vector<std::string> devices();

  Model(const Model&) = default;  // and no move: no model is ever without a network
  Model& operator=(const Model&) = default;

  /// Whether it finds objects: then a Detector runs it, and otherwise a Session.
  bool detects() const;
  int classes() const;
  /// One for each class, or none.
  const std::vector<std::string>& labels() const;
  /// The label of a class, or "class 7" when the model has no labels.
  std::string label(int class_index) const;
  /// Side of the square input that the model was made for; it runs on others too. Of a detector the
  /// shorter side that pictures are scaled to.
  int input_size() const;
  Halting halting() const;
  /// Residual units of each block.
  const std::vector<int>& units() const;
  int64_t parameters() const;
  /// Floating point operations for one image when no position halts early; a multiply-add is two.
  /// Of a detector those of its extractor.
  int64_t dense_flops(int height, int width) const;
  /// The least and the largest budget that the model's curve goes to; none: it has no curve.
  std::optional<std::pair<double, double>> budgets() const;
  /// What a person should know about the file, such as tensors that no layer uses.
  const std::vector<std::string>& remarks() const;

  /// The input that Session::run() makes of a picture. This needs no session, so that threads which
  /// load pictures can do it.
  NetworkInput prepare(const Image& image, const InputOptions& options = {}) const;
  NetworkInput prepare(const ImageView& image, const InputOptions& options = {}) const;

 private:
  friend class Detector;
  friend class Session;
  explicit Model(std::shared_ptr<const api::ModelState> state);
  std::shared_ptr<const api::ModelState> state_;
};

}  // namespace sact
