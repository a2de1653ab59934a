// sact new, info, export, synth and doctor, run as programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "io/json.h"
#include "io/safetensors.h"
#include "support/program.h"
#include "support/protobuf.h"
#include "support/temporary.h"

namespace sact {
namespace {

using io::Json;
using test::run_sact;

/// A user's mistake: one line on standard error that names what is wrong.
void expect_error(const test::Finished& finished, int status, const std::string& part) {
  EXPECT_EQ(finished.status, status) << finished.err;
  EXPECT_TRUE(finished.err.starts_with("sact: ")) << finished.err;
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
}

TEST(CliNew, ResnetWithAThousandClassesHasTheFlopsOfThePaper) {
  test::TemporaryDirectory directory;
  const std::string model = (directory / "m.safetensors").string();
  ASSERT_EQ(
      run_sact({"new", "--depth", "101", "--halting", "sact", "--classes", "1000", "--out", model})
          .status,
      0);
  const auto info = run_sact({"info", model, "--size", "224x224", "--json"});
  ASSERT_EQ(info.status, 0) << info.err;
  const Json json = Json::parse(info.out);
  EXPECT_EQ(json["flops"], 15'602'814'976 - 2 * 2048) << "one class less than 1001";
  EXPECT_EQ(json["spec"]["halting"], "sact");
  EXPECT_EQ(json["parameters"], 44'942'917);
  int64_t sum = 0;
  for (const Json& layer : json["per_layer"]) {
    if (!layer["halting"].get<bool>()) sum += layer["flops"].get<int64_t>();
  }
  EXPECT_EQ(sum, json["flops"]);
}

TEST(CliNew, PlainNetworkOfThePaperExactly) {
  test::TemporaryDirectory directory;
  const std::string model = (directory / "m").string();
  ASSERT_EQ(
      run_sact({"new", "--depth", "101", "--classes", "1001", "--dtype", "bf16", "--out", model})
          .status,
      0);
  EXPECT_EQ(Json::parse(run_sact({"info", model, "--json"}).out)["flops"], 15'602'814'976);
  const auto other = run_sact({"info", model, "--size", "96x320"});
  EXPECT_NE(other.out.find("dense FLOPs at 96x320"), std::string::npos) << other.out;
}

TEST(CliNew, SpecFileAndOptionsCombine) {
  test::TemporaryDirectory directory;
  std::ofstream(directory / "spec.json")
      << R"({"units":[1,2],"width":8,"classes":3,"halting":"act","note":7})";
  std::ofstream(directory / "labels.txt") << "cat\nnot a cat\n";
  const auto made = run_sact({"new", "--spec", "spec.json", "--halting", "sact", "--tile", "2",
                              "--labels", "labels.txt", "--out", "m"},
                             directory.path());
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.err.find("not known here: 'note'"), std::string::npos) << "it may be mistyped";
  const auto info = run_sact({"info", "m", "--json"}, directory.path());
  const Json spec = Json::parse(info.out)["spec"];
  EXPECT_EQ(spec["units"], Json({1, 2}));
  EXPECT_EQ(spec["halting"], "sact");
  EXPECT_EQ(spec["tile"], 2);
  EXPECT_EQ(spec["classes"], 2);
  EXPECT_EQ(spec["labels"][1], "not a cat");
  EXPECT_EQ(spec["note"], 7) << "unknown keys are kept";
  EXPECT_NE(info.err.find("note"), std::string::npos) << "and reported";
}

TEST(CliNew, BlankLinesOfALabelFileAreNoClasses) {
  test::TemporaryDirectory directory;
  const std::string d = directory.path();
  std::ofstream(directory / "labels.txt") << "only one\n\n \r\n";
  const auto made =
      run_sact({"new", "--units", "1", "--width", "4", "--labels", "labels.txt", "--out", "m"}, d);
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.out.find("m: 1 unit in 1 block,"), std::string::npos) << made.out;
  const auto info = run_sact({"info", "m"}, d);
  EXPECT_NE(info.out.find(" 1 unit of kind bottleneck, 1 class\n"), std::string::npos) << info.out;
  std::ofstream(directory / "blank.txt") << "\n\n";
  expect_error(run_sact({"new", "--labels", "blank.txt", "--out", "m"}, d), 1, "blank.txt");
}

TEST(CliNew, SeedNamesTheWeights) {
  test::TemporaryDirectory directory;
  auto make = [&](const char* name, const char* seed) {
    run_sact(
        {"new", "--units", "1", "--width", "4", "--classes", "2", "--seed", seed, "--out", name},
        directory.path());
    const io::SafetensorsFile file(directory / name);
    return io::float_values(*file.find("stem.conv.weight"), name);
  };
  EXPECT_EQ(make("a", "1"), make("b", "1"));
  EXPECT_NE(make("a", "1"), make("c", "2"));
}

TEST(CliNew, MistakesGetOneLine) {
  test::TemporaryDirectory directory;
  const std::string d = directory.path();
  expect_error(run_sact({"new", "--depth", "50"}, d), 2, "--out");
  expect_error(run_sact({"predict", "m"}, d), 2, "--tensor");  // found when the command runs
  expect_error(run_sact({"new", "--depth", "51", "--out", "m"}, d), 2, "depth");
  expect_error(run_sact({"new", "--depth", "50", "--units", "1,2", "--out", "m"}, d), 2, "units");
  expect_error(run_sact({"new", "--units", "1,0", "--out", "m"}, d), 1, "units");
  expect_error(run_sact({"new", "--units", "1,x", "--out", "m"}, d), 2, "units");
  expect_error(run_sact({"new", "--classes", "0", "--out", "m"}, d), 1, "classes");
  expect_error(run_sact({"new", "--width", "0", "--out", "m"}, d), 1, "width");
  expect_error(run_sact({"new", "--seed", "-1", "--out", "m"}, d), 2, "--seed");
  expect_error(run_sact({"new", "--depth", "152", "--out", "no/such/m"}, d), 1, "no/such/m");
  expect_error(run_sact({"new", "--epsilon", "nan", "--out", "m"}, d), 1, "epsilon");
  expect_error(run_sact({"new", "--halting-bias", "nan", "--out", "m"}, d), 1, "halting-bias");
  expect_error(run_sact({"new", "--width", "1024", "--units", "900,900,900", "--out", "m"}, d), 1,
               "parameters");
  expect_error(run_sact({"new", "--depth", "50", "--out", "no/dir/m"}, d), 1, "no/dir/m");
  expect_error(run_sact({"new", "--spec", "none.json", "--out", "m"}, d), 1, "none.json");
  expect_error(run_sact({"frobnicate"}, d), 2, "frobnicate");
  EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << "nothing was left behind";
}

TEST(CliInfo, DamagedModelsGetOneLine) {
  test::TemporaryDirectory directory;
  const std::string d = directory.path();
  run_sact({"new", "--units", "1,1", "--width", "4", "--classes", "2", "--out", "good"}, d);
  std::ifstream good(directory / "good", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(good)), std::istreambuf_iterator<char>());
  expect_error(run_sact({"info", "missing"}, d), 1, "missing");
  expect_error(run_sact({"info", "."}, d), 1, "directory");
  std::ofstream(directory / "empty");
  expect_error(run_sact({"info", "empty"}, d), 1, "empty");
  std::ofstream(directory / "text.safetensors") << "hello, this is not a model at all";
  expect_error(run_sact({"info", "text.safetensors"}, d), 1, "not a safetensors file");
  for (size_t part : {size_t{7}, size_t{8}, bytes.size() / 4, bytes.size() / 2, bytes.size() - 1}) {
    std::ofstream(directory / "cut", std::ios::binary) << bytes.substr(0, part);
    expect_error(run_sact({"info", "cut"}, d), 1, "cut");
  }
  std::ofstream(directory / "long", std::ios::binary) << bytes << "x";
  expect_error(run_sact({"info", "long"}, d), 1, "long");
  expect_error(run_sact({"info", "good", "--size", "16"}, d), 2, "16x16");
  expect_error(run_sact({"info", "good", "--size", "big"}, d), 2, "big");
}

TEST(CliPredictOutputs, ThatCannotBeWrittenAreNoticedBeforeTheNetworkRuns) {
  // Also without LibTorch, which shows that nothing was run first.
  test::TemporaryDirectory directory;
  const std::string d = directory.path();
  run_sact({"new", "--units", "1", "--width", "4", "--classes", "2", "--out", "m"}, d);
  run_sact({"synth", "--out", "photos", "--count", "1"}, d);
  std::filesystem::create_directories(directory / "maps/overview.png");
  auto expect = [&](std::vector<std::string> options, const std::string& part) {
    std::vector<std::string> arguments = {"predict", "m", "photos"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto finished = run_sact(arguments, d);
    expect_error(finished, 1, part);
    EXPECT_EQ(finished.out, "") << "no image was run";
  };
  expect({"--raw", "missing/raw"}, "missing/raw");
  expect({"--raw", "photos"}, "photos: cannot be written: it is a directory");
  expect({"--raw", "m/raw"}, "m/raw");
  expect({"--out", "m"}, "m: cannot be made");
  expect({"--out", "maps"}, "maps/overview.png: cannot be written: it is a directory");
}

TEST(CliExport, HalvesTheFileAndKeepsTheNetwork) {
  test::TemporaryDirectory directory;
  const std::string d = directory.path();
  run_sact({"new", "--units", "2,2", "--width", "16", "--classes", "3", "--halting", "sact",
            "--out", "m"},
           d);
  const auto made = run_sact({"export", "m", "--dtype", "f16", "--out", "h"}, d);
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_LT(double(std::filesystem::file_size(directory / "h")),
            0.7 * double(std::filesystem::file_size(directory / "m")));
  const Json before = Json::parse(run_sact({"info", "m", "--json"}, d).out);
  const Json after = Json::parse(run_sact({"info", "h", "--json"}, d).out);
  EXPECT_EQ(before["spec"], after["spec"]);
  EXPECT_EQ(after["dtype"], "F16");
  expect_error(run_sact({"export", "missing", "--out", "h"}, d), 1, "missing");
}

/// A published file: the weights of a network, and no spec.
void write_without_spec(const std::filesystem::path& from, const std::filesystem::path& to) {
  const io::SafetensorsFile file(from);
  std::vector<io::NamedTensor> tensors;
  for (const auto& [name, view] : file.tensors()) tensors.push_back({name, view});
  io::write_safetensors(to, tensors, {});
}

TEST(CliExport, GivesAPublishedFileItsPreprocessingAndClassNames) {
  test::TemporaryDirectory directory;
  const std::string d = directory.path();
  run_sact(
      {"new", "--units", "1,1", "--width", "4", "--classes", "2", "--dtype", "bf16", "--out", "m"},
      d);
  write_without_spec(directory / "m", directory / "published");
  std::ofstream(directory / "labels.txt") << "cat\ndog\n";
  const auto before = run_sact({"info", "published"}, d);
  EXPECT_NE(before.err.find("'sact import'"), std::string::npos) << before.err;

  const auto made =
      run_sact({"export", "published", "--mean", "0.5,0.4,0.3", "--std", "0.5,0.25,1", "--crop",
                "0.95", "--size", "288", "--labels", "labels.txt", "--out", "own"},
               d);
  ASSERT_EQ(made.status, 0) << made.err;
  const auto info = run_sact({"info", "own", "--json"}, d);
  EXPECT_EQ(info.err, "") << "nothing is assumed any more";
  const Json json = Json::parse(info.out), input = json["spec"]["input"];
  EXPECT_EQ(input["mean"], Json({0.5, 0.4, 0.3}));
  EXPECT_EQ(input["std"], Json({0.5, 0.25, 1}));
  EXPECT_EQ(input["crop"], 0.95);
  EXPECT_EQ(input["size"], 288);
  EXPECT_EQ(json["spec"]["labels"], Json({"cat", "dog"}));
  EXPECT_EQ(json["dtype"], "BF16") << "weights stay as they are unless --dtype says otherwise";
}

TEST(CliExport, MistakesGetOneLine) {
  test::TemporaryDirectory directory;
  const std::string d = directory.path();
  run_sact({"new", "--units", "1", "--width", "4", "--classes", "2", "--out", "m"}, d);
  std::ofstream(directory / "three.txt") << "a\nb\nc\n";
  auto expect = [&](const std::string& option, const std::string& value, int status,
                    const std::string& part) {
    expect_error(run_sact({"export", "m", option, value, "--out", "new"}, d), status, part);
    EXPECT_FALSE(std::filesystem::exists(directory / "new"));
  };
  expect("--mean", "0.5,0.5", 2, "--mean");
  expect("--mean", "0.5,0.5,x", 2, "--mean");
  expect("--mean", "123.7,116.3,103.5", 1, "divide");
  expect("--mean", "nan,0,0", 1, "--mean");
  expect("--std", "0.2,0,0.2", 1, "input.std");
  expect("--std", "58,57,57", 1, "divide");
  expect("--crop", "0", 1, "input.crop");
  expect("--crop", "87.5", 1, "input.crop");
  expect("--size", "16", 2, "16x16");
  expect("--size", "x", 2, "'x' is not an image size");
  expect("--size", "64x96", 1, "square");
  expect("--batch", "4", 2, "--onnx");
  expect("--labels", "three.txt", 1, "three.txt: has 3 names, but the network has 2 classes");
  expect("--labels", "missing.txt", 1, "missing.txt");
}

class CliOnnx : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const std::string halting : {"none", "sact"}) {
      const auto made = run({"new", "--units", "1,2", "--width", "4", "--classes", "3", "--halting",
                             halting, "--out", halting});
      ASSERT_EQ(made.status, 0) << made.err;
    }
  }

  test::Finished run(const std::vector<std::string>& arguments) {
    return run_sact(arguments, directory_.path());
  }

  test::Fields model_of(const std::string& name) {
    std::ifstream file(directory_ / name, std::ios::binary);
    return test::parse_message(
        std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
  }

  test::TemporaryDirectory directory_;
};

TEST_F(CliOnnx, WritesThePlainNetwork) {
  const auto made = run({"export", "none", "--onnx", "m.onnx"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.out.find("m.onnx"), std::string::npos) << made.out;
  EXPECT_NE(made.out.find("any size"), std::string::npos) << made.out;
  const test::Fields model = model_of("m.onnx");
  const test::Fields spec = test::parse_message(model.at(14).at(0));
  const Json info = Json::parse(run({"info", "none", "--json"}).out);
  EXPECT_EQ(spec.at(1).at(0), "sact");
  EXPECT_EQ(Json::parse(spec.at(2).at(0)), info["spec"]);
  EXPECT_EQ("sact " + model.at(3).at(0) + "\n", run({"--version"}).out);
}

TEST_F(CliOnnx, TakesASizeABatchAndWhatTheSpecShallSay) {
  const auto made = run({"export", "none", "--onnx", "m.onnx", "--size", "64x96", "--batch", "4",
                         "--mean", "0.5,0.4,0.3", "--json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const Json json = Json::parse(made.out);
  EXPECT_EQ(json["height"], 64);
  EXPECT_EQ(json["width"], 96);
  EXPECT_EQ(json["batch"], 4);
  EXPECT_EQ(json["bytes"], std::filesystem::file_size(directory_ / "m.onnx"));
  EXPECT_EQ(json["spec"]["input"]["mean"], Json({0.5, 0.4, 0.3}));
  EXPECT_EQ(json["spec"]["input"]["size"], 224) << "the graph's size is not that of evaluation";
  const auto symbolic = run({"export", "none", "--onnx", "any.onnx", "--json"});
  EXPECT_TRUE(Json::parse(symbolic.out)["batch"].is_null()) << symbolic.out;
}

TEST_F(CliOnnx, WritesWholeNumbers) {
  ASSERT_EQ(run({"synth", "--out", "photos", "--count", "4", "--size", "64"}).status, 0);
  const auto made = run({"export", "none", "--dtype", "int8", "--calibrate", "photos", "--onnx",
                         "m8.onnx", "--json"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(Json::parse(made.out)["dtype"], "I8");
  const auto plain = run({"export", "none", "--onnx", "m.onnx", "--json"});
  EXPECT_EQ(Json::parse(plain.out)["dtype"], "F32");
  const auto rounded = [&](const char* file) {
    int count = 0;
    const test::Fields graph = test::parse_message(model_of(file).at(7).at(0));
    for (const std::string& node : graph.at(1)) {
      count += test::parse_message(node).at(4).at(0) == "QuantizeLinear";
    }
    return count;
  };
  EXPECT_GT(rounded("m8.onnx"), 0);
  EXPECT_EQ(rounded("m.onnx"), 0);
  expect_error(run({"export", "none", "--dtype", "int8", "--onnx", "m.onnx"}), 1, "--calibrate");
  expect_error(run({"export", "sact", "--dtype", "int8", "--calibrate", "photos", "--onnx", "m"}),
               1, "halting sact");
}

TEST_F(CliOnnx, MistakesGetOneLine) {
  expect_error(run({"export", "sact", "--onnx", "m.onnx"}), 1, "halting sact");
  expect_error(run({"export", "none"}), 2, "--onnx");
  expect_error(run({"export", "none", "--out", "m", "--onnx", "m.onnx"}), 2, "--out");
  expect_error(run({"export", "none", "--dtype", "f16", "--onnx", "m.onnx"}), 2, "--onnx");
  expect_error(run({"export", "none", "--batch", "0", "--onnx", "m.onnx"}), 2, "--batch");
  expect_error(run({"export", "none", "--size", "16", "--onnx", "m.onnx"}), 2, "16x16");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "m.onnx"));
  std::filesystem::create_directory(directory_ / "folder");
  expect_error(run({"export", "none", "--onnx", "folder"}), 1, "it is a directory");
  expect_error(run({"export", "none", "--onnx", "missing/m.onnx"}), 1, "missing/m.onnx");
}

TEST(CliSynth, WritesAnImageFolderWithBoxes) {
  test::TemporaryDirectory directory;
  const auto made =
      run_sact({"synth", "--out", "s", "--count", "20", "--size", "32x48"}, directory.path());
  ASSERT_EQ(made.status, 0) << made.err;
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory / "s")) {
    files += entry.path().extension() == ".png";
  }
  EXPECT_EQ(files, 20);
  std::ifstream boxes(directory / "s/boxes.csv");
  int lines = 0;
  for (std::string line; std::getline(boxes, line);) ++lines;
  EXPECT_EQ(lines, 21);
}

TEST(CliSynth, IndicesAndSeedsThatMakeNoSenseAreRefused) {
  test::TemporaryDirectory directory;
  for (const char* first : {"-1", "9223372036854775807", "9223372036854775808"}) {
    expect_error(run_sact({"synth", "--out", "s", "--first", first}, directory.path()), 2,
                 "--first");
  }
  expect_error(run_sact({"synth", "--out", "s", "--seed", "-1"}, directory.path()), 2, "--seed");
  EXPECT_FALSE(std::filesystem::exists(directory / "s"));
}

TEST(CliDoctor, NamesTheKernelsOfTheEngine) {
  const auto engine = [](const std::string& isa) {
    const auto finished =
        test::Running({SACT_PROGRAM, {"doctor", "--json"}, {"SACT_ISA=" + isa}}).wait();
    EXPECT_EQ(finished.status, 0) << finished.err;
    const Json json = Json::parse(finished.out);
    for (const Json& check : json["checks"]) {
      if (check["name"] == "engine") return check;
    }
    ADD_FAILURE() << finished.out;
    return Json();
  };
  EXPECT_TRUE(
      engine("scalar")["found"].get<std::string>().starts_with("scalar kernels; available:"));
  const Json unknown = engine("abacus");
  EXPECT_EQ(unknown["ok"], false);
  EXPECT_NE(unknown["hint"].get<std::string>().find("abacus"), std::string::npos);
}

TEST(CliDoctor, MeasuresThePeakOfEveryTypeAndSaysWhyItsKernelsWereChosen) {
  const auto finished =
      test::Running({SACT_PROGRAM, {"doctor", "--json"}, {"SACT_ISA=scalar"}}).wait();
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  for (const std::string type : {"fp32", "bf16"}) {
    std::string found;
    for (const Json& check : json["checks"]) {
      if (check["name"] == type + " kernels") found = check["found"];
    }
    EXPECT_TRUE(found.starts_with("scalar, asked for; at best ")) << found;
    EXPECT_NE(found.find(" GFLOP/s with "), std::string::npos) << found;
  }
}

TEST(CliDoctor, SaysWhatItFound) {
  const auto finished = run_sact({"doctor", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  EXPECT_GE(json["checks"].size(), 6u);
  for (const Json& check : json["checks"]) EXPECT_FALSE(check["found"].get<std::string>().empty());
}

TEST(CliOutput, AFullDiskBehindStandardOutputIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  for (const std::string arguments : {"doctor", "--help", "train --help", "--version"}) {
    const std::string command =
        std::string(SACT_PROGRAM) + " " + arguments + " > /dev/full 2> /dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1) << arguments;
  }
}

}  // namespace
}  // namespace sact
