// Counting over images: accuracy, recall, means and deviations.
#include "evaluation/tally.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/errors.h"

namespace sact::evaluation {
namespace {

/// Seven classes of which `best` is first, and then the others from the last to the first; one
/// block of two positions.
ImageResult result(int best, int64_t flops, std::vector<int32_t> units) {
  ImageResult result;
  for (int label = 0; label < 7; ++label) {
    result.logits.push_back(label == best ? 9.0f : float(label));
  }
  result.flops = flops;
  result.blocks.push_back({Map(1, 2), std::move(units)});
  result.blocks[0].ponder_cost.values = {2.5f, 3.5f};
  return result;
}

TEST(Tally, CountsTheFirstAndTheFirstFiveClasses) {
  Tally tally(1);
  tally.add(result(3, 100, {1, 1}), 3);  // right
  tally.add(result(3, 100, {1, 1}), 2);  // fifth: 3, 6, 5, 4, 2
  tally.add(result(3, 100, {1, 1}), 1);  // sixth
  tally.add(result(0, 100, {1, 1}), 6);  // second
  const EvalOutcome outcome = tally.outcome({32, 48}, 4);
  EXPECT_EQ(outcome.size, (Size{32, 48}));
  EXPECT_EQ(outcome.images, 4);
  EXPECT_EQ(outcome.accuracy, 0.25);
  EXPECT_EQ(outcome.recall5, 0.75);
}

TEST(Tally, MeansAndDeviationsAreOverImages) {
  Tally tally(1);
  tally.add(result(0, 100, {1, 3}), 0);
  tally.add(result(0, 300, {3, 3}), 0);
  const EvalOutcome outcome = tally.outcome({32, 32}, 2);
  EXPECT_EQ(outcome.flops.mean, 200);
  EXPECT_EQ(outcome.flops.std, 100);
  EXPECT_EQ(outcome.units[0].mean, 2.5);
  EXPECT_EQ(outcome.units[0].std, 0.5);
  EXPECT_EQ(outcome.ponder_cost[0].mean, 3);
  EXPECT_EQ(outcome.ponder_cost[0].std, 0);
}

TEST(Tally, SumsOfTwoPartsAreThoseOfTheWhole) {
  Tally whole(1), first(1), second(1);
  for (int i = 0; i < 5; ++i) {
    const ImageResult image = result(i, 100 * i * i, {1, i + 1});
    whole.add(image, 2);
    (i % 2 ? first : second).add(image, 2);
  }
  for (size_t i = 0; i < first.sums().size(); ++i) first.sums()[i] += second.sums()[i];
  EXPECT_EQ(first.sums(), whole.sums());
}

TEST(Tally, OutputThatIsNotFiniteIsWrongAndNamed) {
  Tally tally(1);
  ImageResult broken = result(3, 100, {1, 1});
  broken.logits[0] = std::numeric_limits<float>::quiet_NaN();
  tally.add(broken, 3);
  tally.add(result(3, 100, {1, 1}), 3);
  testing::internal::CaptureStderr();
  EXPECT_EQ(tally.outcome({32, 32}, 2).accuracy, 0.5);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("not finite for 1 of 2 images"),
            std::string::npos);
}

TEST(Tally, NoImageIsAnErrorAndNotAnAccuracyOfZero) {
  const std::string message = test::error_of([] { Tally(1).outcome({32, 32}, 17); });
  EXPECT_NE(message.find("none of the 17 images"), std::string::npos) << message;
}

}  // namespace
}  // namespace sact::evaluation
