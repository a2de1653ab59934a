// A detector in training: the parts that keep a GPU busy.
#pragma once

#include <memory>
#include <optional>

#include "train/torch/detector.h"
#include "train/torch/recording.h"

namespace sact::train {

struct DetectorPartsOptions {
  /// On CUDA, the kernels of the parts are recorded and replayed. A batch between two backward
  /// passes at most.
  bool record = false;
  /// The head's kernels are recorded for multiples of so many boxes.
  int64_t recorded_boxes = 64;
  /// How positions halt in training; see ForwardOptions::hard.
  std::optional<HardHalting> hard = std::nullopt;
};

class DetectorParts {
 public:
  explicit DetectorParts(Detector detector, const DetectorPartsOptions& options = {});
  DetectorParts(const DetectorParts&) = delete;
  DetectorParts& operator=(const DetectorParts&) = delete;

  const Detector& detector() const { return detector_; }

  struct Extracted {
    torch::Tensor features;
    ProposalOutput proposal;  // at least 32 bits
    torch::Tensor ponder;     // the penalty, not yet times tau
    torch::Tensor share;      // of the dense extractor's FLOPs
  };
  /// `images` as of Detector::extract().
  Extracted extract(const torch::Tensor& images, const ImageAreas& areas = {});

  struct Classified {
    torch::Tensor outputs;  // as of Detector::classify()
    torch::Tensor ponder;   // [boxes]: the penalty of each
    torch::Tensor share;    // of the dense head's FLOPs
  };
  Classified classify(const torch::Tensor& features, std::span<const ImageBoxes> boxes);

 private:
  ForwardOptions forward_options() const;

  Detector detector_;
  DetectorPartsOptions options_;
  RecordedPart::Work extract_, classify_;
  std::unique_ptr<RecordingStream> stream_;
  std::unique_ptr<RecordedPart> recorded_extract_, recorded_classify_;
};

}  // namespace sact::train
