// The library: load a model, make a session, give it an image, get class scores, ponder cost maps
// and the work that it took. docs/library.md is the guide.
//
// Images, models and results are immutable handles: cheap to copy, and any number of threads may
// use the same one. A session has buffers of its own and serves one thread at a time.
//
// Whatever goes wrong is a sact::Error with one line of text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sact/error.h"
#include "sact/types.h"

namespace sact {

namespace io {
struct RgbImage;
}
namespace api {
struct ModelState;
struct ResultState;
class SessionState;
}  // namespace api

/// A picture: 8-bit RGB.
class Image {
 public:
  /// Pictures with more pixels are refused before memory is taken for them.
  static constexpr int64_t kMaxPixels = 100000000;

  /// Reads a JPEG, PNG, WebP, TIFF, GIF or BMP, told apart by content, as a viewer would show it:
  /// the orientation is applied, grey, CMYK, 16-bit and transparent pictures become RGB; of several
  /// pictures in a file it is the first.
  static Image load(const std::string& path, int64_t max_pixels = kMaxPixels);
  /// The same from memory; `name` stands in messages.
  static Image decode(const void* bytes, size_t size, const std::string& name = "image",
                      int64_t max_pixels = kMaxPixels);
  /// Three bytes for each pixel, rows from top to bottom without padding.
  static Image from_pixels(int width, int height, std::vector<uint8_t> rgb);

  Image(const Image&) = default;  // and no move: no image is ever without pixels
  Image& operator=(const Image&) = default;

  int width() const;
  int height() const;
  const std::vector<uint8_t>& rgb() const;

 private:
  friend class Model;
  friend class Session;
  explicit Image(std::shared_ptr<const io::RgbImage> pixels);
  std::shared_ptr<const io::RgbImage> pixels_;
};

/// What a network sees of a picture.
struct InputOptions {
  int size = 0;        // side of the square network input; 0: the model's own
  bool whole = false;  // all of the picture with its aspect ratio, `size` being the shorter side,
                       // instead of the central crop
};

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
  /// it keeps two to three digits of every operand.
  Precision precision = Precision::kFloat32;
  /// Direct products in all layers. Otherwise 3x3 convolutions in float32 run with fewer
  /// multiplications where that is faster; logits differ by rounding then, by up to 1e-4 of their
  /// size.
  bool exact = false;
};

/// A network with its weights, read from one file.
class Model {
 public:
  static Model load(const std::string& path, const ModelOptions& options = {});

  Model(const Model&) = default;  // and no move: no model is ever without a network
  Model& operator=(const Model&) = default;

  int classes() const;
  /// One for each class, or none.
  const std::vector<std::string>& labels() const;
  /// The label of a class, or "class 7" when the model has no labels.
  std::string label(int class_index) const;
  /// Side of the square input that the model was made for; it runs on others too.
  int input_size() const;
  Halting halting() const;
  /// Residual units of each block.
  const std::vector<int>& units() const;
  int64_t parameters() const;
  /// Floating point operations for one image when no position halts early; a multiply-add is two.
  int64_t dense_flops(int height, int width) const;
  /// What a person should know about the file, such as tensors that no layer uses.
  const std::vector<std::string>& remarks() const;

  /// The input that Session::run() makes of a picture. This needs no session, so that threads which
  /// load pictures can do it.
  NetworkInput prepare(const Image& image, const InputOptions& options = {}) const;

 private:
  friend class Session;
  explicit Model(std::shared_ptr<const api::ModelState> state);
  std::shared_ptr<const api::ModelState> state_;
};

struct ClassScore {
  int index = 0;
  std::string label;
  double score = 0;  // probability
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

 private:
  friend class api::SessionState;
  explicit Result(std::shared_ptr<const api::ResultState> state);
  std::shared_ptr<const api::ResultState> state_;
};

struct SessionOptions {
  int threads = 0;  // that work on one run; 0: all that this process may use
  int batch = 8;    // images that pass through the network together at most; memory grows with it

  // How much work an adaptive network does; docs/dial.md is about it.
  double halting_shift =
      0;                   // added to halting scores before their sigmoid: above 0 it stops earlier
  double budget = 0;       // mean share of the dense network's FLOPs instead of a shift, by the
                           // curve that `sact calibrate` stored in the model; 0: none
  double hard_budget = 0;  // the same as a limit to every image; 0: none
};

/// Runs a model. Sessions of one model share its weights; give every thread of yours its own.
class Session {
 public:
  explicit Session(const Model& model, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  Result run(const Image& image, const InputOptions& options = {});
  std::vector<Result> run(const std::vector<Image>& images, const InputOptions& options = {});
  Result run(const NetworkInput& input);
  /// Runs on `count` normalised images of one size that lie one after another as
  /// [3, height, width].
  std::vector<Result> run_tensor(const float* planes, int count, int height, int width);

 private:
  Model model_;
  std::unique_ptr<api::SessionState> state_;
};

}  // namespace sact
