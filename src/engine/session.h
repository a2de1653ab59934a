// Runs a plan on images. A session belongs to one thread of its user at a time; any number of
// sessions may share a plan.
#pragma once

#include <memory>
#include <vector>

#include "base/thread_team.h"
#include "engine/plan.h"
#include "engine/rows.h"
#include "halting/halting.h"
#include "model/runner.h"

namespace sact::engine {

class Session : public Runner {
 public:
  Session(std::shared_ptr<const Plan> plan, int threads);

  std::vector<ImageResult> run(const std::vector<float>& planes, int count, Size size) override;

 private:
  /// What is the same for all runs on images of one size: resolutions and lists of rows.
  struct Geometry {
    Size image;
    int images = 0;
    Grid stem;                           // after the stem convolution
    Grid first;                          // what enters block 1
    std::vector<int32_t> stem_rows;      // where each tap begins in the padded image
    std::vector<Grid> grids;             // inside every block
    std::vector<RowList> neighbours;     // inside every block, stride 1
    std::vector<RowList> entry;          // 3x3 rows of a block's first unit
    std::vector<RowList> entry_centres;  // 1x1 rows of its shortcut
  };
  void prepare(int count, Size size);
  void run_stem(const std::vector<float>& planes);
  void run_block(int block, std::vector<ImageResult>& results);
  void run_first_unit(int block);
  void run_unit(int block, const Unit& unit);
  void run_head(std::vector<ImageResult>& results);

  /// Halting: scores of the active rows, and what the rule makes of them.
  void compute_scores(int block, const Score& score);
  void halt(int block, bool last, std::vector<ImageResult>& results);

  void normalise(const Affine& norm, const float* input, const RowList* rows, int count,
                 float* output);
  struct Place {
    float* data;
    const int32_t* rows;  // null: all, in order
  };
  void multiply(const Layer& layer, const float* input, int64_t input_stride,
                const int32_t* input_rows, int count, Place output, bool relu, bool add);

  std::shared_ptr<const Plan> plan_;
  ThreadTeam team_;
  Geometry geometry_;
  // Activations, [rows, channels]. The hidden ones have a row of zeros after the last.
  std::vector<float> padded_, stream_, next_stream_, output_, preactivated_, hidden_, narrow_;
  // Halting.
  RowList all_rows_, active_, dilated_, gathered_;
  std::vector<uint8_t> marks_;
  std::vector<HaltingState> states_;
  std::vector<float> scores_, tap_values_, halted_sums_;  // [rows], [rows, 9], [images, C]
};

}  // namespace sact::engine
