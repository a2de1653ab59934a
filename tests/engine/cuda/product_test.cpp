// Every product kernel of the CUDA engine against sums in double precision, over random lists: on a
// GPU, or emulated on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "engine/cuda/device.h"
#include "engine/cuda/panels.h"
#include "engine/cuda/testing.h"
#include "kernels/cuda/inference/product_tensor.h"

namespace sact::engine {
namespace {

using cuda::Element;
using cuda::GridShape;
using cuda::Product;

struct Case {
  std::string name;
  GridShape from, to;
  int kernel = 1, stride = 1, depth = 64, columns = 64;
  bool norm = false, listed = true, by_index = false, relu = false;
  bool add = false, mean = false, begins = false, mean_in_place = false, stem = false;
  bool scores = false;
  bool masked = false;  // some rows stay as they are
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

std::vector<float> random_values(size_t count, double scale, Random& random) {
  std::vector<float> values(count);
  for (float& value : values) value = float(scale * random.normal());
  return values;
}

/// What a call reads and what comes out, on the host.
struct Problem {
  Problem(const Case& c, Element element, uint64_t seed) : of(c), type(element), random(seed) {
    const GridShape read =
        c.stem ? GridShape{c.to.images, 2 * c.to.height, 2 * c.to.width} : c.from;
    const int channels = c.stem ? 3 : c.depth;
    for (int row = 0; row < c.to.rows(); ++row) {
      if (!c.listed || random.uniform(0, 1) < 0.6) list.push_back(row);
    }
    input = rounded(random_values(size_t(read.rows()) * size_t(channels), 1, random));
    const int taps = c.kernel * c.kernel;
    weights = rounded(random_values(size_t(taps * channels * c.columns),
                                    1 / std::sqrt(double(taps * channels)), random));
    bias = random_values(size_t(c.columns), 1, random);
    scale = random_values(size_t(channels), 1, random);
    shift = random_values(size_t(channels), 0.5, random);
    scale[0] = 0;
    output = rounded(random_values(size_t(c.to.rows()) * size_t(c.columns), 1, random));
    mean = rounded(random_values(output.size(), 1, random));
    for (int row = 0; row < c.to.rows(); ++row) {
      const double choice = random.uniform(0, 1);
      remainders.push_back(choice < 0.3               ? cuda::kNoMeanYet
                           : choice < 0.6 || c.begins ? -float(random.uniform(0.1, 0.9))
                                                      : float(random.uniform(0.1, 0.9)));
    }
    for (int row = 0; row < c.to.rows(); ++row) {
      active.push_back(c.masked && random.coin(0.4) ? cuda::kHaltedNow : cuda::kActive);
    }
    from = read;
  }

  std::vector<float> rounded(std::vector<float> values) const {
    for (float& value : values) value = rounded_to(value, type);
    return values;
  }

  /// The sum of a column for the i-th listed row, with its bias.
  double sum(size_t i, int column) const {
    const int channels = of.stem ? 3 : of.depth, row = list[i];
    const int image = row / of.to.positions(), position = row % of.to.positions();
    const int y = position / of.to.width, x = position % of.to.width;
    double total = bias[size_t(column)];
    for (int tap = 0; tap < of.kernel * of.kernel; ++tap) {
      const int ny = y * of.stride + tap / of.kernel - of.kernel / 2;
      const int nx = x * of.stride + tap % of.kernel - of.kernel / 2;
      if (ny < 0 || ny >= from.height || nx < 0 || nx >= from.width) continue;
      const size_t read = of.by_index ? i : size_t(image * from.positions() + ny * from.width + nx);
      for (int c = 0; c < channels; ++c) {
        double value = input[read * size_t(channels) + size_t(c)];
        if (of.norm) value = std::max(0.0, double(scale[size_t(c)]) * value + shift[size_t(c)]);
        total += value * weights[size_t((tap * channels + c) * of.columns + column)];
      }
    }
    return total;
  }

  Case of;
  Element type;
  Random random;
  GridShape from;
  std::vector<int32_t> list;
  std::vector<float> input, weights, bias, scale, shift, output, mean, remainders;
  std::vector<uint8_t> active;
};

/// Dot products of new states with score weights, in planes, against sums of both as they are.
void expect_right_scores(const Problem& problem, const FoldedScore& score,
                         const std::vector<float>& states, const DeviceMemory& planes, int count) {
  const Case& c = problem.of;
  const size_t plane = size_t(c.to.rows()) * cuda::kTapStride, channels = size_t(c.columns);
  const auto found = test::from_device<float>(planes, size_t(count) * plane);
  for (const int32_t row : problem.list) {
    if (problem.active[size_t(row)] != cuda::kActive) continue;
    for (size_t dot = 0; dot < 10; ++dot) {
      double sum = 0, right = 0;
      for (size_t n = 0; n < size_t(count); ++n) {
        sum += found[n * plane + size_t(row) * cuda::kTapStride + dot];
      }
      for (size_t k = 0; k < channels; ++k) {
        const float weight = dot < 9 ? score.taps[dot * channels + k] : score.global[k];
        right += double(states[size_t(row) * channels + k]) * rounded_to(weight, problem.type);
      }
      EXPECT_NEAR(sum, right, 1e-3 * (1 + std::fabs(right)));
    }
  }
}

/// Runs a kernel, which returns its planes of scores, and compares all that it may write.
template <typename Run>
void expect_right(const Problem& problem, double tolerance, const Run& run) {
  const Case& c = problem.of;
  const Element type = problem.type;
  std::vector<float> input = problem.input;
  GridShape from = problem.from;
  if (c.stem) {
    from = cuda::padded_for_stem(c.to);
    input.assign(size_t(from.rows()) * cuda::kStemChannels, 0.0f);
    for (int row = 0; row < problem.from.rows(); ++row) {
      const int image = row / problem.from.positions(), at = row % problem.from.positions();
      const int y = at / problem.from.width + 3, x = at % problem.from.width + 3;
      for (int k = 0; k < 3; ++k) {
        input[size_t(((image * from.height + y) * from.width + x) * 4 + k)] =
            problem.input[size_t(row * 3 + k)];
      }
    }
  }
  const auto rows = test::elements_on_device(input, type);
  const auto weights = test::on_device(problem.weights), bias = test::on_device(problem.bias);
  const auto scale = test::on_device(problem.scale), shift = test::on_device(problem.shift);
  const auto output = test::elements_on_device(problem.output, type);
  const auto mean = test::elements_on_device(problem.mean, type);
  const auto remainders = test::on_device(problem.remainders), list = test::on_device(problem.list);
  const auto count = test::on_device(std::vector<int32_t>{int32_t(problem.list.size())});
  std::vector<float> scaled = problem.weights;
  DeviceMemory norm;
  if (c.norm && type != Element::kFloat32) {
    const PackedNorm packed = pack_norm({problem.scale, problem.shift}, type);
    norm = test::on_device(packed.pairs);
    for (size_t i = 0; i < scaled.size(); ++i) {
      scaled[i] *= packed.weight_factors[i / size_t(c.columns)];
    }
  }
  if (c.stem) {
    std::vector<float> filters(scaled.size());  // [out, 3, 7, 7]
    for (int k = 0; k < 147; ++k) {
      for (int o = 0; o < c.columns; ++o) {
        filters[size_t((o * 3 + k % 3) * 49 + k / 3)] = scaled[size_t(k * c.columns + o)];
      }
    }
    scaled = stem_depths(filters, c.columns);
  }
  const auto panels =
      type == Element::kFloat32
          ? DeviceMemory()
          : test::on_device(pack_panels(scaled, c.stem ? 1 : c.kernel * c.kernel, c.columns, type));
  Product call;
  call.rows = {c.listed ? test::as<int32_t>(list) : nullptr, test::as<int32_t>(count), c.to.rows()};
  call.from = from;
  call.to = c.to;
  call.kernel = c.kernel;
  call.stride = c.stride;
  call.input_by_index = c.by_index;
  call.input = rows.data();
  call.input_stride = call.depth = c.depth;
  if (c.norm) {
    call.scale = test::as<float>(scale);
    call.shift = test::as<float>(shift);
    call.packed_norm = norm.data();
  }
  call.weights = test::as<float>(weights);
  call.panels = panels.data();
  call.stem = c.stem;
  call.bias = test::as<float>(bias);
  call.columns = c.columns;
  call.output = output.data();
  call.output_stride = c.columns;
  call.output_by_index = !c.add && c.listed;
  call.relu = c.relu;
  call.add = c.add;
  if (c.mean) {
    call.mean = mean.data();
    call.remainders = test::as<float>(remainders);
    call.mean_begins = c.begins;
    call.mean_in_place = c.mean_in_place;
  }
  const auto active = test::on_device(problem.active);
  if (c.masked) call.active = test::as<uint8_t>(active);
  FoldedScore score;
  Random random(9);
  score.taps = random_values(size_t(9 * c.columns), 1, random);
  score.global = random_values(size_t(c.columns), 1, random);
  DeviceMemory score_panels, score_planes;
  if (c.scores && type != Element::kFloat32) {
    score_panels = test::on_device(pack_score(score, type));
    score_planes = test::on_device(
        std::vector<float>(size_t(c.columns / 64 * c.to.rows()) * cuda::kTapStride));
    call.score_panels = score_panels.data();
    call.score_planes = test::as<float>(score_planes);
  }
  const int planes = run(call);
  const std::vector<float> found = test::elements_from_device(output, problem.output.size(), type);
  const std::vector<float> means = test::elements_from_device(mean, problem.mean.size(), type);
  std::vector<double> right(problem.output.begin(), problem.output.end());
  std::vector<double> right_means(problem.mean.begin(), problem.mean.end());
  for (size_t i = 0; i < problem.list.size(); ++i) {
    const size_t row = size_t(problem.list[i]);
    if (problem.active[row] != cuda::kActive) continue;
    for (size_t column = 0; column < size_t(c.columns); ++column) {
      const double sum = problem.sum(i, int(column));
      const size_t at = row * size_t(c.columns) + column;
      if (!c.add) {
        right[(call.output_by_index ? i : row) * size_t(c.columns) + column] =
            c.relu ? std::max(0.0, sum) : sum;
        continue;
      }
      const double old = problem.output[at];
      const double next = c.relu ? std::max(0.0, old + sum) : old + sum;
      right[at] = next;
      const double r = problem.remainders[row];
      if (!c.mean || r == cuda::kNoMeanYet) continue;
      (c.mean_in_place ? right : right_means)[at] =
          (r < 0 ? old : right_means[at]) + std::fabs(r) * (next - old);
    }
  }
  double worst = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    worst = std::max(worst, std::fabs(found[i] - right[i]) / (1 + std::fabs(right[i])));
    worst = std::max(worst, std::fabs(means[i] - right_means[i]) / (1 + std::fabs(right_means[i])));
    if (!(found[i] == found[i] && means[i] == means[i])) worst = INFINITY;
  }
  EXPECT_LT(worst, tolerance);
  if (planes > 0) expect_right_scores(problem, score, found, score_planes, planes);
}

/// Of what comes out, in its type.
double tolerance_of(Element type) {
  return type == Element::kFloat32 ? 1e-5 : type == Element::kFloat16 ? 3e-3 : 2e-2;
}

class CudaProduct : public ::testing::TestWithParam<Case> {};

TEST_P(CudaProduct, PlainKernelsSumWhatTheyShould) {
  SACT_NEEDS_GPU();
  if (GetParam().stem) GTEST_SKIP() << "the stem's layout is for tensor cores";
  const cuda::Launch launch = test::launch();
  for (const Element type : {Element::kFloat32, Element::kBFloat16, Element::kFloat16}) {
    const Problem problem(GetParam(), type, 1);
    expect_right(problem, tolerance_of(type), [&](Product call) {
      call.panels = nullptr;
      const int planes = cuda::run(call, type, launch);
      EXPECT_EQ(planes, 0);
      test::wait();
      return planes;
    });
  }
}

void expect_right_on_hopper(const Case& c, Element type) {
  const Problem problem(c, type, 2);
  // Few multiprocessors have many tiles each, many none; and they choose other shapes of tiles.
  for (const int multiprocessors : {1, 4, 132}) {
    cuda::Launch launch = test::launch();
    launch.multiprocessors = std::min(multiprocessors, launch.multiprocessors);
    const DeviceMemory scratch =
        test::on_device(std::vector<uint8_t>(size_t(cuda::scratch_bytes(launch.multiprocessors))));
    for (void* shared : {static_cast<void*>(nullptr), static_cast<void*>(scratch.data())}) {
      launch.scratch = shared;  // with it blocks may share the depth of a tile
      expect_right(problem, tolerance_of(type), [&](const Product& call) {
        EXPECT_TRUE(cuda::tensor_cores_can_run(call));
        const int planes = cuda::run_hopper(call, type, launch);
        EXPECT_EQ(planes > 0, c.scores);
        test::wait();
        return planes;
      });
    }
  }
}

TEST_P(CudaProduct, EveryShapeOfTilesSumsWhatItShould) {
  SACT_NEEDS_GPU();
#ifdef SACT_EMULATED
  const std::string& name = GetParam().name;
  if (name != "wide_norm" && name != "residual" && name != "window") {
    GTEST_SKIP() << "takes its time";
  }
#endif
  if (!open_device().has_hopper()) GTEST_SKIP() << "no Hopper GPU here";
  const Element type = Element::kBFloat16;
  const Problem problem(GetParam(), type, 4);
  cuda::Launch launch = test::launch();
  launch.products = cuda::Products::kHopper;
  uint32_t fitting = 0;
  const auto run = [&](const Product& call) {
    if (fitting == 0) fitting = cuda::shapes_of(call, type, launch).fitting;
    const int planes = cuda::run_hopper(call, type, launch);
    test::wait();
    return planes;
  };
  expect_right(problem, tolerance_of(type), run);
  ASSERT_NE(fitting, 0u);
  for (int shape = 0; fitting >> shape; ++shape) {
    if (!(fitting >> shape & 1)) continue;
    launch.shape = shape;
    expect_right(problem, tolerance_of(type), run);
  }
}

TEST_P(CudaProduct, HopperKernelsSumWhatTheyShould) {
  SACT_NEEDS_GPU();
  if (!open_device().has_hopper()) GTEST_SKIP() << "no Hopper GPU here";
  expect_right_on_hopper(GetParam(), Element::kBFloat16);
}

TEST_P(CudaProduct, HopperKernelsSumInFp16) {
  SACT_NEEDS_GPU();
  if (!open_device().has_hopper()) GTEST_SKIP() << "no Hopper GPU here";
  expect_right_on_hopper(GetParam(), Element::kFloat16);
}

void expect_right_on_other_tensor_cores(const Case& c, Element type) {
  const Problem problem(c, type, 3);
  for (const int multiprocessors : {1, 132}) {
    cuda::Launch launch = test::launch();
    launch.multiprocessors = multiprocessors;
    expect_right(problem, tolerance_of(type), [&](const Product& call) {
      EXPECT_TRUE(cuda::tensor_cores_can_run(call));
      cuda::run_mma(call, type, launch);
      test::wait();
      return 0;
    });
  }
}

TEST_P(CudaProduct, OtherTensorCoresSumWhatTheyShould) {
  SACT_NEEDS_GPU();
  expect_right_on_other_tensor_cores(GetParam(), Element::kBFloat16);
}

TEST_P(CudaProduct, OtherTensorCoresSumInFp16) {
  SACT_NEEDS_GPU();
  expect_right_on_other_tensor_cores(GetParam(), Element::kFloat16);
}

TEST(CudaCeiling, MultipliesAsOftenAsItSays) {
  SACT_NEEDS_GPU();
  // Every product of ones adds one.
  const auto tiles = test::elements_on_device(std::vector<float>(cuda::kCeilingTileBytes / 2, 1),
                                              Element::kBFloat16);
  for (const cuda::Products products : {cuda::Products::kMma, cuda::Products::kHopper}) {
    if (products == cuda::Products::kHopper && !open_device().has_hopper()) continue;
    cuda::Launch launch = test::launch();
    launch.multiprocessors = 2;
    launch.products = products;
    const size_t count = 2 * cuda::kCeilingThreads;
    const auto sums = test::on_device(std::vector<float>(count));
    const double operations =
        cuda::run(cuda::ProductCeiling{tiles.data(), 3, test::as<float>(sums)}, launch);
    test::wait();
    const auto found = test::from_device<float>(sums, count);
    EXPECT_EQ(std::accumulate(found.begin(), found.end(), 0.0), operations / 2);
  }
}

const GridShape kGrid{3, 7, 9}, kWide{3, 13, 18};

INSTANTIATE_TEST_SUITE_P(
    Kinds, CudaProduct,
    ::testing::Values(
        Case{"one_tap", kGrid, kGrid, 1, 1, 128, 64, false, true, false, true},
        Case{"all_rows", kGrid, kGrid, 1, 1, 64, 128, false, false},
        Case{"window", kGrid, kGrid, 3, 1, 64, 64, false, true, false, true},
        Case{"wide_window", kGrid, kGrid, 3, 1, 128, 256, false, true, false, true},
        Case{"strided_window", kWide, kGrid, 3, 2, 64, 128, false, false, false, true},
        Case{"strided_tap", kWide, kGrid, 1, 2, 64, 256, false, false},
        Case{"norm", kGrid, kGrid, 1, 1, 256, 64, true, true, false, true},
        Case{"wide_norm", kGrid, kGrid, 1, 1, 64, 256, true, true, false, true},
        Case{"strided_norm", kWide, kGrid, 1, 2, 128, 128, true, false},
        Case{"residual", kGrid, kGrid, 1, 1, 64, 256, false, true, true, false, true},
        Case{"residual_relu", kGrid, kGrid, 1, 1, 128, 128, false, true, true, true, true},
        Case{"residual_window", kGrid, kGrid, 3, 1, 64, 64, false, true, false, true, true},
        Case{"scores", kGrid, kGrid, 1, 1, 64, 256, false, false, false, false, true, false, false,
             false, false, true},
        Case{"scores_mean", kGrid, kGrid, 1, 1, 64, 256, false, true, true, true, true, true, false,
             false, false, true},
        Case{"mean_begins", kGrid, kGrid, 1, 1, 64, 256, false, true, true, false, true, true,
             true},
        Case{"mean", kGrid, kGrid, 1, 1, 64, 128, false, true, true, false, true, true},
        Case{"mean_relu", kGrid, kGrid, 1, 1, 64, 64, false, true, true, true, true, true},
        Case{"mean_in_place", kGrid, kGrid, 1, 1, 64, 128, false, true, true, true, true, true,
             false, true},
        Case{"masked_scores_mean", kGrid, kGrid, 1, 1, 64, 256, false, false, false, false, true,
             true, false, false, false, true, true},
        Case{"masked_begins", kGrid, kGrid, 1, 1, 64, 128, false, false, false, true, true, true,
             true, false, false, false, true},
        Case{"masked_in_place", kGrid, kGrid, 1, 1, 64, 64, false, false, false, true, true, true,
             false, true, false, false, true},
        Case{"stem",
             {2, 18, 22},
             {2, 9, 11},
             7,
             2,
             3,
             64,
             false,
             false,
             false,
             true,
             false,
             false,
             false,
             false,
             true}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace sact::engine
