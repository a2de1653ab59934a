// The same network on CUDA and on the CPU. Skipped where there is no CUDA device.
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "train/random_network.h"

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
      EXPECT_EQ(image_flops(spec, found, {65, 47}), image_flops(spec, expected, {65, 47}));
    }
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

}  // namespace
}  // namespace sact::train
