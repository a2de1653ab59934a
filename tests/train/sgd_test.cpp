// The optimizer.
#include "train/loop/sgd.h"

#include <gtest/gtest.h>

namespace sact::train {
namespace {

torch::OrderedDict<std::string, torch::Tensor> parameters() {
  torch::OrderedDict<std::string, torch::Tensor> dict;
  dict.insert("conv", torch::tensor({1.0f, -2.0f, 3.0f, 4.0f}).view({2, 2}).requires_grad_());
  dict.insert("norm", torch::tensor({1.0f, 1.0f}).requires_grad_());
  return dict;
}

void set_gradients(torch::OrderedDict<std::string, torch::Tensor>& dict, float value) {
  for (auto& item : dict) item.value().mutable_grad() = torch::full_like(item.value(), value);
}

TEST(Sgd, TwoStepsByHand) {
  auto dict = parameters();
  Sgd sgd(dict, {.momentum = 0.5, .weight_decay = 0.1});
  set_gradients(dict, 1);
  sgd.step(0.1);
  // v = 1 + 0.1 * 1 = 1.1; w = 1 - 0.11 = 0.89
  EXPECT_NEAR(dict["conv"][0][0].item<float>(), 0.89, 1e-6);
  set_gradients(dict, 1);
  sgd.step(0.1);
  // v = 0.55 + 1 + 0.089 = 1.639; w = 0.89 - 0.1639 = 0.7261
  EXPECT_NEAR(dict["conv"][0][0].item<float>(), 0.7261, 1e-6);
}

TEST(Sgd, NormsMayBeSparedWeightDecay) {
  auto dict = parameters();
  Sgd sgd(dict, {.momentum = 0, .weight_decay = 0.5, .decay_norms = false});
  set_gradients(dict, 0);
  sgd.step(1);
  EXPECT_FLOAT_EQ(dict["norm"][0].item<float>(), 1);
  EXPECT_FLOAT_EQ(dict["conv"][0][0].item<float>(), 0.5);
}

TEST(Sgd, ClippingScalesTheWholeGradient) {
  auto dict = parameters();
  Sgd sgd(dict, {.momentum = 0, .weight_decay = 0, .clip_norm = 1});
  set_gradients(dict, 2);  // norm 2 * sqrt(6)
  EXPECT_NEAR(sgd.step(1), 2 * std::sqrt(6.0), 1e-5);
  EXPECT_NEAR(dict["norm"][0].item<float>(), 1 - 1 / std::sqrt(6.0), 1e-5);
}

TEST(Sgd, UnusedParametersOnlyDecay) {
  auto dict = parameters();
  Sgd sgd(dict, {.momentum = 0, .weight_decay = 0.1});
  sgd.zero_gradients();
  sgd.step(1);
  EXPECT_FLOAT_EQ(dict["norm"][0].item<float>(), 0.9f);
}

TEST(Sgd, HaltingScoresHaveTheirOwnRate) {
  torch::OrderedDict<std::string, torch::Tensor> dict;
  for (const char* name :
       {"stages.0.blocks.0.conv1.weight", "stages.0.blocks.0.halting.global.bias"}) {
    dict.insert(name, torch::ones({2}).requires_grad_());
  }
  Sgd sgd(dict, {.momentum = 0.5, .weight_decay = 0, .halting_rate = 0.1});
  for (int step = 0; step < 2; ++step) {
    set_gradients(dict, 1);
    sgd.step(0.2);
  }
  // v = 1, then 1.5
  EXPECT_NEAR(dict[0].value()[0].item<float>(), 1 - 0.2 * 2.5, 1e-6);
  EXPECT_NEAR(dict[1].value()[0].item<float>(), 1 - 0.1 * 0.2 * 2.5, 1e-6);
}

TEST(Sgd, AdamGoesAsFarWhateverTheGradientsSize) {
  for (const float gradient : {1e-4f, 100.0f}) {
    auto dict = parameters();
    Sgd sgd(dict, {.momentum = 0.9, .weight_decay = 0, .adam = true});
    for (int64_t step = 0; step < 3; ++step) {
      set_gradients(dict, gradient);
      sgd.step(0.1, step);
    }
    EXPECT_NEAR(dict["norm"][0].item<float>(), 1 - 3 * 0.1, 1e-3) << gradient;
  }
}

TEST(Sgd, AdamMovesAScoreByItsWeightsAsFarAsByItsBias) {
  torch::OrderedDict<std::string, torch::Tensor> dict;
  dict.insert("a.halting.local.weight", torch::ones({1, 8, 3, 3}).requires_grad_());
  dict.insert("a.halting.global.bias", torch::ones({1}).requires_grad_());
  Sgd sgd(dict, {.momentum = 0.9, .weight_decay = 0, .halting_rate = 10, .adam = true});
  set_gradients(dict, 1);
  sgd.step(0.01, 0);
  EXPECT_NEAR((1 - dict[0].value()).sum().item<float>(), 0.1, 1e-4);
  EXPECT_NEAR((1 - dict[1].value()).sum().item<float>(), 0.1, 1e-4);
}

TEST(Sgd, TwoStepsOfAdamByHand) {
  auto dict = parameters();
  Sgd sgd(dict, {.momentum = 0.5, .weight_decay = 0.1, .decay_norms = false, .adam = true});
  set_gradients(dict, 1);
  sgd.step(0.1, 0);
  // Both means are 1 after correction; w = 1 (1 - 0.01) - 0.1 = 0.89, without decay 0.9.
  EXPECT_NEAR(dict["conv"][0][0].item<float>(), 0.89, 1e-5);
  EXPECT_NEAR(dict["norm"][0].item<float>(), 0.9, 1e-5);
  set_gradients(dict, 3);
  sgd.step(0.1, 1);
  // v = (0.25 + 1.5) / 0.75 = 7/3; s = (0.0099 + 0.09) / 0.0199 = 5.0201
  EXPECT_NEAR(dict["norm"][0].item<float>(), 0.9 - 0.1 * (7.0 / 3) / std::sqrt(5.0201), 1e-4);
  EXPECT_EQ(sgd.state().size(), 4u) << "two for each parameter";
}

TEST(Sgd, ParametersThatNeedNoGradientStay) {
  auto dict = parameters();
  dict["conv"].requires_grad_(false);
  Sgd sgd(dict, {.momentum = 0, .weight_decay = 0.5});
  sgd.zero_gradients();
  sgd.step(1);
  EXPECT_EQ(dict["conv"][0][0].item<float>(), 1);
  EXPECT_EQ(dict["norm"][0].item<float>(), 0.5);
}

}  // namespace
}  // namespace sact::train
