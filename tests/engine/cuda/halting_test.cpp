// The kernels that decide where a block goes on, against what the CPU engine does: on a GPU, or
// emulated on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"
#include "engine/cuda/testing.h"
#include "engine/rows.h"
#include "model/hard_budget.h"
#include "support/random_model.h"

namespace sact::engine {
namespace {

using cuda::GridShape;

std::vector<uint8_t> random_mask(int count, double share, Random& random) {
  std::vector<uint8_t> mask(static_cast<size_t>(count));
  for (uint8_t& value : mask) {
    value = random.uniform(0, 1) < share ? uint8_t(cuda::kActive)
            : random.uniform(0, 1) < 0.5 ? uint8_t(cuda::kHaltedNow)
                                         : uint8_t(cuda::kHalted);
  }
  return mask;
}

TEST(CudaLists, HaveTheRowsThatGoOnAndWhereTheyLook) {
  SACT_NEEDS_GPU();
  Random random(5);
  // One part of a list, several, and an image as narrow as can be.
  for (const GridShape& grid : {GridShape{2, 5, 7}, {3, 20, 31}, {2, 1, 9}, {1, 40, 1}}) {
    for (const double share : {0.0, 0.05, 0.5, 1.0}) {
      const std::vector<uint8_t> mask = random_mask(grid.rows(), share, random);
      ActiveRows right;
      right.reserve(grid.rows());
      right.start({grid.images, {grid.height, grid.width}});
      for (int row = 0; row < grid.rows(); ++row) {
        right.keep(row, mask[size_t(row)] == cuda::kActive);
      }
      right.update();
      const auto rows = size_t(grid.rows());
      const auto active = test::on_device(mask);
      const auto reached = test::on_device(std::vector<uint8_t>(rows, 7));
      const auto before = test::on_device(std::vector<int32_t>{1});
      const auto counts = test::on_device(std::vector<int32_t>{-1, -1});
      const auto lists = test::on_device(std::vector<int32_t>(2 * rows, -1));
      const auto parts = test::on_device(std::vector<int32_t>(2 * (rows / cuda::kListRows + 1)));
      cuda::Lists call;
      call.grid = grid;
      call.active = test::as<uint8_t>(active);
      call.reached = test::as<uint8_t>(reached);
      call.part_counts = test::as<int32_t>(parts);
      call.active_list = test::as<int32_t>(lists);
      call.reached_list = call.active_list + rows;
      call.before = test::as<int32_t>(before);
      call.counts = test::as<int32_t>(counts);
      cuda::run(call, test::launch());
      test::wait();
      const auto found_counts = test::from_device<int32_t>(counts, 2);
      ASSERT_EQ(found_counts[0], int32_t(right.active().size()));
      ASSERT_EQ(found_counts[1], int32_t(right.dilated().size()));
      const auto found = test::from_device<int32_t>(lists, 2 * rows);
      EXPECT_TRUE(std::equal(right.active().begin(), right.active().end(), found.begin()));
      EXPECT_TRUE(
          std::equal(right.dilated().begin(), right.dilated().end(), found.begin() + long(rows)));
      const auto marks = test::from_device<uint8_t>(reached, rows);
      for (size_t row = 0; row < rows; ++row) {
        EXPECT_EQ(marks[row] != 0, share > 0 && right.dilated_mask()[row] && found_counts[0] > 0);
      }
    }
  }
}

TEST(CudaLists, OfABlockThatHasEndedStayEmpty) {
  SACT_NEEDS_GPU();
  const GridShape grid{1, 4, 4};
  const auto active =
      test::on_device(std::vector<uint8_t>(16, cuda::kActive));  // of some other unit
  const auto reached = test::on_device(std::vector<uint8_t>(16));
  const auto none = test::on_device(std::vector<int32_t>{0});
  const auto counts = test::on_device(std::vector<int32_t>{-1, -1});
  const auto lists = test::on_device(std::vector<int32_t>(40, -1));
  cuda::Lists call;
  call.grid = grid;
  call.active = test::as<uint8_t>(active);
  call.reached = test::as<uint8_t>(reached);
  call.part_counts = test::as<int32_t>(lists) + 36;
  call.active_list = test::as<int32_t>(lists);
  call.reached_list = call.active_list + 16;
  call.before = test::as<int32_t>(none);
  call.counts = test::as<int32_t>(counts);
  cuda::run(call, test::launch());
  test::wait();
  EXPECT_EQ(test::from_device<int32_t>(counts, 2), (std::vector<int32_t>{0, 0}));
}

TEST(CudaLimit, KeepsWhoTheHardBudgetKeeps) {
  SACT_NEEDS_GPU();
  const Size image{64, 96};
  for (const int tile : {1, 3}) {
    ModelSpec spec = sact::test::tiny_spec(Halting::kSact, {3, 4});
    spec.tile = tile;
    const HardBudget budget(spec, image, 0.5 * (1 + HardBudget::smallest(spec, image)));
    const Size size = spec.block_size(0, image);
    const GridShape grid{2, size.height, size.width};
    const auto rows = size_t(grid.rows());
    Random random(uint64_t(7 + tile));
    std::vector<float> cumulative(rows), scores(rows);
    std::vector<uint8_t> active(rows);
    for (size_t row = 0; row < rows; ++row) {
      const int position = int(row) % grid.positions(), at = position % grid.width / tile;
      Random own(uint64_t(position / grid.width / tile * 1000 + at));  // tiles are alike
      cumulative[row] = float(int(own.uniform(0, 1) * 8)) / 16;        // with equal sums
      scores[row] = float(own.uniform(0, 1) * 0.5);
      active[row] = own.uniform(0, 1) < 0.8 ? cuda::kActive : cuda::kHalted;
    }
    std::vector<float> right = scores;
    std::vector<int64_t> right_spent;
    for (size_t i = 0; i < 2; ++i) {
      std::vector<float> sums(size_t(grid.positions()));
      const size_t first = i * sums.size();
      for (size_t p = 0; p < sums.size(); ++p) {
        sums[p] =
            active[first + p] == cuda::kActive ? cumulative[first + p] + scores[first + p] : 1;
      }
      HardBudget::Account account{int64_t(i) * 1000};
      budget.limit(0, 0, sums, account);
      right_spent.push_back(account.spent);
      for (size_t p = 0; p < sums.size(); ++p) {
        if (active[first + p] == cuda::kActive && sums[p] == 1) right[first + p] = 1;
      }
    }
    const auto on_cumulative = test::on_device(cumulative), on_scores = test::on_device(scores);
    const auto on_active = test::on_device(active);
    const auto spent = test::on_device(std::vector<int64_t>{0, 1000});
    const HardBudget::Terms terms = budget.terms(0, 0);
    cuda::Limit call;
    call.grid = grid;
    call.rows.cumulative = test::as<float>(on_cumulative);
    call.rows.active = test::as<uint8_t>(on_active);
    call.threshold = terms.threshold;
    call.group_side = terms.group_side;
    call.active_cost = terms.next_unit.active;
    call.dilated_cost = terms.next_unit.dilated;
    call.once_cost = terms.next_unit.once;
    call.allowance = terms.allowance;
    call.spent = test::as<int64_t>(spent);
    call.scores = test::as<float>(on_scores);
    cuda::run(call, test::launch());
    test::wait();
    EXPECT_EQ(test::from_device<float>(on_scores, rows), right);
    EXPECT_NE(right, scores);  // there was something to limit
    EXPECT_EQ(test::from_device<int64_t>(spent, 2), right_spent);
  }
}

/// States, weights and masks of a block, and what scores shall be made of them.
struct ScoreProblem {
  ScoreProblem(size_t channel_count, cuda::Element element, bool dilates = false)
      : channels(channel_count), type(element), is_dilated(dilates) {
    Random random(3);
    const auto values = [&](size_t count) {
      std::vector<float> made(count);
      for (float& value : made) value = rounded_to(float(random.normal()), type);
      return made;
    };
    x = values(rows * channels);
    score.taps = values(9 * channels);
    score.global = values(channels);
    for (double& shift : shifts) shift = random.normal();
    halted = values(2 * bands * channels);
    active = random_mask(grid.rows(), 0.4, random);
    for (size_t row = 0; row < rows; ++row) {
      reached.push_back(active[row] == cuda::kActive || random.uniform(0, 1) < 0.3);
    }
    if (is_dilated) dilate();
  }

  void dilate() {
    ActiveRows all;
    all.reserve(grid.rows());
    all.start({grid.images, {grid.height, grid.width}});
    for (int row = 0; row < grid.rows(); ++row) {
      all.keep(row, active[size_t(row)] == cuda::kActive);
    }
    all.update();
    for (size_t row = 0; row < rows; ++row) reached[row] = all.dilated_mask()[row] != 0;
  }

  double dot(size_t row, const float* weights) const {
    double sum = 0;
    for (size_t c = 0; c < channels; ++c) sum += double(x[row * channels + c]) * weights[c];
    return sum;
  }
  double tap(size_t row, size_t number) const {
    return dot(row, score.taps.data() + number * channels);
  }

  const GridShape grid{2, 11, 13};  // two bands an image
  const size_t rows = size_t(grid.rows()), bands = size_t(cuda::bands_of(grid.positions()));
  size_t channels;
  cuda::Element type;
  bool is_dilated;  // `reached` are the neighbours of active rows, which the kernel can find
  FoldedScore score;
  std::array<double, 9> shifts;
  std::vector<float> x, halted;
  std::vector<uint8_t> active, reached;
};

/// With `planes` the dot products of active rows are there before.
void expect_right_scores(const ScoreProblem& of, bool planes, double tolerance) {
  const auto on_x = test::elements_on_device(of.x, of.type);
  const auto on_taps = test::on_device(of.score.taps), on_global = test::on_device(of.score.global);
  const auto on_shifts = test::on_device(std::vector<float>(of.shifts.begin(), of.shifts.end()));
  const auto on_halted = test::on_device(of.halted), on_active = test::on_device(of.active);
  const auto on_reached = test::on_device(of.reached);
  const auto tap_values = test::on_device(std::vector<float>(of.rows * cuda::kTapStride));
  const auto sums = test::on_device(std::vector<double>(2 * of.bands));
  cuda::Scores call;
  call.grid = of.grid;
  call.channels = int(of.channels);
  call.input = on_x.data();
  call.active = test::as<uint8_t>(on_active);
  call.reached = of.is_dilated ? nullptr : test::as<uint8_t>(on_reached);
  call.taps = test::as<float>(on_taps);
  call.tap_shifts = test::as<float>(on_shifts);
  call.global = test::as<float>(on_global);
  call.halted_sums = test::as<float>(on_halted);
  call.tap_values = test::as<float>(tap_values);
  call.band_sums = test::as<double>(sums);
  DeviceMemory on_planes, panels;
  if (planes) {  // halves of what is right in two planes, of rows that are active
    std::vector<float> values(2 * of.rows * cuda::kTapStride, NAN);
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t row = i / cuda::kTapStride % of.rows, number = i % cuda::kTapStride;
      if (of.active[row] != cuda::kActive || number > 9) continue;
      values[i] = float(number < 9 ? of.tap(row, number) : of.dot(row, of.score.global.data())) / 2;
    }
    on_planes = test::on_device(values);
    panels = test::on_device(pack_score(of.score, of.type));
    call.planes = test::as<float>(on_planes);
    call.plane_count = 2;
    call.panels = panels.data();
  }
  cuda::run(call, of.type, test::launch());
  test::wait();
  const auto found = test::from_device<float>(tap_values, of.rows * cuda::kTapStride);
  const auto found_sums = test::from_device<double>(sums, 2 * of.bands);
  std::vector<double> right_sums(2 * of.bands);
  for (size_t b = 0; b < right_sums.size(); ++b) {
    for (size_t c = 0; c < of.channels; ++c) {
      right_sums[b] += double(of.halted[b * of.channels + c]) * double(of.score.global[c]);
    }
  }
  for (size_t row = 0; row < of.rows; ++row) {
    const size_t positions = size_t(of.grid.positions());
    const size_t band = row / positions * of.bands + row % positions / cuda::kBandRows;
    if (of.active[row] != cuda::kHalted) right_sums[band] += of.dot(row, of.score.global.data());
    for (size_t tap = 0; of.reached[row] && tap < 9; ++tap) {
      EXPECT_NEAR(found[row * cuda::kTapStride + tap], of.tap(row, tap) + of.shifts[tap],
                  tolerance);
    }
  }
  for (size_t b = 0; b < right_sums.size(); ++b) {
    EXPECT_NEAR(found_sums[b], right_sums[b], 10 * tolerance);
  }
}

TEST(CudaScores, AreDotProductsOfStatesAndSumsOverAllPositions) {
  SACT_NEEDS_GPU();
  for (const size_t channels : {size_t{6}, size_t{15}, size_t{128}}) {
    expect_right_scores({channels, cuda::Element::kFloat32}, false, 1e-3);
    expect_right_scores({channels, cuda::Element::kFloat32, true}, false, 1e-3);
  }
}

TEST(CudaScores, OfActiveRowsComeFromTheProductBefore) {
  SACT_NEEDS_GPU();
  for (const cuda::Element type : {cuda::Element::kBFloat16, cuda::Element::kFloat16}) {
    for (const size_t channels : {size_t{64}, size_t{320}, size_t{1024}}) {
      expect_right_scores({channels, type}, true, 1e-3);
      expect_right_scores({channels, type, true}, true, 1e-3);
    }
  }
}

TEST(CudaHalt, TellsWhetherARowGoesOn) {
  SACT_NEEDS_GPU();
  const GridShape grid{3, 20, 21};
  const auto rows = size_t(grid.rows());
  for (const bool one_goes_on : {false, true}) {
    std::vector<float> scores(rows, 0.5f);
    if (one_goes_on) scores[777] = 0.1f;
    const auto on_scores = test::on_device(scores);
    const auto cumulative = test::on_device(std::vector<float>(rows, 0.6f));
    const auto remainders = test::on_device(std::vector<float>(rows, 0.4f));
    const auto ponder = test::on_device(std::vector<float>(rows));
    const auto units = test::on_device(std::vector<int32_t>(rows));
    const auto active = test::on_device(std::vector<uint8_t>(rows, cuda::kActive));
    const auto going_on = test::on_device(std::vector<int32_t>{0});
    cuda::Halt call;
    call.grid = grid;
    call.rows.cumulative = test::as<float>(cumulative);
    call.rows.remainders = test::as<float>(remainders);
    call.rows.ponder = test::as<float>(ponder);
    call.rows.units = test::as<int32_t>(units);
    call.rows.active = test::as<uint8_t>(active);
    call.threshold = 0.99f;
    call.scores = test::as<float>(on_scores);
    call.going_on = test::as<int32_t>(going_on);
    cuda::run(call, test::launch());
    test::wait();
    EXPECT_EQ(test::from_device<int32_t>(going_on, 1)[0], one_goes_on ? grid.rows() : 0);
    const auto states = test::from_device<uint8_t>(active, rows);
    EXPECT_EQ(states[777], one_goes_on ? cuda::kActive : cuda::kHaltedNow);
  }
}

}  // namespace
}  // namespace sact::engine
