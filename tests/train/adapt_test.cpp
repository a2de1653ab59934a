// Making dense networks adaptive: where it starts, what it changes, how it keeps a budget, and that
// runs go on to the same bits.
#include "train/adapt/task.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/log.h"
#include "model/flops.h"
#include "report/csv.h"
#include "report/pictures.h"
#include "support/errors.h"
#include "support/temporary.h"
#include "train/adapt/dense_start.h"
#include "train/adapt/noise.h"
#include "train/classify/task.h"
#include "train/loop/trainer.h"
#include "train/photograph_files.h"
#include "train/random_network.h"

namespace sact::train {
namespace {

namespace fs = std::filesystem;

class Adapting : public ::testing::Test {
 protected:
  void SetUp() override {
    set_log_level(LogLevel::kWarning);
    test::write_dense(dense_, test::small_dense_spec());
    test::write_photographs(directory_ / "photos", 42);
  }
  void TearDown() override { set_log_level(LogLevel::kInfo); }

  /// 40 photographs to train on and two held out: four steps an epoch.
  TrainRequest request(const std::string& run, const std::vector<std::string>& changes = {}) {
    TrainRequest request;
    request.assignments = {"init=" + dense_.string(),
                           "images=" + (directory_ / "photos").string(),
                           "epochs=2",
                           "batch=10",
                           "samples=1",
                           "workers=1",
                           "optimizer=adam",
                           "rate=0.001",
                           "halting_rate=1000",
                           "weight_decay=0.0001",
                           "clip_norm=0",
                           "budget_ramp=0.3",
                           "brightness=0.1",
                           "contrast=0.2",
                           "saturation=0.2",
                           "hue=0.05"};
    request.assignments.insert(request.assignments.end(), changes.begin(), changes.end());
    request.run = (directory_ / run).string();
    request.threads = 1;
    return request;
  }

  TrainOutcome adapt(const TrainRequest& request) {
    task_ = std::make_unique<AdaptTask>();
    return run_training(*task_, request);
  }

  report::CsvColumns log(const std::string& run) {
    return report::read_csv(directory_ / (run + "/log.csv"));
  }

  std::string bytes_of(const std::string& file) {
    std::ifstream stream(directory_ / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  test::TemporaryDirectory directory_;
  const fs::path dense_ = directory_ / "dense.safetensors";
  std::unique_ptr<AdaptTask> task_;
};

TEST_F(Adapting, BeginsAsTheDenseNetworkToTheLastBit) {
  for (const UnitKind unit : {UnitKind::kBottleneckV1, UnitKind::kBottleneck}) {
    for (const auto& [halting, scores] : {std::pair{"halting=sact", "scores=soft"},
                                          {"halting=act", "scores=soft"},
                                          {"halting=sact", "scores=hard"},
                                          {"halting=act", "scores=hard"}}) {
      const std::string run = fmt::format("{} {} {}", name_of(unit), halting, scores);
      SCOPED_TRACE(run);
      test::write_dense(dense_, test::small_dense_spec(unit));
      adapt(request(run, {halting, scores, "halting_noise=0", "rate=0", "epochs=1"}));
      EXPECT_EQ(task_->last_evaluation().divergence, 0);
      EXPECT_EQ(task_->last_evaluation().student.accuracy, 1) << "agreement";
      EXPECT_EQ(log(run).find("train_kl")->front(), 0);
      EXPECT_EQ(log(run).find("train_features")->front(), 0);
      const double share = task_->last_evaluation().share.mean;
      const ModelSpec& spec = task_->network()->spec();
      const double dense = double(dense_flops(spec, {32, 32}));
      EXPECT_NEAR(share, 1 + double(halting_flops(spec, {32, 32})) / dense, 1e-9);
      EXPECT_NEAR(log(run).find("train_share")->front(), share, 1e-6) << "nothing halts anywhere";
    }
  }
}

TEST_F(Adapting, BeginsNearTheDenseNetworkWithoutAFloor) {
  adapt(request("a", {"scores=soft", "score_floor=0", "rate=0", "epochs=1"}));
  EXPECT_GT(task_->last_evaluation().divergence, 0);
  EXPECT_LT(task_->last_evaluation().divergence, 0.5);
}

TEST_F(Adapting, RunFolderHasEverything) {
  const TrainOutcome result = adapt(request("a"));
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.steps, 8);
  for (const char* file : {"settings.json", "log.csv", "curves.svg", "summary.html", "events",
                           "best.safetensors", "last.safetensors", "checkpoint.safetensors"}) {
    EXPECT_TRUE(fs::exists(directory_ / ("a/" + std::string(file)))) << file;
  }
  EXPECT_EQ(fs::exists(directory_ / "a/samples/epoch-0002.png"), report::can_draw_pictures());
  const ModelFile model(directory_ / "a/best.safetensors");
  EXPECT_EQ(model.spec().halting, Halting::kSact);
  EXPECT_EQ(model.spec().score_floor, 0.05);
  EXPECT_EQ(model.spec().labels, test::small_dense_spec().labels);
  EXPECT_EQ(result.score, log("a").find("val_agreement")->back());
}

TEST_F(Adapting, LearnsToBeTheDenseNetworkAgain) {
  // Half of the units are skipped at first.
  adapt(request("a", {"score_floor=0", "halting_bias=0", "tau=0", "epochs=8"}));
  const std::vector<double> divergences = *log("a").find("train_kl");
  EXPECT_LT(divergences.back(), 0.5 * divergences.front());
  EXPECT_LT(log("a").find("train_features")->back(), log("a").find("train_features")->front());
}

TEST_F(Adapting, ComesToTakeTheShareOfFlopsThatWasAskedFor) {
  // Blocks of three units leave it few choices: it comes at least half of the way.
  adapt(request("a", {"budget=0.85", "epochs=40", "eval_every=40", "halting_rate=50"}));
  const std::vector<double> shares = *log("a").find("train_share");
  EXPECT_GT(shares.front(), 1.05);
  EXPECT_LT(shares.back(), (shares.front() + 0.85) / 2);
  EXPECT_GT(shares.back(), 0.7);
  EXPECT_GT(log("a").find("tau")->at(10), 0.02) << "what it began with";
}

TEST_F(Adapting, AHaltingNetworkOnTheDenseOneLeavesTheRestAsItIs) {
  adapt(request("a", {"train=halting", "tau=0.5", "epochs=4", "halting_rate=500"}));
  const ModelFile dense(dense_), adapted(directory_ / "a/last.safetensors");
  for (const WeightInfo& weight : weight_list(dense.spec())) {
    EXPECT_EQ(adapted.values(weight), dense.values(weight)) << weight.name;
  }
  EXPECT_LT(log("a").find("train_share")->back(), log("a").find("train_share")->front());
}

TEST_F(Adapting, FrozenNormsKeepTheirAveragesAndOthersFollowTheBatches) {
  const ModelFile dense(dense_);
  for (const char* norms : {"frozen", "train"}) {
    SCOPED_TRACE(norms);
    adapt(request(norms, {fmt::format("norms={}", norms)}));
    const ModelFile adapted(directory_ / fmt::format("{}/last.safetensors", norms));
    for (const WeightInfo& weight : weight_list(dense.spec())) {
      const bool average =
          weight.role == WeightRole::kNormMean || weight.role == WeightRole::kNormVariance;
      const bool stays = average && std::string_view(norms) == "frozen";
      EXPECT_EQ(adapted.values(weight) == dense.values(weight), stays) << weight.name;
    }
  }
}

TEST_F(Adapting, HardHaltingSavesWorkAndEndsAsANetworkThatHaltsAlike) {
  adapt(request("a", {"scores=hard", "optimizer=sgd", "rate=0.01", "halting_rate=30", "tau=0.5",
                      "epochs=8", "halting_bias=-1"}));
  const std::vector<double> shares = *log("a").find("train_share");
  EXPECT_LT(shares.back(), shares.front() - 0.03);
  EXPECT_NEAR(task_->last_evaluation().share.mean, shares.back(), 0.1)
      << "as it runs, against the end of training";
  EXPECT_LT(task_->last_evaluation().divergence, 0.5);
}

TEST_F(Adapting, GoesOnFromTheAdaptiveNetworkOfAnEarlierRun) {
  for (const char* scores : {"scores=soft", "scores=hard"}) {
    SCOPED_TRACE(scores);
    const std::string first = fmt::format("first {}", scores),
                      next = fmt::format("next {}", scores);
    adapt(request(first, {scores, "epochs=1", "halting_bias=6"}));
    const AdaptEvaluation reached = task_->last_evaluation();
    const std::string start = "start=" + (directory_ / first / "last.safetensors").string();
    adapt(request(next, {scores, start, "rate=0", "epochs=1"}));
    EXPECT_EQ(task_->last_evaluation().divergence, reached.divergence);
    EXPECT_EQ(task_->last_evaluation().share.mean, reached.share.mean);
    // The budget falls from what the network takes, not from all FLOPs: tau has no reason to move.
    const std::string lower = fmt::format("lower {}", scores);
    adapt(request(lower, {scores, start, "rate=0", "epochs=1", "budget_ramp=1", "tau=0.1",
                          "halting_noise=0", fmt::format("budget={}", reached.share.mean)}));
    EXPECT_NEAR(log(lower).find("tau")->front(), 0.1, 0.05);
    EXPECT_LT(reached.share.mean, 0.95) << "where it would";
  }
  const std::string start = "start=" + (directory_ / "first scores=soft/last.safetensors").string();
  for (const char* other : {"score_floor=0", "epsilon=0.1", "halting=act", "tile=2"}) {
    const std::string message = test::error_of([&] { adapt(request("other", {start, other})); });
    EXPECT_NE(message.find("does not halt as the network of this run"), std::string::npos)
        << message;
    EXPECT_FALSE(fs::exists(directory_ / "other"));
  }
}

TEST_F(Adapting, InterruptedAtAnyStepResumesToTheSameBits) {
  const std::vector<std::string> steered = {"budget=0.7", "steering=2", "cache=none"};
  std::vector<std::string> hard = steered;
  hard.insert(hard.end(), {"scores=hard", "halting_bias=-1"});
  adapt(request("whole", steered));
  adapt(request("whole hard", hard));
  for (int stop : {1, 2, 4, 5, 7, -3}) {  // below 0: with hard scores
    SCOPED_TRACE(stop);
    const std::string run = "stopped" + std::to_string(stop);
    const std::string whole = stop < 0 ? "whole hard" : "whole";
    const std::string expected = bytes_of(whole + "/last.safetensors");
    TrainRequest first = request(run, stop < 0 ? hard : steered);
    int steps = 0;
    first.interrupted = [&] { return ++steps >= std::abs(stop); };
    EXPECT_FALSE(adapt(first).finished);
    TrainRequest rest;  // all of its settings are those of the run
    rest.run = first.run;
    rest.threads = 1;
    EXPECT_TRUE(adapt(rest).finished);
    EXPECT_EQ(bytes_of(run + "/last.safetensors"), expected);
    EXPECT_EQ(*log(run).find("tau"), *log(whole).find("tau"));
    EXPECT_EQ(*log(run).find("train_kl"), *log(whole).find("train_kl"));
  }
}

TEST_F(Adapting, AccuracyIsMeasuredWhereThereAreLabels) {
  const auto set = data::open_dataset("synthetic:size=40,count=12,val=1", "train");
  for (int64_t i = 0; i < set->size(); ++i) {
    const fs::path folder = directory_ / (i % 2 ? "labelled/val/star" : "labelled/val/Ring");
    fs::create_directories(folder);
    io::write_image(folder / (std::to_string(i) + ".png"), set->load(i).image);
  }
  const std::string data = "val_data=" + (directory_ / "labelled").string();
  adapt(request("a", {data, "rate=0", "epochs=1"}));
  const double accuracy = log("a").find("val_accuracy")->back();
  EXPECT_TRUE(accuracy >= 0 && accuracy <= 1) << accuracy;
  fs::rename(directory_ / "labelled/val/star", directory_ / "labelled/val/moon");
  EXPECT_NE(test::error_of([&] { adapt(request("b", {data})); }).find("moon"), std::string::npos);
}

TEST_F(Adapting, OtherPhotographsCanBeEvaluatedOn) {
  test::write_photographs(directory_ / "others", 5);
  adapt(request("a", {"val=" + (directory_ / "others").string(), "epochs=1"}));
  EXPECT_EQ(task_->last_evaluation().student.images, 5);
}

TEST_F(Adapting, AnUnreadablePhotographIsLeftOut) {
  std::ofstream(directory_ / "photos/7.png") << "This is no picture.\n";
  EXPECT_TRUE(adapt(request("a", {"max_corrupt=0.1", "epochs=1"})).finished);
  EXPECT_NE(test::error_of([&] { adapt(request("b", {"max_corrupt=0"})); }).find("7.png"),
            std::string::npos);
}

TEST_F(Adapting, MistakesAreNamedBeforeThereIsARun) {
  auto refused = [&](const std::vector<std::string>& changes) {
    const std::string message = test::error_of([&] { adapt(request("run", changes)); });
    EXPECT_FALSE(fs::exists(directory_ / "run")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  };
  const fs::path other = directory_ / "other.safetensors";
  const std::string init = "init=" + other.string();
  ModelSpec spec = test::small_dense_spec();
  spec.halting = Halting::kSact;
  test::write_dense(other, spec);
  EXPECT_NE(refused({init}).find("is adaptive already (sact)"), std::string::npos);
  spec = test::small_dense_spec(UnitKind::kBasic);
  spec.units = {1, 1, 1};
  test::write_dense(other, spec);
  EXPECT_NE(refused({init}).find("one unit each"), std::string::npos);
  spec.detection.emplace();
  test::write_dense(other, spec);
  EXPECT_NE(refused({init}).find("is a detector"), std::string::npos);
  EXPECT_NE(refused({"init="}).find("'init' is missing"), std::string::npos);
  EXPECT_NE(refused({"images="}).find("'images' is missing"), std::string::npos);
  EXPECT_NE(refused({"images=nowhere"}).find("nowhere: there is no such folder"),
            std::string::npos);
  EXPECT_NE(refused({"batch=41"}).find("do not fill"), std::string::npos);
  EXPECT_NE(refused({"budget=1.2"}).find("'budget'"), std::string::npos);
  EXPECT_NE(refused({"budget=0.5", "tau=0"}).find("'tau'"), std::string::npos);
  EXPECT_NE(refused({"halting=none"}).find("'halting'"), std::string::npos);
  EXPECT_NE(refused({"train=halting", "norms=train"}).find("'norms'"), std::string::npos);
}

TEST_F(Adapting, ARunOfAnotherCommandIsNotGoneOnWith) {
  adapt(request("a", {"epochs=1"}));
  const std::string message = test::error_of([&] {
    ClassifierTask other;
    TrainRequest rest;
    rest.run = (directory_ / "a").string();
    run_training(other, rest);
  });
  EXPECT_NE(message.find("holds a run of 'sact adapt'"), std::string::npos) << message;
}

TEST(AdaptScore, PrefersLikenessWithinTheBudgetAndNearnessBeyondIt) {
  auto score = [](double divergence, double share) {
    AdaptEvaluation evaluation;
    evaluation.divergence = divergence;
    evaluation.share.mean = share;
    return adapt_score(evaluation, 0.8);
  };
  EXPECT_GT(score(0.1, 0.81), score(0.2, 0.70));
  EXPECT_GT(score(5, 0.8), score(0, 0.83)) << "beyond it";
  EXPECT_GT(score(5, 0.85), score(0, 0.95));
  EXPECT_GE(score(1e9, 3), 0) << "below 0 there would be nothing to evaluate";
}

TEST(Steering, WeighsMoreAboveTheBudgetAndLessBelowItWithinItsBounds) {
  Steering steering(SteeringOptions{0.1, 0.01, 0.2});
  auto tau_after = [&](double share, int steps, bool first = false) {
    for (int i = 0; i < steps; ++i) {
      steering->share().fill_(share);
      steering->update(0.8, first && i == 0);
    }
    return steering->tau().item<float>();
  };
  const float one = tau_after(0.9, 1, /*first=*/true);
  EXPECT_NEAR(one, 0.01 * std::exp(0.1 * 0.1 + 10 * 0.1), 1e-6);
  EXPECT_GT(tau_after(0.9, 10), one);
  EXPECT_NEAR(tau_after(1.0, 1000), 0.2, 1e-6) << "its bound";
  const float bound = tau_after(0.8, 200);
  EXPECT_NEAR(bound, 0.2, 1e-3) << "what held the budget stays";
  EXPECT_LT(tau_after(0.7, 50), 0.3 * bound);
  EXPECT_GT(tau_after(0.1, 10000), 0);
}

TEST(FlopsShare, IsThatOfTheImages) {
  for (const UnitKind unit : {UnitKind::kBottleneckV1, UnitKind::kBasic}) {
    ModelSpec spec = test::tiny_spec(Halting::kSact, {3, 4, 1});
    spec.unit = unit;
    const Size size{64, 96};
    torch::NoGradGuard no_grad;
    Network network = test::random_network(spec, 9);
    const NetworkOutput output = network->forward(test::random_images(3, 64, 96, 1));
    double sum = 0;
    for (const int64_t flops : test::image_flops(spec, output, size)) sum += double(flops);
    const double dense = double(dense_flops(spec, size));
    ASSERT_LT(sum / 3, 0.95 * (dense + double(halting_flops(spec, size)))) << "some halt";
    EXPECT_NEAR(FlopsShare(spec, size).of(output.blocks).item<double>(), sum / 3 / dense, 1e-6);
  }
}

TEST(FlopsShare, WeighsPonderCostsByWhatUnitsTake) {
  ModelSpec spec = test::tiny_spec(Halting::kSact, {3, 4});
  torch::NoGradGuard no_grad;
  Network network = test::random_network(spec, 9);
  const Size size{64, 64};
  const NetworkOutput output = network->forward(test::random_images(2, 64, 64, 1));
  // Half the positions, twice the channels: a unit costs the same in both blocks.
  EXPECT_NEAR(FlopsShare(spec, size).ponder_cost(output.blocks).item<double>(),
              ponder_penalty(output).item<double>(), 1e-5);
}

TEST(HaltingNorms, AreMeasuredOnWhatTheySee) {
  ModelSpec spec = test::small_dense_spec();
  spec.halting = Halting::kSact;
  Network network = test::random_network(spec, 4);
  network->freeze_norms();
  const torch::Tensor images = test::random_images(16, 32, 32, 2);
  int given = 0;
  measure_halting_norms(network, [&] { return given++ < 2 ? images : torch::Tensor(); });
  torch::NoGradGuard no_grad;
  const NetworkOutput frozen = network->forward(images, {.early_exit = false});
  // By statistics of the batch itself, the same but for those of samples instead of the whole.
  for (auto& module : network->named_modules()) {
    if (module.key().find(".halting.") == std::string::npos) continue;
    if (auto* norm = module.value()->as<NormImpl>()) {
      norm->frozen = false;
      norm->train();
    }
  }
  const NetworkOutput batch = network->forward(images, {.early_exit = false});
  for (size_t block = 0; block < frozen.blocks.size(); ++block) {
    const torch::Tensor difference =
        (frozen.blocks[block].ponder_cost - batch.blocks[block].ponder_cost).abs();
    EXPECT_LT(difference.median().item<double>(), 0.05);
  }
}

/// The loss of a step as a function of the parameters.
double loss_of(Network student, Network teacher, const torch::Tensor& images, bool backward) {
  NetworkOutput taught;
  {
    torch::NoGradGuard no_grad;
    taught = teacher->forward(images);
  }
  const NetworkOutput output = student->forward(images, {.early_exit = false});
  const torch::Tensor loss = divergence(taught.logits, output.logits, 2) +
                             feature_distance(taught.blocks, output.blocks) +
                             0.1 * ponder_penalty(output);
  if (backward) loss.backward();
  return loss.item<double>();
}

TEST(HardHalting, IsWhatANetworkWithSteepScoresDoesWhenItRuns) {
  torch::NoGradGuard no_grad;
  for (const Halting halting : {Halting::kSact, Halting::kAct}) {
    ModelSpec spec = test::small_dense_spec();
    spec.halting = halting;
    spec.score_floor = 0.05;
    double variety = 0;
    for (uint64_t seed = 30; seed < 40; ++seed) {
      Network network = test::random_network(spec, seed);
      HardHalting hard{HardHalting::threshold_of(spec), /*steepness=*/1e4};
      make_steep(named_tensors(*network), spec, hard.steepness);
      network->eval();
      // Images that differ as a whole, so that their means do too.
      const torch::Tensor images = test::random_images(4, 32, 32, seed + 1) *
                                   torch::tensor({0.2f, 1.0f, 3.0f, 9.0f}).view({4, 1, 1, 1});
      const NetworkOutput steep = network->forward(images);
      const NetworkOutput trained = network->forward(images, {.hard = &hard});
      for (size_t block = 0; block < steep.blocks.size(); ++block) {
        EXPECT_TRUE(torch::equal(steep.blocks[block].units, trained.blocks[block].units)) << block;
        variety += steep.blocks[block].units.std().item<double>();
      }
      EXPECT_LT((steep.logits - trained.logits).abs().max().item<double>(),
                1e-3 * steep.logits.abs().max().item<double>());
    }
    EXPECT_GT(variety, 0) << name_of(halting) << ": all positions halt alike: a weak test";
  }
}

TEST(HardHalting, NoiseMovesSingleScoresAndTheirGradientIsASigmoids) {
  ModelSpec spec = test::small_dense_spec();
  spec.halting = Halting::kSact;
  Network network = test::random_network(spec, 23);
  network->eval();
  const torch::Tensor images = test::random_images(2, 32, 32, 24);
  const int64_t draws = HardHalting::draws(spec, {32, 32});
  HardHalting hard{HardHalting::threshold_of(spec), 100, torch::full({2, draws}, 1e6)};
  for (const BlockOutput& block : network->forward(images, {.hard = &hard}).blocks) {
    EXPECT_TRUE((block.units == 1).all().item<bool>()) << "all stop at once";
  }
  hard.noise = torch::full({2, draws}, -1e6);
  for (const BlockOutput& block : network->forward(images, {.hard = &hard}).blocks) {
    EXPECT_TRUE((block.units == 3).all().item<bool>()) << "none stops";
  }
  const torch::Tensor z = torch::tensor({-2.0, -0.1, 0.3, 4.0}, torch::kFloat64).requires_grad_();
  const torch::Tensor score = hard_score(z);
  EXPECT_TRUE(torch::equal(score.detach(), torch::tensor({0, 0, 1, 1}, torch::kFloat64)));
  score.sum().backward();
  const torch::Tensor s = torch::sigmoid(z.detach());
  EXPECT_TRUE(torch::allclose(z.grad(), s * (1 - s)));
}

TEST(LogisticNoise, HasTheQuantilesOfItsDistributionAndThoseOfItsSeedOnly) {
  const int64_t rows = 100, columns = 1001;  // an odd number of values
  auto drawn = [&](uint64_t key) {
    return logistic_noise(Random::derived(7, key), rows, columns, /*scale=*/2, torch::kCPU);
  };
  const torch::Tensor noise = drawn(1);
  EXPECT_EQ(noise.sizes(), (std::vector<int64_t>{rows, columns}));
  EXPECT_TRUE(noise.isfinite().all().item<bool>());
  for (const double share : {0.001, 0.05, 0.3, 0.5, 0.8, 0.99, 0.999}) {
    const double quantile = 2 * std::log(share / (1 - share));
    const double below = noise.lt(quantile).to(torch::kFloat64).mean().item<double>();
    EXPECT_NEAR(below, share, 5 * std::sqrt(share * (1 - share) / double(rows * columns)));
  }
  EXPECT_TRUE(torch::equal(noise, drawn(1)));
  EXPECT_FALSE(torch::equal(noise, drawn(2)));
  const torch::Tensor flat = noise.flatten();  // neighbours have nothing in common
  const torch::Tensor product = flat.slice(0, 1) * flat.slice(0, 0, -1);
  EXPECT_LT(product.mean().abs().item<double>(), 0.2);
}

TEST(AdaptGradients, OfPostActivationUnitsAreThoseOfFiniteDifferences) {
  ModelSpec spec = test::small_dense_spec();
  Network teacher = test::random_network(spec, 7);
  spec.halting = Halting::kSact;
  Network student = test::random_network(spec, 8);
  teacher->to(torch::kFloat64);
  student->to(torch::kFloat64);
  student->train();
  student->freeze_norms();
  const torch::Tensor images = test::random_images(2, 32, 32, 3).to(torch::kFloat64);
  loss_of(student, teacher, images, /*backward=*/true);
  torch::NoGradGuard no_grad;
  Random random(11);
  for (auto& item : student->named_parameters()) {
    torch::Tensor direction = torch::empty_like(item.value());
    for (int64_t i = 0; i < direction.numel(); ++i) {
      direction.data_ptr<double>()[i] = random.normal();
    }
    const double step = 1e-9;  // no ReLU changes sides on so short a way
    const double slope = (item.value().grad() * direction).sum().item<double>();
    item.value().add_(direction, step);
    const double above = loss_of(student, teacher, images, false);
    item.value().sub_(direction, 2 * step);
    const double below = loss_of(student, teacher, images, false);
    item.value().add_(direction, step);
    EXPECT_NEAR((above - below) / (2 * step), slope, 1e-4 * (1 + std::abs(slope))) << item.key();
  }
}

}  // namespace
}  // namespace sact::train
