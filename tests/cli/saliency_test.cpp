// sact saliency eval and center, run as a program on a tiny data set in the layout of CAT2000.
#include <cmath>

#include "base/file.h"
#include "cli/saliency_samples.h"
#include "io/json.h"

namespace sact::test {
namespace {

using io::Json;

TEST_F(CliSaliency, CenterHasTheDocumentedKeys) {
  const auto finished = run({"saliency", "center", "--data", "cat", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  EXPECT_EQ(json["images"], 8);
  EXPECT_GT(json["auc_judd"], 0.7) << "people look at the middle here";
  ASSERT_EQ(json["per_category"].size(), 2u);
  EXPECT_EQ(json["per_category"][0]["category"], "A");
  EXPECT_EQ(json["per_category"][0]["images"], 4);
  for (const char* key : {"auc_judd", "nss", "cc", "sim", "kl", "auc_borji", "sauc"}) {
    const double mean =
        (json["per_category"][0][key].get<double>() + json["per_category"][1][key].get<double>()) /
        2;
    EXPECT_NEAR(json[key].get<double>(), mean, 1e-9) << key;
    EXPECT_GT(json["standard_errors"][key], 0) << key;
  }
}

TEST_F(CliSaliency, EvalSearchesOnOneHalfAndReportsOnTheOther) {
  const auto finished = eval(
      {"--blur", "1,3", "--center-weight", "0.1,1,3", "--csv", "t.csv", "--per-image", "i.csv"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  EXPECT_EQ(json["images"], 4);
  EXPECT_EQ(json["search"]["images"], 4);
  ASSERT_EQ(json["search"]["settings"].size(), 6u);
  const Json& settings = json["search"]["settings"];
  const Json best =
      *std::max_element(settings.begin(), settings.end(),
                        [](const Json& a, const Json& b) { return a["auc_judd"] < b["auc_judd"]; });
  EXPECT_EQ(json["blur"], best["blur"]);
  EXPECT_EQ(json["center_weight"], best["center_weight"]);
  for (const char* key : {"auc_judd", "nss", "cc"}) {
    EXPECT_NEAR(json["gain"][key].get<double>(),
                json[key].get<double>() - json["center"][key].get<double>(), 1e-9);
  }
  const std::string rows = text_of("i.csv");
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 5);
  EXPECT_EQ(rows.find("A/1.jpg"), std::string::npos) << "of the first half";
  EXPECT_NE(rows.find("B/4.jpg"), std::string::npos);
  EXPECT_NE(text_of("t.csv").find("all images,4,"), std::string::npos);

  const Json alone =
      Json::parse(run({"saliency", "center", "--data", "cat", "--part", "second", "--json"}).out);
  EXPECT_EQ(alone["auc_judd"], json["center"]["auc_judd"]);
  EXPECT_EQ(alone["sauc"], json["center"]["sauc"]);
}

TEST_F(CliSaliency, WithFixedSettingsNothingIsSearched) {
  const auto finished = eval({"--blur", "2", "--center-weight", "10000", "--part", "all"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  EXPECT_EQ(json["images"], 8);
  EXPECT_TRUE(json["search"].is_null());
  EXPECT_NEAR(json["gain"]["auc_judd"].get<double>(), 0, 0.01) << "the centre outweighs the map";
  const auto before = run({"saliency", "eval", "--data", "cat", "--size", "36x64", "--json",
                           "--part", "all", "--blur", "2", "--center-weight", "0", "m"});
  ASSERT_EQ(before.status, 0) << "the model may come last: " << before.err;
  const Json map = Json::parse(before.out);
  EXPECT_GT(std::abs(map["gain"]["auc_judd"].get<double>()), 0.02);
}

TEST_F(CliSaliency, ADetectorIsMeasuredByItsExtractor) {
  make_detector("d", 36);  // so that `sact detect` scales the images to 36x64
  const auto finished = eval({"--blur", "2", "--center-weight", "0.1", "--part", "all"}, "d");
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json detected =
      Json::parse(run({"detect", "d", "cat/Stimuli", "--no-pictures", "--json"}).out);
  double flops = 0, dense_flops = 0;
  for (const Json& image : detected["images"]) {
    EXPECT_EQ(image["scaled_width"], 64);
    flops += image["flops"].get<double>();
    dense_flops += image["dense_flops"].get<double>();
  }
  EXPECT_NE(flops, dense_flops);
  const Json json = Json::parse(finished.out);
  const double count = double(detected["images"].size());
  EXPECT_DOUBLE_EQ(json["flops"].get<double>(), flops / count);
  EXPECT_DOUBLE_EQ(json["dense_flops"].get<double>(), dense_flops / count);
}

TEST_F(CliSaliency, TheUsualSizeIsThatOfThePaper) {
  make_detector("d", 64);
  const auto size_of = [&](const std::string& model) {
    const auto finished = run({"saliency", "eval", model, "--data", "cat", "--blur", "2",
                               "--center-weight", "0.1", "--json"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    const Json json = Json::parse(finished.out);
    return Json({json["height"], json["width"]});
  };
  EXPECT_EQ(size_of("m"), Json({180, 320}));
  EXPECT_EQ(size_of("d"), Json({360, 640}));
}

TEST_F(CliSaliency, ASearchOnImagesThatAreReportedIsWarnedOf) {
  const auto with_part = [&](const std::string& part) {
    return eval({"--blur", "1,3", "--center-weight", "0.1", "--part", part});
  };
  const Finished all = with_part("all"), first = with_part("first"), second = with_part("second");
  EXPECT_NE(all.err.find("were chosen on 4 of the images reported on"), std::string::npos);
  EXPECT_EQ(Json::parse(all.out)["search"]["also_reported"], 4);
  EXPECT_EQ(Json::parse(all.out)["images"], 8);
  EXPECT_NE(first.err.find("were chosen on 4 of the images reported on"), std::string::npos);
  EXPECT_EQ(Json::parse(first.out)["images"], 4);
  EXPECT_EQ(second.err.find("reported on"), std::string::npos) << second.err;
  EXPECT_EQ(Json::parse(second.out)["search"]["also_reported"], 0);
  const Finished table = run({"saliency", "eval", "m", "--data", "cat", "--size", "36x64", "--blur",
                              "1,3", "--center-weight", "0.1", "--part", "all"});
  EXPECT_NE(table.out.find("which are among those above"), std::string::npos) << table.out;
}

TEST_F(CliSaliency, ABestSettingAtTheEndOfThoseTriedIsWarnedOf) {
  const std::string weights = eval({"--blur", "2", "--center-weight", "1000,0,1e6"}).err;
  EXPECT_EQ(weights.find("--center-weight"), std::string::npos) << "1000 is inside: " << weights;
  const std::string low = eval({"--blur", "2", "--center-weight", "0.001,0.0001"}).err;
  EXPECT_NE(low.find("the best --center-weight, 0.001, is the highest of those tried"),
            std::string::npos)
      << low;
}

TEST_F(CliSaliency, EveryFixationFileIsReadBeforeTheNetworkRuns) {
  const std::string photo = directory_ / "cat/Stimuli/A/1.jpg";
  const std::vector<std::byte> whole = read_file(photo, 1 << 20);
  write_file_atomically(photo, std::span(whole).first(whole.size() * 3 / 4));
  expect_error(eval({}), "A/1.jpg: cannot be decoded");
  write_file_atomically(fixations("B/4"), std::string_view("of the second half"));
  expect_error(eval({}), "B/4.mat: is not a MATLAB");
}

TEST_F(CliSaliency, ACentreMapFromAFile) {
  Map off(20, 20);
  off.at(0, 0) = 1;
  write_mat<double>(directory_ / "center.mat", "center", off);
  const Json wrong = Json::parse(
      run({"saliency", "center", "--data", "cat", "--center", "center.mat", "--json"}).out);
  EXPECT_LT(wrong["auc_judd"], 0.55);
  const auto other = run({"saliency", "center", "--data", "cat", "--center", "center.mat",
                          "--center-variable", "middle"});
  expect_error(other, "has no variable 'middle'; it has 'center'");
}

TEST_F(CliSaliency, PngFixationMapsOfAnyFolderAreRead) {
  std::filesystem::create_directories(directory_ / "maps");
  std::filesystem::create_directories(directory_ / "photos");
  for (const char* name : {"x", "y"}) {
    std::filesystem::copy(directory_ / "cat/Stimuli/A/1.jpg",
                          directory_ / ("photos/" + std::string(name) + ".jpg"));
    io::RgbImage looks(kWidth, kHeight);
    looks.pixel(kWidth / 2, kHeight / 2)[0] = 255;
    looks.pixel(kWidth / 2 + 3, kHeight / 2)[1] = 255;
    io::write_image(directory_ / ("maps/" + std::string(name) + ".png"), looks);
  }
  const auto finished =
      run({"saliency", "center", "--data", "photos", "--fixations", "maps", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  EXPECT_EQ(json["images"], 2);
  EXPECT_GT(json["auc_judd"], 0.98);
}

TEST_F(CliSaliency, BadFixationFilesGetOneLine) {
  const auto center = [&] { return run({"saliency", "center", "--data", "cat"}); };
  write_mat<uint8_t>(fixations("A/2"), "other", Map(kHeight, kWidth, 1.0f));
  expect_error(center(), "A/2.mat: has no variable 'fixLocs'; it has 'other'");
  write_mat_file(fixations("A/2"), MAT_FT_MAT5, [](mat_t* file) {
    write_variable<double>(file, "fixLocs", {2, 2, 2}, {1, 0, 0, 0, 0, 0, 0, 0},
                           MAT_COMPRESSION_NONE);
  });
  expect_error(center(), "has 3 dimensions");
  write_mat<uint8_t>(fixations("A/2"), "fixLocs", Map(kHeight, kWidth));
  expect_error(center(), "no pixel is fixated");
  const std::vector<std::byte> whole = read_file(fixations("A/3"), 1 << 20);
  write_file_atomically(fixations("A/2"), std::span(whole).first(whole.size() - 40));
  expect_error(center(), "A/2.mat: ends too early or is damaged");
  std::filesystem::remove(fixations("A/2"));
  expect_error(center(), "A/2.jpg: has no fixation map");
}

TEST_F(CliSaliency, MatlabFilesNeedTheProgramThatReadsThem) {
  const auto center_by = [&](const std::string& program) {
    return Running({.program = directory_ / program,
                    .arguments = {"saliency", "center", "--data", "cat", "--json"},
                    .directory = directory_.path()})
        .wait();
  };
  std::filesystem::create_directories(directory_ / "bin");
  std::filesystem::create_directories(directory_ / "lib/sact");
  std::filesystem::copy(SACT_PROGRAM, directory_ / "bin/sact");
  expect_error(center_by("bin/sact"), ".mat: cannot be read, because sact_mat_reader is not");
  std::filesystem::copy(std::filesystem::path(SACT_PROGRAM).replace_filename("sact_mat_reader"),
                        directory_ / "lib/sact/sact_mat_reader");
  const Finished installed = center_by("bin/sact");
  EXPECT_EQ(installed.status, 0) << installed.err;
  std::filesystem::permissions(directory_ / "lib/sact/sact_mat_reader",
                               std::filesystem::perms::owner_read);
  expect_error(center_by("bin/sact"), "sact_mat_reader: cannot be run: Permission denied");
}

TEST_F(CliSaliency, OtherMistakesGetOneLine) {
  make_model("plain", "none");
  expect_error(eval({}, "plain"), "halting 'none'");
  Map tall(kWidth, kHeight);
  tall.at(3, 3) = 1;
  write_mat<uint8_t>(fixations("A/2"), "fixLocs", tall);
  expect_error(eval({}), "both must have one shape");
  expect_error(run({"saliency", "center", "--data", "cat"}), "both must have one shape");
  expect_error(run({"saliency", "center", "--data", "none"}), "layout of CAT2000");
  expect_error(run({"saliency", "center"}), "--data", 2);
  expect_error(run({"saliency"}), "eval, map, center", 2);
  expect_error(eval({"--blur", "nan"}), "not a number from 0 to 1000", 2);
  expect_error(eval({"--center-weight", "nan"}), "not a number", 2);
  expect_error(eval({"--seed", "-1"}), "--seed", 2);
  expect_error(eval({"--csv", "none/t.csv"}), "none");
}

}  // namespace
}  // namespace sact::test
