// Weights between networks and model files.
#include "train/torch/network_weights.h"

#include <gtest/gtest.h>

#include <set>

#include "support/temporary.h"
#include "train/random_network.h"
#include "train/torch/torch_runner.h"

namespace sact::train {
namespace {

TEST(NetworkWeights, EveryParameterAndBufferHasAPlaceInTheFile) {
  for (Halting halting : {Halting::kNone, Halting::kAct, Halting::kSact}) {
    for (bool norm : {true, false}) {
      for (UnitKind unit :
           {UnitKind::kBottleneck, UnitKind::kBasic, UnitKind::kBottleneckV1, UnitKind::kBasicV1}) {
        ModelSpec spec = test::tiny_spec(halting);
        spec.halting_norm = norm;
        spec.unit = unit;
        std::set<std::string> listed, present;
        for (const WeightInfo& weight : weight_list(spec)) listed.insert(weight.name);
        Network network(spec);
        for (const auto& item : network->named_parameters()) present.insert(item.key());
        for (const auto& item : network->named_buffers()) {
          if (item.key().find("num_batches_tracked") == std::string::npos) {
            present.insert(item.key());
          }
        }
        EXPECT_EQ(listed, present);
      }
    }
  }
}

TEST(NetworkWeights, FileRoundTripGivesTheSameOutput) {
  torch::NoGradGuard no_grad;
  test::TemporaryDirectory directory;
  Network network = test::random_network(test::tiny_spec(Halting::kSact), 3);
  write_model(directory / "m", network->spec(), network_weights(network));
  Network loaded = load_network(ModelFile(directory / "m"));
  const torch::Tensor images = test::random_images(2, 48, 32, 4);
  EXPECT_TRUE(torch::equal(network->forward(images).logits, loaded->forward(images).logits));
}

TEST(NetworkWeights, HeadStoredAsConvolutionIsTheSameNetwork) {
  torch::NoGradGuard no_grad;
  test::TemporaryDirectory directory;
  Network network = test::random_network(test::tiny_spec(Halting::kNone), 5);
  auto weights = network_weights(network);
  for (Weight& weight : weights) {
    if (weight.info.name == "head.fc.weight") {
      weight.info.shape.insert(weight.info.shape.end(), {1, 1});
    }
  }
  write_model(directory / "m", network->spec(), weights);
  Network loaded = load_network(ModelFile(directory / "m"));
  const torch::Tensor images = test::random_images(1, 32, 32, 6);
  EXPECT_TRUE(torch::equal(network->forward(images).logits, loaded->forward(images).logits));
}

TEST(TorchBackend, GivesWhatTheNetworkGives) {
  torch::NoGradGuard no_grad;
  test::TemporaryDirectory directory;
  const ModelSpec spec = test::tiny_spec(Halting::kSact);
  Network network = test::random_network(spec, 7);
  write_model(directory / "m", spec, network_weights(network));
  const auto session =
      load_with_torch(image_network_of(ModelFile(directory / "m")), {})->session(1);
  const torch::Tensor images = test::random_images(2, 40, 64, 8);
  const auto view_of_values = [](const torch::Tensor& values) {
    return std::span<const float>(values.data_ptr<float>(), size_t(values.numel()));
  };
  const auto results = session->run(planes_view(view_of_values(images), 2, {40, 64}));
  const torch::Tensor pixels = images.permute({0, 2, 3, 1}).contiguous();
  const auto same = session->run(pixels_view(view_of_values(pixels), 2, {40, 64}));
  const NetworkOutput expected = network->forward(images);
  const auto flops = test::image_flops(spec, expected, {40, 64});
  ASSERT_EQ(results.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(results[i].flops, flops[i]);
    EXPECT_EQ(results[i].logits, same[i].logits) << "planes and pixels are the same images";
    for (int64_t c = 0; c < spec.classes; ++c) {
      EXPECT_NEAR(results[i].logits[size_t(c)], expected.logits[int64_t(i)][c].item<float>(), 1e-4);
    }
    for (size_t block = 0; block < 2; ++block) {
      const BlockResult& result = results[i].blocks[block];
      const torch::Tensor units = expected.blocks[block].units[int64_t(i)];
      EXPECT_EQ(result.ponder_cost.height, units.size(0));
      EXPECT_EQ(result.ponder_cost.width, units.size(1));
      for (int64_t p = 0; p < units.numel(); ++p) {
        EXPECT_EQ(result.units[size_t(p)], units.reshape({-1})[p].item<float>());
      }
    }
  }
}

}  // namespace
}  // namespace sact::train
