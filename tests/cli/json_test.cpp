// What --json prints: one object with its schema, and nothing that docs/json.md does not have.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "data/synthetic.h"
#include "io/image.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "support/program.h"
#include "support/temporary.h"

namespace sact {
namespace {

using io::Json;

/// The section of a command in the page: the keys in the first column of its tables, and those
/// that are "as the top", which have the same keys again.
struct Documented {
  std::set<std::string> keys, like_top;

  bool has(const std::string& key) const {
    if (keys.count(key)) return true;
    for (const std::string& prefix : like_top) {
      if (key.starts_with(prefix + ".") && has(key.substr(prefix.size() + 1))) return true;
    }
    return false;
  }
};

Documented documented_keys(const std::string& command) {
  std::ifstream file(SACT_SOURCE_DIR "/docs/json.md");
  Documented documented;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) inside = line.find("`sact " + command + "`") != line.npos;
    if (!inside || !line.starts_with("| `")) continue;
    const std::string first = line.substr(0, line.find('|', 1));
    const bool like_top = line.find("| as the top |") == first.size();
    for (size_t open = first.find('`'); open != first.npos;) {
      const size_t close = first.find('`', open + 1);
      const std::string key = first.substr(open + 1, close - open - 1);
      documented.keys.insert(key);
      if (like_top) documented.like_top.insert(key);
      open = first.find('`', close + 1);
    }
  }
  return documented;
}

/// "images[].top[].class" of every value; a spec, settings and kinds of skipped
/// files stand for themselves.
void collect_keys(const Json& json, const std::string& path, std::set<std::string>& keys) {
  if (!path.empty()) keys.insert(path);
  if (path == "spec" || path == "settings" || path == "skipped") return;
  if (json.is_array()) {
    for (const Json& item : json) {
      if (item.is_structured()) collect_keys(item, path + "[]", keys);
    }
  } else if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      collect_keys(value, path.empty() ? key : path + "." + key, keys);
    }
  }
}

class CliJson : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const std::string halting : {"sact", "none"}) {
      run({"new", "--units", "2,2", "--width", "4", "--classes", "10", "--input-size", "32",
           "--halting", halting, "--halting-bias", "-1", "--halting-scale", "0.1", "-o", halting});
    }
    write("detector.json",
          R"({"units": [1, 2, 2], "width": 4, "classes": 2, "halting": "sact",
              "labels": ["cat", "dog"],
              "detection": {"shorter_side": 64, "anchor_sizes": [16, 32], "proposals": 20,
                            "proposal_channels": 8, "crop": 8, "pool": 2}})");
    run({"new", "--spec", "detector.json", "-o", "detector"});
    std::filesystem::create_directories(directory_ / "photos");
    std::filesystem::create_directories(directory_ / "looks");
    data::SyntheticOptions options;
    options.width = 80;
    options.height = 60;
    for (const int i : {0, 1}) {
      const std::string name = std::string(1, char('a' + i)) + ".png";
      io::write_image(directory_ / ("photos/" + name), data::synthetic_sample(options, i).image);
      io::RgbImage looks(80, 60);
      for (const int x : {20, 40, 60 + 5 * i}) std::fill_n(looks.pixel(x, 30), 3, uint8_t{255});
      io::write_image(directory_ / ("looks/" + name), looks);
    }
    write("gt.json",
          R"({"categories": [{"id": 17, "name": "dog"}, {"id": 3, "name": "cat"}],
              "images": [{"id": 1, "file_name": "a.png", "height": 60, "width": 80},
                         {"id": 2, "file_name": "b.png", "height": 60, "width": 80}],
              "annotations": [{"id": 1, "image_id": 1, "category_id": 17,
                               "bbox": [10, 10, 30, 30], "area": 900, "iscrowd": 0}]})");
    write("dt.json",
          R"([{"image_id": 1, "category_id": 17, "bbox": [0, 0, 40, 40], "score": 0.9}])");
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name) << text;
  }

  std::string run(const std::vector<std::string>& arguments, int status = 0) {
    const auto finished = test::run_sact(arguments, directory_.path());
    EXPECT_EQ(finished.status, status) << arguments.front() << ": " << finished.err;
    return finished.out;
  }

  /// Runs the command with --json: its schema comes first, and all its keys are documented.
  Json checked(const std::string& command, std::vector<std::string> arguments, int status = 0) {
    std::vector<std::string> all = {command.substr(0, command.find(' '))};
    if (command.find(' ') != command.npos) all.push_back(command.substr(command.find(' ') + 1));
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.emplace_back("--json");
    const std::string out = run(all, status);
    const Json json = Json::parse(out, nullptr, false);
    EXPECT_TRUE(json.is_object() && !json.empty()) << command << ": " << out;
    if (!json.is_object() || json.empty()) return json;
    EXPECT_EQ(json.begin().key(), "schema") << command;
    EXPECT_EQ(json.value("schema", 0), 1) << command;
    const Documented documented = documented_keys(command);
    EXPECT_GT(documented.keys.size(), 1u) << command << ": has no section in docs/json.md";
    std::set<std::string> printed;
    collect_keys(json, "", printed);
    for (const std::string& key : printed) {
      EXPECT_TRUE(documented.has(key)) << command << ": docs/json.md does not have " << key;
    }
    return json;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(CliJson, OfFilesAndTheMachine) {
  EXPECT_EQ(checked("new", {"--units", "1", "--width", "4", "-o", "n"})["out"], "n");
  EXPECT_EQ(checked("info", {"sact"})["model"], "sact");
  const Json exported = checked("export", {"sact", "--dtype", "f16", "-o", "small"});
  EXPECT_EQ(exported["model"], "sact");
  EXPECT_EQ(exported["out"], "small");
  checked("export", {"none", "--onnx", "m.onnx"});
  const io::SafetensorsFile model(directory_ / "none");
  std::vector<io::NamedTensor> tensors;
  for (const auto& [name, view] : model.tensors()) tensors.push_back({name, view});
  io::write_safetensors(directory_ / "published", tensors, {});  // without a spec
  EXPECT_EQ(checked("import", {"published", "-o", "imported"})["source"], "published");
  EXPECT_EQ(checked("synth", {"-o", "shapes", "--count", "3", "--size", "32"})["images"], 3);
  checked("doctor", {});
}

TEST_F(CliJson, OfImages) {
  const Json predicted = checked("predict", {"sact", "photos", "missing.png", "-o", "maps"}, 1);
  EXPECT_EQ(predicted["images"].size(), 3u);
  const Json found = checked("detect", {"detector", "photos", "missing.png", "--score", "0"}, 1);
  EXPECT_EQ(found["detections"].get<size_t>(),
            found["images"][0]["detections"].size() + found["images"][1]["detections"].size());
  EXPECT_TRUE(found["images"][0]["map"].is_string());
  const Json scored = checked(
      "detect", {"detector", "--eval", "--gt", "gt.json", "--data", "photos", "--no-pictures"});
  EXPECT_TRUE(scored["AP"].is_number()) << "as coco-eval has it";
  checked("saliency map", {"sact", "photos", "missing.png", "--size", "32"}, 1);
  const std::vector<std::string> dial = {"--halting-shift", "1", "--hard-budget", "0.99"};
  EXPECT_EQ(checked("predict", {"sact", "photos", dial[0], dial[1]})["dial"]["shift"], 1);
  EXPECT_EQ(checked("detect", {"detector", "photos", "--no-pictures", dial[0], dial[1], dial[2],
                               dial[3]})["dial"]["shift"],
            1);
  checked("saliency map", {"sact", "photos", "--size", "32", dial[0], dial[1]});
}

TEST_F(CliJson, OfMeasurements) {
  const std::vector<std::string> data = {"--data", "synthetic:size=32,count=1,val=12"};
  std::vector<std::string> arguments = {"sact"};
  arguments.insert(arguments.end(), data.begin(), data.end());
  const Json result = checked("eval", arguments);
  std::vector<std::string> calibration = {"sact",  "--shifts=-1,1", "--dense", "none",
                                          "--out", "dial",          "--plot",  "dial.svg"};
  calibration.insert(calibration.end(), data.begin(), data.end());
  checked("calibrate", calibration);
  EXPECT_EQ(checked("info", {"dial"})["dial"]["points"].size(), 2u);
  checked("eval", {"dial", data[0], data[1], "--halting-shift", "1", "--hard-budget", "0.97"});
  checked("bench", {"dial", "photos", "--rounds", "1", "--halting-shift", "1"});
  write("sact.json", io::dump_json(result));
  checked("table", {"SACT=sact.json", "--csv", "table.csv"});
  const Json baseline =
      checked("baseline", {"sact", "--from", "none", "--result", "sact.json", "-o", "b"});
  EXPECT_EQ(baseline["adaptive"]["units"], result["units"]) << "in the form of eval";
  EXPECT_EQ(baseline["adaptive"]["flops"], result["flops"]);
  checked("bench", {"sact", "--rounds", "1", "--size", "32", "--density", "0.5", "--layers"});
  checked("coco-eval", {"--gt", "gt.json", "--dt", "dt.json"});
}

TEST_F(CliJson, OfSettings) {
  EXPECT_EQ(checked("train", {"--settings"})["settings"]["momentum"], 0.9);
  EXPECT_TRUE(checked("train-detector", {"--settings"})["settings"].contains("anchor_sizes"));
  EXPECT_EQ(checked("adapt", {"--settings"})["settings"]["images"], Json::array());
}

TEST_F(CliJson, OfSaliency) {
  checked("saliency center", {"--data", "photos", "--fixations", "looks"});
  const Json json =
      checked("saliency eval", {"sact", "--data", "photos", "--fixations", "looks", "--size",
                                "32x48", "--blur", "1,2", "--center-weight", "0.1"});
  EXPECT_EQ(json["height"], 32);
}

#ifdef SACT_HAS_TORCH
TEST_F(CliJson, OfTraining) {
  checked("train", {"--data", "synthetic:size=36,count=8,val=4", "-o", "run", "units=2,1",
                    "stem=small", "unit=basic", "width=4", "size=32", "batch=4", "epochs=1"});
  checked("train-detector",
          {"--data", "synthetic:size=64,count=2,val=1", "-o", "found", "train=train", "val=val",
           "shorter_side=64", "stem=small", "unit=basic", "width=4", "units=1,1,1",
           "anchor_sizes=16,32", "batch=2", "epochs=1"});
  checked("adapt", {"run/best.safetensors", "--images", "photos", "-o", "adapted", "size=32",
                    "batch=1", "epochs=1"});
}
#endif

}  // namespace
}  // namespace sact
