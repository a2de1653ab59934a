// A detector in training: the parts that keep a GPU busy.
#pragma once

#include <memory>

#include "train/torch/detector.h"
#include "train/torch/recording.h"

namespace sact::train {

class DetectorParts {
 public:
  /// `record`: on CUDA, the kernels of the parts are recorded and replayed. An image between two
  /// backward passes at most.
  explicit DetectorParts(Detector detector, bool record = false);
  DetectorParts(const DetectorParts&) = delete;
  DetectorParts& operator=(const DetectorParts&) = delete;

  const Detector& detector() const { return detector_; }

  struct Extracted {
    torch::Tensor features;
    ProposalOutput proposal;  // at least 32 bits
    torch::Tensor ponder;     // the penalty, not yet times tau
  };
  /// `image` as of Detector::extract().
  Extracted extract(const torch::Tensor& image);
  /// As Detector::classify().
  torch::Tensor classify(const torch::Tensor& features, std::span<const Box> boxes, Size image);

 private:
  Detector detector_;
  RecordedPart::Work extract_, classify_;
  std::unique_ptr<RecordingStream> stream_;
  std::unique_ptr<RecordedPart> recorded_extract_, recorded_classify_;
};

}  // namespace sact::train
