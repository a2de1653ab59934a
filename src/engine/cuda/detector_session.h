// A detector on a GPU: the extractor on an image, the layers that propose boxes on its features,
// and the last block and head on crops of these. The features stay in the GPU's memory; scores and
// numbers of anchors, and what is said of boxes, come to the host.
#pragma once

#include <memory>
#include <span>

#include "detect/crop_sample.h"
#include "engine/cuda/proposals.h"
#include "engine/cuda/session.h"

namespace sact::engine {

/// The weights of a detector; any number of sessions may share them.
struct CudaDetectorPlan {
  CudaDetectorPlan(const ModelSpec& detector, const WeightSource& weights, cuda::Element type,
                   const DeviceFacts& device);

  ModelSpec spec;
  std::shared_ptr<const CudaPlan> extractor, boxes;
  std::shared_ptr<const CudaProposalPlan> proposals;
};

class CudaDetectorSession : public DetectorSession {
 public:
  explicit CudaDetectorSession(std::shared_ptr<const CudaDetectorPlan> plan,
                               const HaltingControl& halting = {});
  CudaDetectorSession(std::shared_ptr<const CudaDetectorPlan> plan, const HaltingControl& halting,
                      const CudaSettings& settings);

  void expect_memory(Size scaled) const override { extractor_.expect_memory(1, scaled); }
  void set_halting(const HaltingControl& halting) override;
  void set_interruption(std::function<bool()> interrupted) override;
  ImageResult extract(const InputView& image) override;
  AnchorOutputs score_anchors() override;
  BoxOutputs classify(std::span<const Box> boxes) override;

 private:
  Size cells() const;
  void upload(std::span<const Box> boxes);
  void crop(int first, int count, void* rows);

  std::shared_ptr<const CudaDetectorPlan> plan_;
  CudaSession extractor_;
  CudaProposals proposals_;
  CudaSession boxes_;
  Size image_;  // that was extracted last
  PinnedMemory pinned_places_;
  DeviceMemory places_;  // of the boxes that are looked at, detect::CropBox
};

}  // namespace sact::engine
