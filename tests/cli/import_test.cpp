// sact import, run as a program.
#include <gtest/gtest.h>

#include <algorithm>

#include "import/samples.h"
#include "support/program.h"
#include "support/temporary.h"

namespace sact {
namespace {

using io::Json;
using test::run_sact;

class CliImport : public ::testing::Test {
 protected:
  CliImport() {
    test::write_bytes(directory_ / "n.pth", test::TorchFile{test::torch_state(spec_), ""}.bytes());
  }
  test::Finished run(const std::vector<std::string>& arguments) {
    return run_sact(arguments, directory_.path());
  }
  void expect_refused(const std::vector<std::string>& arguments, int status,
                      const std::string& part) {
    const auto finished = run(arguments);
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
  }

  test::TemporaryDirectory directory_;
  ModelSpec spec_ = test::plain_spec(UnitKind::kBottleneckV1);
};

TEST_F(CliImport, SaysWhatItFoundAndWhatToDoNext) {
  const auto finished = run({"import", "n.pth", "--pool", "ceil", "-o", "m"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  for (const char* part : {"n.pth: torchvision or timm resnet, PyTorch state dict",
                           "2, 3 of kind bottleneck_v1, width 4", "padding ceil (--pool)",
                           "not used: bn1.num_batches_tracked (1)", "wrote m: "}) {
    EXPECT_NE(finished.out.find(part), std::string::npos) << finished.out;
  }
  const auto info = run({"info", "m", "--json"});
  EXPECT_EQ(info.err, "") << "nothing is left to remark on";
  EXPECT_EQ(Json::parse(info.out)["spec"]["stem_pool"], "ceil");
}

TEST_F(CliImport, TheOrderOfColoursIsThatOfTheSourceUnlessItIsGiven) {
  test::KerasModel(spec_, 1).write(directory_.path());
  const auto channels = [&](std::vector<std::string> options) {
    std::vector<std::string> arguments = {"import", "model.json", "-o", "m", "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto finished = run(arguments);
    EXPECT_EQ(finished.status, 0) << finished.err;
    const Json json = Json::parse(finished.out);
    for (const Json& found : json["found"]) {
      if (found["what"] == "channels") return found["from"].get<std::string>();
    }
    return std::string();
  };
  EXPECT_EQ(channels({}), "as Keras' ResNet has it");
  EXPECT_EQ(channels({"--rgb"}), "--rgb");
  EXPECT_EQ(channels({"--bgr"}), "--bgr");
}

TEST_F(CliImport, InputAndLabelsAreStored) {
  test::write_bytes(directory_ / "labels.json", R"(["a", "b", "c", "d", "e", "f"])");
  const auto finished = run({"import", "n.pth", "--mean", "0.1,0.2,0.3", "--std", "0.4,0.5,0.6",
                             "--bgr", "--size", "96", "--crop", "0.9", "--labels", "labels.json",
                             "--dtype", "f16", "--json", "-o", "m"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  EXPECT_EQ(json["dtype"], "F16");
  EXPECT_EQ(json["spec"]["input"]["mean"], Json({0.1, 0.2, 0.3}));
  EXPECT_EQ(json["spec"]["input"]["size"], 96);
  EXPECT_EQ(json["spec"]["labels"][5], "f");
  EXPECT_EQ(json["ignored"], Json({"bn1.num_batches_tracked"}));
  EXPECT_EQ(Json::parse(run({"info", "m", "--json"}).out)["flops"], json["flops"]);
}

TEST_F(CliImport, MistakesAreOneLine) {
  expect_refused({"import", "n.pth"}, 2, "--out");
  expect_refused({"import", "n.pth", "--bgr", "--rgb", "-o", "m"}, 2, "--rgb");
  expect_refused({"import", "none.pth", "-o", "m"}, 1, "none.pth");
  expect_refused({"import", "n.pth", "-o", "n.pth"}, 1, "n.pth");
  expect_refused({"import", "n.pth", "--mean", "123,117,104", "-o", "m"}, 1, "divide");
  expect_refused({"import", "n.pth", "--size", "96x64", "-o", "m"}, 1, "square");
  expect_refused({"import", "n.pth", "--pool", "full", "-o", "m"}, 2, "--pool");
  expect_refused({"import", "n.pth", "--labels", "imagenet", "-o", "m"}, 1, "6");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "m")) << "nothing was written";
}

}  // namespace
}  // namespace sact
