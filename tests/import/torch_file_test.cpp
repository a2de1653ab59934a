// State dicts as torch.save() writes them, whole and damaged.
#include <gtest/gtest.h>

#include "import/import.h"
#include "import/samples.h"
#include "import/source.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact {
namespace {

using importing::import_network;
using importing::ImportedNetwork;
using test::TorchFile;

class TorchFiles : public ::testing::Test {
 protected:
  std::filesystem::path written(const std::string& bytes) {
    test::write_bytes(directory_ / "n.pth", bytes);
    return directory_ / "n.pth";
  }
  std::string refusal(const std::string& bytes) {
    return test::error_of([&] { import_network(written(bytes), {}); });
  }
  static void expect_mentions(const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  test::TemporaryDirectory directory_;
  ModelSpec spec_ = test::plain_spec(UnitKind::kBottleneckV1, {1, 2});
  test::NamedList state_ = test::torch_state(spec_);
};

TEST_F(TorchFiles, StateDictsComeBackHoweverTheyWereSaved) {
  const auto weights = test::random_weights(spec_, 1);
  const TorchFile files[] = {{state_, ""},
                             {state_, "state_dict"},
                             {state_, "model"},
                             {state_, "", /*channels_last=*/true},
                             {state_, "", false, /*parameters=*/true}};
  for (const TorchFile& file : files) {
    const ImportedNetwork network = import_network(written(file.bytes()), {});
    EXPECT_EQ(network.format, "PyTorch state dict");
    ASSERT_EQ(network.weights.size(), weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
      EXPECT_EQ(network.weights[i].values, weights[i].values) << weights[i].info.name;
    }
    const std::vector<std::string> ignored =
        file.wrapper.empty()
            ? std::vector<std::string>{"bn1.num_batches_tracked"}
            : std::vector<std::string>{"epoch", "optimizer", "args", "bn1.num_batches_tracked"};
    EXPECT_EQ(network.ignored, ignored);
  }
}

TEST_F(TorchFiles, WhatIsNoStateDictIsSaidToBeNone) {
  test::Pickler whole;
  whole.global("torchvision.models.resnet", "ResNet").raw(")\x81}b.");
  expect_mentions(refusal(test::zip({{"archive/data.pkl", whole.text}})),
                  "an object of torchvision.models.resnet.ResNet");
  test::Pickler number;
  number.integer(3).raw(".");
  expect_mentions(refusal(test::zip({{"archive/data.pkl", number.text}})), "holds no state dict");
  expect_mentions(refusal(test::zip({{"a/b.txt", "x"}})), "no data.pkl");
  expect_mentions(refusal(test::zip({{"m/data.pkl", "."}, {"m/code/x.py", ""}})), "TorchScript");
  expect_mentions(refusal(test::zip({{"m/data.pkl", "."}}, /*method=*/8)), "compressed");
}

/// A state dict of one tensor.
std::string one_tensor(const std::string& storage, const io::Shape& shape,
                       const std::vector<int64_t>& strides, int64_t offset = 0,
                       const std::string& key = "0") {
  test::Pickler pickler;
  pickler.ordered_dict().unicode("conv1.weight").tensor(storage, key, 4, shape, strides, offset);
  pickler.raw("s.");
  return test::zip({{"a/data.pkl", pickler.text}, {"a/data/0", std::string(16, '\0')}});
}

TEST_F(TorchFiles, TensorsThatReachBeyondTheirStorageAreRefused) {
  const auto source =
      importing::open_torch_file(written(one_tensor("FloatStorage", {2, 2}, {1, 2})));
  EXPECT_EQ(source.tensors.at("conv1.weight").shape, (io::Shape{2, 2}));
  const char* lies = "does not fit into the 4 values";
  expect_mentions(refusal(one_tensor("FloatStorage", {5}, {1})), lies);
  expect_mentions(refusal(one_tensor("FloatStorage", {2, 2}, {1, 3})), lies);
  expect_mentions(refusal(one_tensor("FloatStorage", {4}, {1}, 1)), lies);
  expect_mentions(refusal(one_tensor("FloatStorage", {1000, 1000}, {0, 0})), lies);
  expect_mentions(refusal(one_tensor("FloatStorage", {1 << 30, 1 << 30, 1 << 30}, {1, 1, 1})),
                  lies);
  expect_mentions(refusal(one_tensor("FloatStorage", {2, 2}, {1})), "not known here");
  expect_mentions(refusal(one_tensor("FloatStorage", {-1}, {1})), "not known here");
  expect_mentions(refusal(one_tensor("ComplexFloatStorage", {2}, {1})), "ComplexFloatStorage");
  expect_mentions(refusal(one_tensor("FloatStorage", {2}, {1}, 0, "7")), "no record 'a/data/7'");
}

TEST_F(TorchFiles, ParametersThatHoldEachOtherInACircleAreNoTensors) {
  test::Pickler pickler;
  pickler.ordered_dict().unicode("conv1.weight");
  pickler.global("torch._utils", "_rebuild_parameter").raw("]q\xf0Rq\xf1");
  // The list that it was made with gets the parameter itself.
  pickler.raw("h\xf0").raw("h\xf1").raw("a0s.");
  expect_mentions(refusal(test::zip({{"a/data.pkl", pickler.text}})), "holds no state dict");
}

TEST_F(TorchFiles, ACutFileIsRefusedWhereverItEnds) {
  const std::string bytes = TorchFile{state_, "state_dict"}.bytes();
  for (size_t size = 0; size < bytes.size(); size += 1 + size / 20) {
    refusal(bytes.substr(0, size));
  }
}

TEST_F(TorchFiles, AnyByteOfThePickleMayBeAnyOther) {
  std::vector<std::pair<std::string, std::string>> records;
  const std::string pickle = TorchFile{state_, "state_dict"}.pickle(records);
  for (size_t place = 0; place < std::min<size_t>(pickle.size(), 3000); place += 5) {
    std::string damaged = pickle;
    damaged[place] = char(damaged[place] ^ (1 + place % 255));
    auto all = records;
    all.insert(all.begin(), {"archive/data.pkl", damaged});
    try {
      importing::open_torch_file(written(test::zip(all)));
    } catch (const Error&) {
      // The right answer to most of them; the others are names and numbers.
    }
  }
}

TEST_F(TorchFiles, AnyByteOfTheArchivesTableMayBeAnyOther) {
  const std::string bytes = one_tensor("FloatStorage", {2, 2}, {2, 1});
  for (size_t place = 0; place < bytes.size(); ++place) {
    std::string damaged = bytes;
    damaged[place] = char(damaged[place] ^ (place % 2 ? 0xff : 1 << place % 8));
    try {
      importing::open_torch_file(written(damaged));
    } catch (const Error&) {
      // The right answer where it matters.
    }
  }
}

}  // namespace
}  // namespace sact
