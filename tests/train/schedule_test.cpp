// The learning rate and the weight of the ponder cost over a run.
#include "train/loop/schedule.h"

#include <gtest/gtest.h>

#include "train/classify/settings.h"
#include "train/detect/settings.h"

namespace sact::train {
namespace {

TEST(Schedule, StepsDropByTheirFactor) {
  TrainSettings settings;
  settings.rate = 1;
  EXPECT_DOUBLE_EQ(learning_rate(rate_schedule(settings, 10), 0), 1);
  EXPECT_DOUBLE_EQ(learning_rate(rate_schedule(settings, 10), 299), 1);
  EXPECT_NEAR(learning_rate(rate_schedule(settings, 10), 300), 0.1, 1e-12);
  EXPECT_NEAR(learning_rate(rate_schedule(settings, 10), 600), 0.01, 1e-12);
}

TEST(Schedule, CosineWithWarmUp) {
  TrainSettings settings;
  settings.rate = 1;
  settings.schedule = "cosine";
  settings.epochs = 12;
  settings.warmup_epochs = 2;
  EXPECT_DOUBLE_EQ(learning_rate(rate_schedule(settings, 10), 0), 1.0 / 20);
  EXPECT_DOUBLE_EQ(learning_rate(rate_schedule(settings, 10), 19), 1);
  EXPECT_DOUBLE_EQ(learning_rate(rate_schedule(settings, 10), 20), 1);
  EXPECT_NEAR(learning_rate(rate_schedule(settings, 10), 70), 0.5, 1e-12);
  EXPECT_NEAR(learning_rate(rate_schedule(settings, 10), 119), 0, 1e-3);
}

TEST(Schedule, WarmUpNeverRisesAboveTheRate) {
  TrainSettings settings;
  settings.rate = 0.4;
  settings.warmup_epochs = 0.25;  // two and a half steps
  const RateSchedule schedule = rate_schedule(settings, 10);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 0.4 * 1 / 2.5);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 1), 0.4 * 2 / 2.5);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 2), 0.4);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 3), 0.4);
  DetectionSettings detection;
  detection.rate = 0.4;
  detection.warmup_steps = 0.5;
  EXPECT_DOUBLE_EQ(learning_rate(rate_schedule(detection, 10), 0), 0.4);
}

TEST(Schedule, ADetectorsRateDropsAtSharesOfTheRun) {
  DetectionSettings settings;
  settings.rate = 1;
  settings.drops = {0.5, 0.8};
  settings.warmup_steps = 2;
  const RateSchedule schedule = rate_schedule(settings, 10);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 4), 1);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 5), 0.1);
  EXPECT_NEAR(learning_rate(schedule, 8), 0.01, 1e-12);
  settings.schedule = "cosine";
  EXPECT_NEAR(learning_rate(rate_schedule(settings, 10), 5), 0.5, 1e-12);
}

TEST(Schedule, TauRisesFromZeroAndStays) {
  TrainSettings settings;
  settings.tau = 0.01;
  EXPECT_DOUBLE_EQ(ponder_weight(settings, 0, 10), 0.01) << "without a warm-up";
  settings.tau_warmup_epochs = 2;
  EXPECT_DOUBLE_EQ(ponder_weight(settings, 0, 10), 0);
  EXPECT_DOUBLE_EQ(ponder_weight(settings, 15, 10), 0.0075);
  EXPECT_DOUBLE_EQ(ponder_weight(settings, 20, 10), 0.01);
  EXPECT_DOUBLE_EQ(ponder_weight(settings, 500, 10), 0.01);
}

}  // namespace
}  // namespace sact::train
