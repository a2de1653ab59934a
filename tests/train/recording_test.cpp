// Recording steps: where gradients end up, whatever was recorded and whatever came in between.
#include "train/torch/recording.h"

#include <gtest/gtest.h>

#include "train/classify/step_graph.h"

namespace sact::train {
namespace {

torch::Tensor parameter() {
  return torch::ones({2}).requires_grad_();
}

/// What kernels of a step would do: the gradient of one parameter becomes the sum of the images,
/// always in the tensor that was there when they were recorded.
class FakeGraph : public KernelGraph {
 public:
  explicit FakeGraph(torch::Tensor parameter) : parameter_(std::move(parameter)) {}

  void record(const std::function<void()>& work) override {
    work();
    gradient_ = parameter_.grad();
  }
  void replay() override { gradient_.fill_(images.sum()); }

  torch::Tensor images;  // that the recorded work reads

 private:
  torch::Tensor parameter_, gradient_;
};

TEST(StepGraph, ReplaysLeaveTheirGradientsAfterABatchOfAnotherSize) {
  torch::Tensor used = parameter(), unused = parameter();
  auto made = std::make_unique<FakeGraph>(used);
  FakeGraph& fake = *made;
  StepGraph graph(nullptr, std::move(made), {used, unused});
  int worked = 0;
  const StepGraph::Work work = [&](const torch::Tensor& images, const torch::Tensor&) {
    ++worked;
    fake.images = images;
    used.mutable_grad() = torch::full({2}, images.sum().item<float>());
    unused.mutable_grad() = torch::Tensor();
    return StepResult{};
  };
  auto run = [&](int64_t count, float value) {
    graph.run(torch::full({count}, value), torch::zeros({count}), work);
    return used.grad()[0].item<float>();
  };
  for (int step = 0; step < StepGraph::kStepsBeforeRecording; ++step) EXPECT_EQ(run(4, 1), 4);
  EXPECT_EQ(run(4, 2), 8);
  const int recorded = worked;
  EXPECT_EQ(run(4, 3), 12);
  EXPECT_EQ(worked, recorded) << "replayed";
  const torch::Tensor recorded_images = fake.images;
  EXPECT_EQ(run(3, 1), 3);
  fake.images = recorded_images;
  EXPECT_EQ(run(4, 5), 20) << "not the gradient of the other batch";
  EXPECT_EQ(worked, recorded + 1);
}

TEST(StepGraph, AParameterThatTheStepDoesNotUseKeepsNoGradient) {
  torch::Tensor used = parameter(), unused = parameter();
  auto made = std::make_unique<FakeGraph>(used);
  FakeGraph& fake = *made;
  StepGraph graph(nullptr, std::move(made), {used, unused});
  const StepGraph::Work work = [&](const torch::Tensor& images, const torch::Tensor&) {
    fake.images = images;
    used.mutable_grad() = torch::zeros({2});
    unused.mutable_grad() = torch::Tensor();
    return StepResult{};
  };
  for (int step = 0; step < 6; ++step) {
    graph.run(torch::ones({4}), torch::zeros({4}), work);
    EXPECT_FALSE(unused.grad().defined()) << step;
    unused.mutable_grad() = torch::ones({2});  // the update adds weight decay to zeros
  }
}

TEST(RecordedGradients, OfAParameterThatAPassDoesNotUseAreNotThoseOfAnotherPass) {
  torch::Tensor first = parameter(), second = parameter();
  RecordedGradients gradients({first, second});
  const auto both = gradients.keep({torch::full({2}, 3.0f), torch::full({2}, 5.0f)});
  gradients.add_to_parameters(both);
  EXPECT_EQ(second.grad()[1].item<float>(), 5);
  first.mutable_grad() = second.mutable_grad() = torch::Tensor();
  const auto one = gradients.keep({torch::full({2}, 7.0f), torch::Tensor()});
  gradients.add_to_parameters(one);
  EXPECT_EQ(first.grad()[1].item<float>(), 7);
  EXPECT_FALSE(second.grad().defined()) << "5 is of the other pass";
  gradients.add_to_parameters(one);
  EXPECT_EQ(first.grad()[1].item<float>(), 14) << "gradients of several images add up";
  gradients.add_to_parameters(gradients.keep({torch::Tensor(), torch::Tensor()}));
  EXPECT_EQ(first.grad()[1].item<float>(), 14);
}

}  // namespace
}  // namespace sact::train
