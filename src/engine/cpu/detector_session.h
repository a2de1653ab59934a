// A detector on the CPU engine: the extractor on an image, the layers that propose boxes on its
// features, and the last block and head on crops of these.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/proposal_layers.h"
#include "engine/cpu/session.h"

namespace sact::engine {

/// The weights of a detector, ready for the engine; any number of sessions may share them.
struct DetectorPlan {
  DetectorPlan(const ModelSpec& detector, const WeightSource& weights, const kernels::Table& table,
               kernels::DataType type, Multiplications multiplications = Multiplications::kFewest);

  ModelSpec spec;
  std::shared_ptr<const Plan> extractor, boxes;
  std::shared_ptr<const ProposalPlan> proposals;
};

class CpuDetectorSession : public DetectorSession {
 public:
  CpuDetectorSession(std::shared_ptr<const DetectorPlan> plan, int threads,
                     const HaltingControl& halting = {});

  void expect_memory(Size scaled) const override;
  void set_halting(const HaltingControl& halting) override;
  void set_interruption(std::function<bool()> interrupted) override;
  ImageResult extract(const InputView& image) override;
  AnchorOutputs score_anchors() override;
  BoxOutputs classify(std::span<const Box> boxes) override;

  /// Memory for an image that is scaled to this size.
  int64_t bytes_needed(Size scaled) const;
  /// Those of the image that was extracted last, where the extractor has them.
  detect::FeatureMap features() const { return extractor_.features(); }

 private:
  int64_t most_boxes() const;
  int64_t box_bytes() const;
  Size cells() const;

  std::shared_ptr<const DetectorPlan> plan_;
  std::shared_ptr<ThreadTeam> team_;
  CpuSession extractor_;
  ProposalSession proposals_;
  CpuSession boxes_;
  Size image_;                // that was extracted last
  std::vector<float> crops_;  // [boxes, cells, cells, channels]
};

}  // namespace sact::engine
