// The same network on CUDA and on the CPU. Skipped where there is no CUDA device.
#include <ATen/Context.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "train/adapt/step.h"
#include "train/classify/augment.h"
#include "train/classify/step.h"
#include "train/loop/epoch_sums.h"
#include "train/loop/sgd.h"
#include "train/random_network.h"
#include "train/torch/precision.h"
#include "train/torch/recording.h"

namespace sact::train {
namespace {

class Cuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device";
    at::globalContext().setAllowTF32CuDNN(false);
    at::globalContext().setAllowTF32CuBLAS(false);
  }
};

double relative_difference(const torch::Tensor& found, const torch::Tensor& expected) {
  return ((found.cpu() - expected).norm() / (expected.norm() + 1e-12)).item<double>();
}

TEST_F(Cuda, InferenceEqualsTheCpu) {
  torch::NoGradGuard no_grad;
  for (Halting halting : {Halting::kNone, Halting::kAct, Halting::kSact}) {
    for (UnitKind unit : {UnitKind::kBottleneck, UnitKind::kBasic}) {
      ModelSpec spec = test::tiny_spec(halting, {3, 4, 2});
      spec.unit = unit;
      spec.tile = unit == UnitKind::kBasic ? 2 : 1;
      Network network = test::random_network(spec, 61);
      const torch::Tensor images = test::random_images(3, 65, 47, 62);
      const NetworkOutput expected = network->forward(images);
      network->to(torch::kCUDA);
      const NetworkOutput found = network->forward(images.cuda());
      EXPECT_LT(relative_difference(found.logits, expected.logits), 1e-4);
      for (size_t block = 0; block < 3; ++block) {
        EXPECT_LT(relative_difference(found.blocks[block].ponder_cost,
                                      expected.blocks[block].ponder_cost),
                  1e-4);
        EXPECT_TRUE(torch::equal(found.blocks[block].units.cpu(), expected.blocks[block].units));
      }
      EXPECT_EQ(test::image_flops(spec, found, {65, 47}),
                test::image_flops(spec, expected, {65, 47}));
    }
  }
}

TEST_F(Cuda, AugmentedBatchesEqualTheCpusWhereTheDeviceIsBehind) {
  const torch::Tensor pixels = torch::randint(256, {4, 3, 40, 40}, torch::kUInt8);
  const torch::Tensor on_device = pixels.cuda();
  auto augmented = [&](const torch::Tensor& stored, int64_t epoch) {
    std::vector<Augmentation> augmentations;
    for (int64_t i = 0; i < 4; ++i) {
      augmentations.push_back(draw_augmentation(TrainSettings(), 66, epoch, i, 1.0f, {}));
    }
    return augment_batch(stored, augmentations, 32, InputSpec());
  };
  augmented(on_device, 0);  // what is loaded at the first call is there
  // Work of a tenth of a second or more, behind which the numbers of all batches wait.
  torch::Tensor large = torch::ones({8192, 8192}, torch::kCUDA);
  for (int i = 0; i < 8; ++i) large = large.mm(large) / 8192;
  std::vector<torch::Tensor> found;
  for (int64_t epoch = 0; epoch < 20; ++epoch) found.push_back(augmented(on_device, epoch));
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    EXPECT_LT(relative_difference(found[size_t(epoch)], augmented(pixels, epoch)), 1e-4) << epoch;
  }
}

TEST_F(Cuda, GradientsEqualTheCpu) {
  const ModelSpec spec = test::tiny_spec(Halting::kSact, {3, 4});
  auto gradients = [&](torch::Device device) {
    Network network = test::random_network(spec, 63);
    network->to(device);
    const NetworkOutput output =
        network->forward(test::random_images(4, 48, 48, 64).to(device), {.early_exit = false});
    const torch::Tensor targets = torch::arange(4, torch::kInt64).to(device);
    (torch::cross_entropy_loss(output.logits, targets) + 0.1 * ponder_penalty(output)).backward();
    std::vector<torch::Tensor> all;
    for (auto& parameter : network->parameters()) all.push_back(parameter.grad().cpu().flatten());
    return torch::cat(all);
  };
  EXPECT_LT(relative_difference(gradients(torch::kCUDA), gradients(torch::kCPU)), 1e-3);
}

TEST_F(Cuda, HalfPrecisionInputKeepsTheHaltingSumsInFullPrecision) {
  torch::NoGradGuard no_grad;
  Network network = test::random_network(test::tiny_spec(Halting::kSact), 65);
  network->to(torch::Device(torch::kCUDA));
  network->to(torch::kBFloat16);
  const NetworkOutput output =
      network->forward(test::random_images(2, 64, 64, 66).to(torch::kCUDA, torch::kBFloat16));
  for (const BlockOutput& block : output.blocks) {
    EXPECT_EQ(block.ponder_cost.scalar_type(), torch::kFloat32);
    EXPECT_TRUE((block.units <= block.ponder_cost + 1e-5).all().item<bool>());
  }
}

/// What `sact adapt` trains with: hard halting, frozen norms, and of the scores' parameters those
/// that learn. Many positions of a random network halt, and many go on.
void prepare_for_hard_halting(Network network) {
  network->freeze_norms();
  for (auto& item : network->named_parameters()) {
    const bool norm = item.key().find("_norm.") != std::string::npos;
    if (is_of_halting(item.key()) && norm) item.value().set_requires_grad(false);
  }
}

HardHalting hard_halting(const ModelSpec& spec, Size size, int64_t images, bool noise) {
  HardHalting hard{/*threshold=*/-1.5, /*steepness=*/4};
  if (noise) {
    hard.noise = torch::randn({images, HardHalting::draws(spec, size)}).to(torch::kCUDA);
  }
  return hard;
}

enum class Hard { kNo, kPlain, kNoisy };

/// Everything a step of training computes: outputs, gradients of all parameters, moving averages.
std::map<std::string, torch::Tensor> training_results(const ModelSpec& spec, uint64_t seed,
                                                      bool fused, torch::ScalarType type,
                                                      double slope_floor = 0,
                                                      Hard halting = Hard::kNo) {
  Network network = test::random_network(spec, seed);
  network->to(torch::Device(torch::kCUDA));
  torch::Tensor images = test::random_images(6, 72, 56, seed + 1).to(torch::kCUDA);
  if (type == torch::kFloat64) {
    network->to(type);
    images = images.to(type);
  }
  to_channels_last(*network);
  network->train();
  network->use_fused_blocks(fused);
  network->set_halting_slope_floor(slope_floor);
  torch::manual_seed(seed + 2);
  const HardHalting hard = hard_halting(spec, {72, 56}, 6, halting == Hard::kNoisy);
  ForwardOptions options;
  if (halting != Hard::kNo) {
    prepare_for_hard_halting(network);
    options.hard = &hard;
  }
  NetworkOutput output;
  {
    Autocast autocast(type == torch::kBFloat16);
    output = network->forward(images.contiguous(torch::MemoryFormat::ChannelsLast), options);
  }
  if (halting != Hard::kNo) {
    const std::string made_by = output.blocks.front().features.grad_fn()->name();
    EXPECT_EQ(made_by.find("Lerp") == std::string::npos, fused) << made_by;
  }
  const torch::Tensor targets = torch::arange(6, torch::kInt64).to(torch::kCUDA);
  const auto loss_type = type == torch::kFloat64 ? type : torch::kFloat32;
  (torch::cross_entropy_loss(output.logits.to(loss_type), targets) + 0.1 * ponder_penalty(output))
      .backward();
  std::map<std::string, torch::Tensor> results;
  results["logits"] = output.logits.detach();
  for (size_t block = 0; block < output.blocks.size(); ++block) {
    results["units " + std::to_string(block)] = output.blocks[block].units;
    results["cost " + std::to_string(block)] = output.blocks[block].ponder_cost.detach();
  }
  for (auto& parameter : network->named_parameters()) {
    if (!parameter.value().requires_grad()) continue;
    results["gradient of " + parameter.key()] = parameter.value().grad();
  }
  for (auto& buffer : network->named_buffers()) {
    if (buffer.value().is_floating_point()) results[buffer.key()] = buffer.value();
  }
  for (auto& [name, value] : results) value = value.to(torch::kCPU, torch::kFloat64);
  return results;
}

/// Errors of the plain and of the fused operations. Rounding may carry a value over the kink of a
/// rectifier, which changes all gradients below it, in either of the two: medians are compared.
struct Errors {
  std::vector<double> plain;
  std::vector<double> fused;

  static double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + ptrdiff_t(values.size() / 2), values.end());
    return values[values.size() / 2];
  }

  static double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
  }
};

TEST_F(Cuda, FusedBlocksAreAsExactAsPlainOperations) {
  struct Case {
    Halting halting;
    UnitKind unit;
    int width;  // also more channels than one block of threads takes
  };
  for (const auto& [halting, unit, width] : {Case{Halting::kAct, UnitKind::kBottleneck, 4},
                                             Case{Halting::kAct, UnitKind::kBottleneck, 72},
                                             Case{Halting::kSact, UnitKind::kBottleneck, 4},
                                             Case{Halting::kSact, UnitKind::kBottleneck, 24},
                                             Case{Halting::kSact, UnitKind::kBottleneck, 72},
                                             Case{Halting::kAct, UnitKind::kBottleneckV1, 24},
                                             Case{Halting::kSact, UnitKind::kBottleneckV1, 24},
                                             Case{Halting::kSact, UnitKind::kBottleneckV1, 72},
                                             Case{Halting::kSact, UnitKind::kBasicV1, 24}}) {
    SCOPED_TRACE(fmt::format("{} {} {}", name_of(halting), name_of(unit), width));
    ModelSpec spec = test::tiny_spec(halting, {3, 5, 2});
    spec.unit = unit;
    spec.width = width;
    std::map<std::string, Errors> errors;
    double variety = 0;
    for (uint64_t seed = 71; seed < 76; ++seed) {
      const auto exact = training_results(spec, seed, false, torch::kFloat64);
      const auto plain = training_results(spec, seed, false, torch::kFloat32);
      const auto fused = training_results(spec, seed, true, torch::kFloat32);
      ASSERT_EQ(fused.size(), exact.size());
      for (const auto& [name, value] : exact) {
        ASSERT_TRUE(fused.count(name)) << name;
        if (name.starts_with("units")) {
          EXPECT_TRUE(torch::equal(fused.at(name), value)) << name;
          variety += value.std().item<double>();
          continue;
        }
        errors[name].plain.push_back(relative_difference(plain.at(name), value));
        errors[name].fused.push_back(relative_difference(fused.at(name), value));
      }
    }
    // The fused scores differ from the plain ones by some 1e-5, because norms are folded into
    // weights; among a million rectifiers that moves a few over their kink, and each changes the
    // gradients below it by some 1e-3. A wrong formula changes them by far more.
    for (const auto& [name, of] : errors) {
      const double tolerance = name.starts_with("gradient") ? 5e-3 : 1e-4;
      EXPECT_LT(Errors::median(of.fused), 4 * Errors::median(of.plain) + tolerance) << name;
    }
    EXPECT_GT(variety, 0) << "all positions halt alike: a weak test";
  }
}

TEST_F(Cuda, FusedHardBlocksAreAsExactAsPlainOperations) {
  struct Case {
    UnitKind unit;
    int width;
    Hard halting;
  };
  for (const auto& [unit, width, halting] :
       {Case{UnitKind::kBottleneck, 4, Hard::kPlain}, Case{UnitKind::kBottleneck, 4, Hard::kNoisy},
        Case{UnitKind::kBottleneck, 24, Hard::kPlain},
        Case{UnitKind::kBottleneck, 72, Hard::kNoisy},
        Case{UnitKind::kBottleneckV1, 4, Hard::kPlain},
        Case{UnitKind::kBottleneckV1, 24, Hard::kNoisy},
        Case{UnitKind::kBottleneckV1, 72, Hard::kPlain},
        Case{UnitKind::kBasicV1, 24, Hard::kNoisy}}) {
    SCOPED_TRACE(fmt::format("{} {} {}", name_of(unit), width, int(halting)));
    ModelSpec spec = test::tiny_spec(Halting::kSact, {3, 5, 2});
    spec.unit = unit;
    spec.width = width;
    std::map<std::string, Errors> errors;
    std::vector<double> unlike;
    double variety = 0;
    for (uint64_t seed = 151; seed < 156; ++seed) {
      const auto exact = training_results(spec, seed, false, torch::kFloat64, 0, halting);
      const auto plain = training_results(spec, seed, false, torch::kFloat32, 0, halting);
      const auto fused = training_results(spec, seed, true, torch::kFloat32, 0, halting);
      ASSERT_EQ(fused.size(), exact.size());
      for (const auto& [name, value] : exact) {
        ASSERT_TRUE(fused.count(name)) << name;
        if (name.starts_with("units")) {
          unlike.push_back(fused.at(name).ne(value).to(torch::kFloat64).mean().item<double>());
          variety += value.std().item<double>();
        }
        errors[name].plain.push_back(relative_difference(plain.at(name), value));
        errors[name].fused.push_back(relative_difference(fused.at(name), value));
      }
    }
    // Rounding may turn a decision in either of the two, and carry a value over a rectifier's kink.
    EXPECT_EQ(Errors::median(unlike), 0);
    for (const auto& [name, of] : errors) {
      const double tolerance = name.starts_with("gradient") ? 5e-3 : 1e-4;
      EXPECT_LT(Errors::median(of.fused), 4 * Errors::median(of.plain) + tolerance) << name;
    }
    EXPECT_GT(variety / double(unlike.size()), 0.1) << "most positions halt alike: a weak test";
  }
}

TEST_F(Cuda, FusedBlocksKeepUpSlopesAsPlainOperationsDo) {
  for (Halting halting : {Halting::kAct, Halting::kSact}) {
    ModelSpec spec = test::tiny_spec(halting, {3, 5, 2});
    spec.width = 24;
    std::vector<double> errors, changes;
    for (uint64_t seed = 111; seed < 116; ++seed) {
      const double floor = 0.2;  // above the slopes of most scores
      const auto exact = training_results(spec, seed, false, torch::kFloat64, floor);
      const auto fused = training_results(spec, seed, true, torch::kFloat32, floor);
      const auto without = training_results(spec, seed, true, torch::kFloat32);
      for (const auto& [name, value] : exact) {
        if (!name.starts_with("gradient") || name.find("halting") == name.npos) continue;
        errors.push_back(relative_difference(fused.at(name), value));
        changes.push_back(relative_difference(without.at(name), value));
      }
    }
    EXPECT_LT(Errors::median(errors), 1e-2);
    EXPECT_GT(Errors::median(changes), 0.1);
  }
}

TEST_F(Cuda, FusedBlocksHaveTheFloorUnderScoresThatPlainOperationsHave) {
  for (Halting halting : {Halting::kAct, Halting::kSact}) {
    ModelSpec spec = test::tiny_spec(halting, {3, 5, 2});
    spec.width = 24;
    spec.score_floor = 0.3;
    std::vector<double> errors, changes;
    for (uint64_t seed = 131; seed < 136; ++seed) {
      const double slope_floor = 0.1;
      const auto exact = training_results(spec, seed, false, torch::kFloat64, slope_floor);
      const auto fused = training_results(spec, seed, true, torch::kFloat32, slope_floor);
      ModelSpec unfloored = spec;
      unfloored.score_floor = 0;
      const auto without = training_results(unfloored, seed, true, torch::kFloat32, slope_floor);
      for (const auto& [name, value] : exact) {
        if (name.starts_with("units")) {
          EXPECT_TRUE(torch::equal(fused.at(name), value)) << name;
        }
        if (!name.starts_with("gradient") || name.find("halting") == name.npos) continue;
        errors.push_back(relative_difference(fused.at(name), value));
        changes.push_back(relative_difference(without.at(name), value));
      }
    }
    EXPECT_LT(Errors::median(errors), 1e-2);
    EXPECT_GT(Errors::median(changes), 0.1);
  }
}

TEST_F(Cuda, FusedBlocksKeepScoresBelowTheFloorAtZero) {
  ModelSpec spec = test::tiny_spec(Halting::kSact, {3, 4});
  spec.width = 24;
  spec.score_floor = 0.9999;  // most scores of such a network are below it, some above
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    const auto fused = training_results(spec, 141, true, type);
    const auto plain = training_results(spec, 141, false, type);
    const bool whole = type == torch::kFloat32;
    EXPECT_LT(relative_difference(fused.at("logits"), plain.at("logits")), whole ? 1e-5 : 0.02);
    for (size_t block = 0; block < 2; ++block) {
      const std::string of_block = std::to_string(block);
      const auto& cost = fused.at("cost " + of_block);
      EXPECT_LT(relative_difference(cost, plain.at("cost " + of_block)), whole ? 1e-3 : 0.05);
      if (whole) {
        EXPECT_TRUE(torch::equal(fused.at("units " + of_block), plain.at("units " + of_block)));
      }
      // All of its units and a remainder of 1: no score has reached the floor.
      const auto through =
          (cost == spec.units[block] + 1).to(torch::kFloat32).mean().item<double>();
      EXPECT_GT(through, 0.2);
      EXPECT_LT(through, 1.0);
    }
  }
}

TEST_F(Cuda, FusedBlocksInHalfPrecisionAreAsExactAsPlainOperations) {
  ModelSpec spec = test::tiny_spec(Halting::kSact, {3, 5, 2});
  spec.width = 32;
  // A position near the threshold may halt elsewhere in 8 bits, so that single tensors differ:
  // the errors of many networks are compared.
  std::map<std::string, Errors> errors;
  for (uint64_t seed = 91; seed < 103; ++seed) {
    const auto exact = training_results(spec, seed, false, torch::kFloat64);
    const auto plain = training_results(spec, seed, false, torch::kBFloat16);
    const auto fused = training_results(spec, seed, true, torch::kBFloat16);
    for (const auto& [name, value] : exact) {
      std::string kind = name.starts_with("gradient") ? "gradients" : name.substr(0, 4);
      if (name.find("halting") != std::string::npos) kind = "halting " + kind;
      errors[kind].plain.push_back(relative_difference(plain.at(name), value));
      errors[kind].fused.push_back(relative_difference(fused.at(name), value));
    }
  }
  for (const auto& [kind, of] : errors) {
    EXPECT_LT(Errors::median(of.fused), 1.2 * Errors::median(of.plain) + 1e-3) << kind;
  }
}

TEST_F(Cuda, FusedHardBlocksInHalfPrecisionAreAsExactAsPlainOperations) {
  for (const UnitKind unit : {UnitKind::kBottleneck, UnitKind::kBottleneckV1}) {
    SCOPED_TRACE(name_of(unit));
    ModelSpec spec = test::tiny_spec(Halting::kSact, {3, 5, 2});
    spec.unit = unit;
    spec.width = 32;
    std::map<std::string, Errors> errors;
    for (uint64_t seed = 161; seed < 173; ++seed) {
      const auto exact = training_results(spec, seed, false, torch::kFloat64, 0, Hard::kNoisy);
      const auto plain = training_results(spec, seed, false, torch::kBFloat16, 0, Hard::kNoisy);
      const auto fused = training_results(spec, seed, true, torch::kBFloat16, 0, Hard::kNoisy);
      for (const auto& [name, value] : exact) {
        std::string kind = name.starts_with("gradient") ? "gradients" : name.substr(0, 4);
        if (name.find("halting") != std::string::npos) kind = "halting " + kind;
        errors[kind].plain.push_back(relative_difference(plain.at(name), value));
        errors[kind].fused.push_back(relative_difference(fused.at(name), value));
      }
    }
    for (const auto& [kind, of] : errors) {
      // Whether a position halts is yes or no. In the median network none or one differs, so counts
      // are compared by their mean.
      const bool counts = kind == "cost" || kind == "unit";
      const double fused = counts ? Errors::mean(of.fused) : Errors::median(of.fused);
      const double plain = counts ? Errors::mean(of.plain) : Errors::median(of.plain);
      EXPECT_LT(fused, (counts ? 1.5 : 1.2) * plain + 1e-3) << kind;
    }
  }
}

TEST_F(Cuda, RecordedStepsTrainLikeSingleLaunches) {
  for (Halting halting : {Halting::kNone, Halting::kSact}) {
    auto train_some = [&](bool graph) {
      Network network = test::random_network(test::tiny_spec(halting), 81);
      network->to(torch::Device(torch::kCUDA));
      network->train();
      Sgd sgd(network->named_parameters(), {});
      TrainingStep step(network, {.tau = 0.01, .graph = graph});
      EpochSums sums({}, 4, size_t(network->spec().blocks()), torch::kCUDA);
      for (uint64_t i = 0; i < 10; ++i) {
        const int count = i == 6 ? 3 : 4;  // a batch of another size between replays
        const torch::Tensor images = test::random_images(count, 48, 48, 82 + i).to(torch::kCUDA);
        const torch::Tensor labels = ((torch::arange(count) + int64_t(i)) % 6).to(torch::kCUDA);
        step.set_tau(i < 5 ? 0.01 : 0.1);
        sgd.zero_gradients();
        const StepResult result = step.run(images, labels);
        sgd.step(i < 6 ? 0.01 : 0.001);
        sums.add(result.sums, result.most_units);
      }
      ProcessGroup alone;
      std::vector<torch::Tensor> all = {torch::tensor({float(sums.sums(alone)[kLossSum])})};
      for (auto& tensor : named_tensors(*network)) {
        all.push_back(tensor.value().detach().to(torch::kCPU, torch::kFloat32).flatten());
      }
      return torch::cat(all);
    };
    EXPECT_LT(relative_difference(train_some(true), train_some(false)), 1e-3);
  }
}

TEST_F(Cuda, RecordedStepsAdaptLikeSingleLaunches) {
  for (const UnitKind unit : {UnitKind::kBottleneck, UnitKind::kBottleneckV1}) {
    ModelSpec spec = test::tiny_spec(Halting::kSact);
    spec.unit = unit;
    ModelSpec dense = spec;
    dense.halting = Halting::kNone;
    auto adapt_some = [&](bool graph) {
      Network student = test::random_network(spec, 181), teacher = test::random_network(dense, 182);
      for (Network network : {student, teacher}) {
        network->to(torch::Device(torch::kCUDA));
        to_channels_last(*network);
      }
      student->train();
      prepare_for_hard_halting(student);
      teacher->eval();
      AdaptStepOptions options;
      options.graph = graph;
      options.hard = hard_halting(spec, {48, 48}, 4, false);
      Sgd sgd(student->named_parameters(), {});
      AdaptStep step(student, teacher, FlopsShare(spec, {48, 48}),
                     torch::full({1}, 0.01, torch::dtype(torch::kFloat32).device(torch::kCUDA)),
                     options);
      torch::Tensor sums;
      torch::manual_seed(183);
      for (uint64_t i = 0; i < 10; ++i) {
        const int64_t count = i == 6 ? 3 : 4;  // a batch of another size between replays
        const torch::Tensor images = test::random_images(count, 48, 48, 184 + i).to(torch::kCUDA);
        sgd.zero_gradients();
        const StepResult result = step.run(images, hard_halting(spec, {48, 48}, count, true).noise);
        sgd.step(0.001);
        sums = sums.defined() ? sums + result.sums : result.sums.clone();
      }
      std::vector<torch::Tensor> all = {sums.to(torch::kCPU, torch::kFloat32)};
      for (auto& tensor : named_tensors(*student)) {
        all.push_back(tensor.value().detach().to(torch::kCPU, torch::kFloat32).flatten());
      }
      return torch::cat(all);
    };
    EXPECT_LT(relative_difference(adapt_some(true), adapt_some(false)), 1e-3);
  }
}

TEST_F(Cuda, RecordedPartsLeaveTheGradientsOfPlainWork) {
  // The second parameter is used by inputs of one shape only.
  const torch::Device device(torch::kCUDA, 0);
  const auto made = torch::dtype(torch::kFloat32).device(device);
  auto gradients = [&](bool record) {
    torch::Tensor first = torch::full({1}, 2.0f, made).requires_grad_();
    torch::Tensor second = torch::full({1}, 3.0f, made).requires_grad_();
    // The second input changes from run to run, and is not always there.
    const RecordedPart::Work work =
        [&](const std::vector<torch::Tensor>& inputs) -> std::vector<torch::Tensor> {
      const torch::Tensor& input = inputs[0];
      const torch::Tensor scaled = inputs[1].defined() ? input * first * inputs[1] : input * first;
      return {input.size(0) == 4 ? scaled + second : scaled};
    };
    const auto stream = record ? RecordingStream::create(device) : nullptr;
    const auto part = record ? RecordedPart::create(device, work, {first, second}) : nullptr;
    std::vector<float> found;
    for (const int64_t size : {4, 2, 4, 2, 4, 2, 2, 4, 4, 4, 4}) {
      first.mutable_grad() = second.mutable_grad() = torch::Tensor();
      const bool with_factor = size == 4 && found.size() > 8;
      const std::vector<torch::Tensor> inputs = {
          torch::arange(size, made),
          with_factor ? torch::full({1}, double(found.size()), made) : torch::Tensor()};
      (part ? part->run(inputs) : work(inputs)).front().sum().backward();
      found.push_back(first.grad().item<float>());
      found.push_back(second.grad().defined() ? second.grad().item<float>() : -1);
    }
    return found;
  };
  EXPECT_EQ(gradients(true), gradients(false));
}

}  // namespace
}  // namespace sact::train
