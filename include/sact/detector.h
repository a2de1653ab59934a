// Finding objects in pictures: boxes, ponder cost maps and the time of every stage.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sact/box.h"
#include "sact/model.h"

namespace sact {

namespace api {
struct DetectionsState;
class DetectorState;
}  // namespace api

/// Which objects are told of, and in which boxes they are looked for.
struct DetectOptions {
  double score = 0.05;  // objects of at least this one
  int most = 100;
  int boxes = 0;           // at most so many are looked at; 0: the model's own number
  bool all_boxes = false;  // also those in which no object of that score is likely
};

struct DetectedObject {
  Box box;  // in pixels of the picture that was given
  int index = 0;
  std::string label;
  double score = 0;  // probability
};

/// Milliseconds of each stage.
struct DetectorTimes {
  double scale = 0;      // the image, to the size that the network sees
  double extractor = 0;  // all blocks but the last
  double proposals = 0;  // layers that propose boxes, and suppression
  double crops = 0;      // features of the boxes
  double boxes = 0;      // the last block and the head
  double rest = 0;       // scores, refinement, suppression

  double total() const { return scale + extractor + proposals + crops + boxes + rest; }
};

/// What a detector gave for one image.
class Detections {
 public:
  Detections(const Detections&) = default;  // and no move: none is ever empty
  Detections& operator=(const Detections&) = default;

  /// The highest score first.
  const std::vector<DetectedObject>& objects() const;

  /// Ponder cost and number of units at every position of the extractor's blocks.
  const std::vector<BlockResult>& blocks() const;
  /// The sum of the blocks' maps, enlarged to the resolution of the first.
  Map ponder_cost_map() const;
  double ponder_cost() const;

  /// Floating point operations of the extractor, and those of the same one without halting.
  int64_t flops() const;
  int64_t dense_flops() const;
  /// The same of the last block and the head, over all boxes that were looked at.
  int64_t box_flops() const;
  int64_t dense_box_flops() const;
  /// Boxes that were looked at.
  int proposals() const;
  /// The size that the picture was scaled to.
  int scaled_height() const;
  int scaled_width() const;

  const DetectorTimes& ms() const;

 private:
  friend class api::DetectorState;
  explicit Detections(std::shared_ptr<const api::DetectionsState> state);
  std::shared_ptr<const api::DetectionsState> state_;
};

/// Runs a detector. Like a Session it has buffers of its own and serves one thread at a time;
/// detectors of one model share its weights. RunOptions::input is not used: a detector scales
/// pictures as it was trained.
class Detector {
 public:
  explicit Detector(const Model& model, const SessionOptions& options = {});
  ~Detector();
  Detector(Detector&&) noexcept;
  Detector& operator=(Detector&&) noexcept;

  Detections detect(const Image& image, const DetectOptions& wanted = {},
                    const RunOptions& options = {});
  Detections detect(const ImageView& image, const DetectOptions& wanted = {},
                    const RunOptions& options = {});
  /// One after another; they may have different sizes.
  std::vector<Detections> detect(const std::vector<Image>& images, const DetectOptions& wanted = {},
                                 const RunOptions& options = {});
  std::vector<Detections> detect(const std::vector<ImageView>& images,
                                 const DetectOptions& wanted = {}, const RunOptions& options = {});

  /// As Session::saliency_map(), with the ponder cost of the extractor.
  Map saliency_map(const Image& image, const SaliencyOptions& saliency = {},
                   const RunOptions& options = {});
  Map saliency_map(const ImageView& image, const SaliencyOptions& saliency = {},
                   const RunOptions& options = {});

  /// Takes memory, prepares weights and wakes threads for pictures of this size; 0: of the
  /// detector's own shorter side, square.
  void warm_up(int height = 0, int width = 0);

 private:
  Model model_;
  std::unique_ptr<api::DetectorState> state_;
};

}  // namespace sact
