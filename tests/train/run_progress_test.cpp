// Time left of a run, lines for logs, and what a run says of itself.
#include "train/loop/run_progress.h"

#include <gtest/gtest.h>

#include "train/loop/banner.h"

namespace sact::train {
namespace {

TEST(RunProgress, TimeLeftIsThatOfAllEpochsFromThePaceSinceTheStart) {
  double now = 1000;
  RunProgress progress({40, 100, 32}, 350, [&] { return now; });
  EXPECT_EQ(progress.epoch_label(), "epoch 4/40");
  EXPECT_EQ(progress.time_left(), "");
  for (int step = 0; step < 50; ++step) progress.advance();
  now += 100;  // 2 s a step, and 3600 steps to go
  EXPECT_EQ(progress.epoch_label(), "epoch 5/40 (run: 2 h 00 min left)");
  EXPECT_EQ(progress.time_left(), ", 2 h 00 min left");
}

TEST(RunProgress, LinesComeByTenthsOfAnEpochButNotTooOftenOrTooSeldom) {
  double now = 0;
  auto steps_of_lines = [&](int64_t steps_per_epoch, double seconds_a_step) {
    RunProgress progress({1, steps_per_epoch, 8}, 0, [&] { return now; });
    std::vector<int64_t> steps;
    for (int64_t step = 1; step <= steps_per_epoch; ++step) {
      now += seconds_a_step;
      if (progress.advance()) steps.push_back(step);
    }
    return steps;
  };
  EXPECT_EQ(steps_of_lines(50, 10).size(), 10u);
  EXPECT_EQ(steps_of_lines(50, 1), (std::vector<int64_t>{30})) << "30 seconds apart";
  EXPECT_EQ(steps_of_lines(100, 100).at(0), 6) << "10 minutes at most";
  EXPECT_TRUE(steps_of_lines(20, 1).empty());
}

TEST(RunProgress, ALineTellsWhereTheEpochIsAndHowFast) {
  double now = 0;
  RunProgress progress({2, 10, 8}, 10, [&] { return now; });
  progress.set_loss(1.25);
  now = 40;
  EXPECT_EQ(progress.advance(),
            "epoch 2/2: 1 of 10 steps, loss 1.2500, 0.2 images/s, 6 min 00 s left");
}

TEST(RunProgress, NoLineFollowsThatOfAnEpochAtOnce) {
  double now = 0;
  RunProgress progress({2, 10, 8}, 0, [&] { return now; });
  for (int step = 0; step < 9; ++step) progress.advance();
  now = 100;
  EXPECT_TRUE(progress.advance());
  now = 200;  // the evaluation
  progress.line_told();
  now = 210;
  EXPECT_FALSE(progress.advance());
  now = 240;
  EXPECT_EQ(progress.advance().value_or("").find("epoch 2/2: 2 of 10 steps, 0.4 images/s"), 0u);
}

TEST(Banner, TellsDataNetworkMachineAndStart) {
  RunFacts facts;
  facts.run = "runs/a";
  facts.data = "photos";
  facts.train_images = 900;
  facts.val_images = 100;
  facts.spec.units = {3, 4, 6, 3};
  facts.spec.classes = 10;
  facts.spec.halting = Halting::kSact;
  facts.spec.input.size = 224;
  facts.epochs = 40;
  facts.steps_per_epoch = 28;
  facts.batch = 32;
  facts.device = "cpu";
  facts.precision = "fp32";
  facts.threads = 2;
  facts.workers = 4;
  facts.seed = 7;
  auto lines = banner(facts);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "data     photos: 900 images for training, 100 for validation, 10 classes");
  EXPECT_TRUE(lines[1].starts_with(
      "network  sact network of depth 50 (bottleneck units 3,4,6,3, width 64), 23 "))
      << lines[1];
  EXPECT_NE(lines[1].find("GFLOP at 224×224 where nothing halts"), std::string::npos) << lines[1];
  EXPECT_EQ(lines[2], "run      40 epochs of 28 steps, 32 images each");
  EXPECT_EQ(lines[3], "machine  cpu, fp32, 2 threads, 4 for decoding");
  EXPECT_EQ(lines[4], "starting runs/a with fresh weights (seed 7)");
  facts.init = "plain.safetensors";
  EXPECT_EQ(banner(facts)[4], "starting runs/a with the weights of plain.safetensors");
  facts.epoch = 2;
  facts.step = 60;
  EXPECT_EQ(banner(facts)[4], "resuming runs/a at epoch 3, step 60");
}

}  // namespace
}  // namespace sact::train
