// What a network takes over from the model that its training starts from.
#include "train/loop/start_weights.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/random_model.h"
#include "support/temporary.h"
#include "train/classify/task.h"
#include "train/torch/detector.h"
#include "train/torch/network_weights.h"

namespace sact::train {
namespace {

using Labels = std::vector<std::string>;

class StartWeights : public ::testing::Test {
 protected:
  /// A model file with random weights.
  std::string write(const ModelSpec& spec) {
    const std::string path = (directory_ / "init.safetensors").string();
    write_model(path, spec, test::random_weights(spec, 7));
    return path;
  }

  static ModelSpec named_spec(Halting halting, const Labels& labels) {
    ModelSpec spec = test::tiny_spec(halting);
    spec.labels = labels;
    spec.classes = int(labels.size());
    return spec;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(StartWeights, HaltingStaysAsTheFileHasItUnlessToldOtherwise) {
  ModelSpec stored = named_spec(Halting::kSact, {"a", "b"});
  stored.epsilon = 0.125;
  stored.score_floor = 0.25;
  stored.tile = 3;
  stored.halting_norm = false;
  TrainSettings settings;
  settings.init = write(stored);
  const ModelSpec kept = spec_of_run(settings, {"a", "b"});
  EXPECT_EQ(kept.halting, Halting::kSact);
  EXPECT_EQ(kept.epsilon, 0.125);
  EXPECT_EQ(kept.score_floor, 0.25);
  EXPECT_EQ(kept.tile, 3);
  EXPECT_FALSE(kept.halting_norm);
  for (const char* assignment :
       {"halting=act", "epsilon=0.5", "score_floor=0.05", "tile=1", "halting_norm=true"}) {
    set_from_text(settings, assignment);
  }
  const ModelSpec told = spec_of_run(settings, {"a", "b"});
  EXPECT_EQ(told.halting, Halting::kAct);
  EXPECT_EQ(told.epsilon, 0.5);
  EXPECT_EQ(told.score_floor, 0.05);
  EXPECT_EQ(told.tile, 1);
  EXPECT_TRUE(told.halting_norm);
}

TEST_F(StartWeights, WithoutAFileNetworksArePlain) {
  TrainSettings settings;
  settings.units = {1};
  const ModelSpec spec = spec_of_run(settings, {"a", "b"});
  EXPECT_EQ(spec.halting, Halting::kNone);
  EXPECT_EQ(spec.epsilon, 0.01);
  EXPECT_EQ(spec.tile, 1);
  EXPECT_TRUE(spec.halting_norm);
}

TEST_F(StartWeights, SettingsOfEarlierRunsAreRead) {
  TrainSettings settings;
  set_from_json(settings, R"({"halting":"sact","halting_norm":false})", "settings.json");
  EXPECT_EQ(settings.halting_norm, "false");
}

TEST_F(StartWeights, TheHeadKeepsClassesThatItKnowsWhereverTheyStand) {
  const ModelSpec stored = named_spec(Halting::kNone, {"ape", "bee", "cat", "dog"});
  const ModelFile init(write(stored));
  Network network(named_spec(Halting::kNone, {"dog", "Bee"}));
  const std::string said = start_from(named_tensors(*network), network->spec(), init);
  EXPECT_NE(said.find("2 classes of its 4 found by name"), std::string::npos) << said;
  auto tensors = named_tensors(*network);
  for (const WeightInfo& weight : weight_list(stored)) {
    if (!weight.name.starts_with("head.fc.")) continue;
    const torch::Tensor all = torch::tensor(init.values(weight)).view({4, -1});
    const torch::Tensor head = tensors[weight.name].view({2, -1});
    EXPECT_TRUE(torch::equal(head[0], all[3])) << weight.name;
    EXPECT_TRUE(torch::equal(head[1], all[1])) << weight.name;
  }
}

TEST_F(StartWeights, AHeadOfOtherClassesIsFreshAndSaidSo) {
  const ModelFile init(write(named_spec(Halting::kSact, {"ape", "bee"})));
  Network network(named_spec(Halting::kSact, {"cat", "bee"}));
  const torch::Tensor before = named_tensors(*network)["head.fc.weight"].clone();
  const std::string said = start_from(named_tensors(*network), network->spec(), init);
  EXPECT_TRUE(torch::equal(named_tensors(*network)["head.fc.weight"], before));
  EXPECT_NE(said.find("fresh: head (of the data, 1 of its 2 classes (cat) is none"),
            std::string::npos)
      << said;
  EXPECT_EQ(said.find("left out"), std::string::npos) << said;
}

TEST_F(StartWeights, FreshAndLeftPartsAreSaidInOneLine) {
  const Labels labels = {"a", "b"};
  const ModelFile adaptive(write(named_spec(Halting::kSact, labels)));
  ModelSpec cut = named_spec(Halting::kNone, labels);
  cut.units = {2, 4};
  Network plain(cut);
  EXPECT_EQ(start_from(named_tensors(*plain), plain->spec(), adaptive),
            "starts from " + adaptive.name() + ": left out: 1 unit, halting of 5 units");
  const ModelFile dense(write(named_spec(Halting::kNone, labels)));
  Network halting(named_spec(Halting::kAct, labels));
  EXPECT_EQ(start_from(named_tensors(*halting), halting->spec(), dense),
            "starts from " + dense.name() + ": fresh: halting of 5 units");
  Network same(named_spec(Halting::kNone, labels));
  EXPECT_EQ(start_from(named_tensors(*same), same->spec(), dense),
            "starts from " + dense.name() + ": all of it");
}

TEST_F(StartWeights, ADetectorTakesRowsOfItsClassesAndTheirBoxes) {
  ModelSpec stored = test::tiny_spec(Halting::kNone, {1, 1});
  stored.detection = DetectionSpec();
  stored.labels = {"ape", "bee", "cat"};
  stored.classes = 3;
  ModelSpec wanted = stored;
  wanted.labels = {"cat", "ape"};
  wanted.classes = 2;
  const ModelFile init(write(stored));
  Detector detector(wanted);
  start_from(named_tensors(*detector), wanted, init);
  const torch::Tensor bias = named_tensors(*detector)["head.fc.bias"];
  std::vector<float> all;
  for (const WeightInfo& weight : weight_list(stored)) {
    if (weight.name == "head.fc.bias") all = init.values(weight);
  }
  ASSERT_EQ(all.size(), 16u);
  for (const auto& [row, from] : std::vector<std::pair<int64_t, size_t>>{
           {0, 0}, {1, 3}, {2, 1}, {3, 12}, {6, 15}, {7, 4}, {10, 7}}) {
    EXPECT_EQ(bias[row].item<float>(), all[from]) << row;
  }
}

TEST_F(StartWeights, AModelInTheRunFolderIsRefused) {
  const std::string init = write(named_spec(Halting::kNone, {"a", "b"}));
  EXPECT_NE(test::error_of([&] {
              expect_outside_run(init, directory_.path());
            }).find("lies in the run folder"),
            std::string::npos);
  expect_outside_run(init, directory_ / "runs");
}

}  // namespace
}  // namespace sact::train
