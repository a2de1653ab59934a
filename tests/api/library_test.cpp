// The library through its public headers, and against the program.
#include <gtest/gtest.h>
#include <sact/sact.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <thread>

#include "api/pictures.h"
#include "support/sanitizers.h"

namespace sact {
namespace {

using test::error_of, test::expect_same, test::kPicture, test::kTrained, test::Library, test::waves;

TEST_F(Library, AModelSaysWhatItIs) {
  const Model model = Model::load(path("sact"));
  EXPECT_EQ(model.classes(), 7);
  EXPECT_EQ(model.input_size(), 64);
  EXPECT_EQ(model.halting(), Halting::kSact);
  EXPECT_EQ(model.units(), (std::vector<int>{2, 4}));
  EXPECT_TRUE(model.labels().empty());
  EXPECT_EQ(model.label(6), "class 6");
  EXPECT_NE(error_of([&] { model.label(7); }).find("7"), std::string::npos);
  EXPECT_GT(model.parameters(), 1000);
  EXPECT_TRUE(model.remarks().empty());
  const Model trained = Model::load(kTrained);
  ASSERT_EQ(trained.labels().size(), size_t(trained.classes()));
  EXPECT_EQ(trained.label(3), trained.labels()[3]);
  const Model plain = Model::load(path("plain"));
  EXPECT_EQ(plain.halting(), Halting::kNone);
  // All but the small head grows with the area.
  const double ratio = double(plain.dense_flops(128, 128)) / double(plain.dense_flops(64, 64));
  EXPECT_NEAR(ratio, 4, 0.01);
  EXPECT_NE(error_of([&] { plain.dense_flops(8, 64); }).find("8x64"), std::string::npos);
}

TEST_F(Library, GivesWhatThePredictCommandGives) {
  const auto predicted = test::run_sact(
      {"predict", kTrained, kPicture, "--no-pictures", "--json", "--threads", "1", "--top", "2"});
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  const auto number_after = [&](const std::string& key) {
    const size_t at = predicted.out.find("\"" + key + "\":");
    EXPECT_NE(at, std::string::npos) << predicted.out;
    return std::strtod(predicted.out.c_str() + at + key.size() + 3, nullptr);
  };
  const Model model = Model::load(kTrained);
  SessionOptions options;
  options.threads = 1;
  Session session(model, options);
  const Result result = session.run(Image::load(kPicture));
  EXPECT_EQ(result.top(1)[0].index, int(number_after("class")));
  EXPECT_EQ(result.top(1)[0].score, number_after("score"));
  EXPECT_EQ(result.flops(), int64_t(number_after("flops")));
  EXPECT_EQ(result.dense_flops(), int64_t(number_after("dense_flops")));
  EXPECT_NE(predicted.out.find(result.top(1)[0].label), std::string::npos);
  EXPECT_LT(result.flops(), result.dense_flops());
  EXPECT_EQ(result.dense_flops(), model.dense_flops(model.input_size(), model.input_size()));
}

TEST_F(Library, ASessionDoesAsMuchWorkAsItIsTold) {
  const Model model = Model::load(path("sact"));
  const Image image = waves(90, 70, 1);
  const auto flops = [&](const SessionOptions& options) {
    return Session(model, options).run(image).flops();
  };
  SessionOptions more, less, limited;
  more.work.halting_shift = -1;
  less.work.halting_shift = 1;
  limited.work.halting_shift = -1;
  limited.work.hard_budget = 0.9;
  EXPECT_GT(flops(more), flops({}));
  EXPECT_LT(flops(less), flops({}));
  EXPECT_LE(double(flops(limited)), 0.9 * double(model.dense_flops(64, 64)));
  SessionOptions same;
  same.work.hard_budget = 1;
  expect_same(Session(model, same).run(image), Session(model).run(image));
}

TEST_F(Library, ABudgetTakesTheCurveOfTheModel) {
  SessionOptions options;
  options.work.budget = 0.9;
  const std::string message = error_of([&] { Session(Model::load(path("sact")), options); });
  EXPECT_NE(message.find("budget 0.9: "), std::string::npos) << message;
  EXPECT_NE(message.find("sact calibrate"), std::string::npos) << message;
  EXPECT_NE(error_of([&] { Session(Model::load(path("plain")), options); }).find("plain network"),
            std::string::npos);
  const auto made =
      test::run_sact({"calibrate", path("sact"), "--images", kPicture, "--out", path("dial")});
  ASSERT_EQ(made.status, 0) << made.err;
  const Model model = Model::load(path("dial"));
  const Result result = Session(model, options).run(Image::load(kPicture));
  EXPECT_NEAR(double(result.flops()) / double(result.dense_flops()), 0.9, 0.03);
}

TEST_F(Library, AResultIsConsistent) {
  Session session(Model::load(path("sact")));
  const Result result = session.run(waves(90, 70, 1));
  const std::vector<double> probabilities = result.probabilities();
  ASSERT_EQ(probabilities.size(), 7u);
  EXPECT_NEAR(std::accumulate(probabilities.begin(), probabilities.end(), 0.0), 1, 1e-12);
  const std::vector<ClassScore> top = result.top(100);
  ASSERT_EQ(top.size(), 7u);
  EXPECT_EQ(top[0].score, *std::max_element(probabilities.begin(), probabilities.end()));
  for (const ClassScore& entry : top) EXPECT_EQ(entry.score, probabilities[size_t(entry.index)]);
  EXPECT_TRUE(result.top(0).empty());
  ASSERT_EQ(result.blocks().size(), 2u);
  const Map map = result.ponder_cost_map();
  const Map &first = result.blocks()[0].ponder_cost, &second = result.blocks()[1].ponder_cost;
  EXPECT_EQ(map.height, 16);
  EXPECT_EQ(second.height, 8);
  EXPECT_FLOAT_EQ(map.at(5, 10), first.at(5, 10) + second.at(2, 5));
  double mean = 0;
  for (float value : map.values) mean += value / double(map.values.size());
  EXPECT_NEAR(mean, result.ponder_cost(), 1e-4);
  const auto& units = result.blocks()[1].units;
  EXPECT_NE(*std::min_element(units.begin(), units.end()),
            *std::max_element(units.begin(), units.end()));  // this model does halt somewhere
}

TEST_F(Library, PlainModelsSpendEverything) {
  Session session(Model::load(path("plain")));
  const Result result = session.run(waves(64, 64, 0));
  EXPECT_EQ(result.flops(), result.dense_flops());
  EXPECT_EQ(result.ponder_cost(), 6);
}

TEST_F(Library, AnImageEqualsItsPreparedInputAndItsTensor) {
  const Model model = Model::load(path("sact"));
  Session session(model);
  const Image image = waves(200, 110, 2);
  const NetworkInput input = model.prepare(image);
  EXPECT_EQ(input.height, 64);
  EXPECT_EQ(input.width, 64);
  const Result right = session.run(image);
  expect_same(session.run(input), right);
  const auto results = session.run_tensor(input.planes.data(), 1, input.height, input.width);
  ASSERT_EQ(results.size(), 1u);
  expect_same(results[0], right);
}

TEST_F(Library, InputCanBeLargerOrTheWholeImage) {
  const Model model = Model::load(path("sact"));
  Session session(model);
  const Image image = waves(200, 100, 3);
  InputOptions options;
  options.size = 96;
  EXPECT_EQ(session.run(image, options).blocks()[0].units.size(), 24u * 24);
  options.whole = true;
  EXPECT_EQ(model.prepare(image, options).width, 192);
  EXPECT_EQ(session.run(image, options).blocks()[0].ponder_cost.width, 48);
  options.size = 8;
  EXPECT_NE(error_of([&] { session.run(image, options); }).find("8x16"), std::string::npos);
}

TEST_F(Library, ABatchGivesEachImageWhatItGetsAlone) {
  SessionOptions options;
  options.batch = 3;
  Session session(Model::load(path("sact")), options);
  std::vector<Image> images;
  for (int i = 0; i < 8; ++i) images.push_back(waves(i < 5 ? 100 : 70, 80, i));
  InputOptions whole;  // so that inputs have two sizes
  whole.whole = true;
  for (const InputOptions& input : {InputOptions{}, whole}) {
    const std::vector<Result> results = session.run(images, input);
    ASSERT_EQ(results.size(), images.size());
    for (size_t i = 0; i < images.size(); ++i) {
      const Result alone = session.run(images[i], input);
      EXPECT_EQ(results[i].flops(), alone.flops());
      for (size_t c = 0; c < 7; ++c) EXPECT_NEAR(results[i].logits()[c], alone.logits()[c], 1e-4);
    }
  }
  EXPECT_TRUE(session.run(std::vector<Image>{}).empty());
}

TEST_F(Library, ASessionServesImagesOfAnySizeInTurn) {
  const Model model = Model::load(path("sact"));
  Session session(model);
  const std::vector<float> small(3 * 40 * 56, 0.25f), large(3 * 96 * 64, -0.5f);
  const Result first = session.run_tensor(small.data(), 1, 40, 56)[0];
  const Result other = session.run_tensor(large.data(), 1, 96, 64)[0];
  expect_same(session.run_tensor(small.data(), 1, 40, 56)[0], first);
  expect_same(Session(model).run_tensor(large.data(), 1, 96, 64)[0], other);
}

TEST_F(Library, EightThreadsWithASessionEachShareAModel) {
  const Model model = Model::load(path("sact"));
  SessionOptions options;
  options.threads = 1;
  std::vector<Image> images;
  std::vector<Result> right;
  for (int i = 0; i < 4; ++i) images.push_back(waves(80 + i, 90, i));
  for (const Image& image : images) right.push_back(Session(model, options).run(image));
  std::vector<std::vector<Result>> found(8);
  std::vector<std::thread> threads;
  for (std::vector<Result>& mine : found) {
    threads.emplace_back([&, &mine = mine] {
      Session session(model, options);
      for (int repeat = 0; repeat < 3; ++repeat) {
        for (const Image& image : images) mine.push_back(session.run(image));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Result>& mine : found) {
    ASSERT_EQ(mine.size(), 12u);
    for (size_t i = 0; i < mine.size(); ++i) expect_same(mine[i], right[i % 4]);
  }
}

TEST_F(Library, HandlesOutliveWhatTheyCameFrom) {
  Image image = waves(64, 64, 1);
  std::vector<Result> kept;
  {
    Model model = Model::load(path("sact"));
    Session session(model);
    const Model moved = std::move(model);
    EXPECT_EQ(model.classes(), moved.classes());  // moving a handle copies it
    kept.push_back(session.run(image));
    Session next = std::move(session);
    expect_same(next.run(image), kept[0]);
    EXPECT_NE(error_of([&] { session.run(image); }).find("moved"), std::string::npos);
    session = std::move(next);
    expect_same(session.run(image), kept[0]);
  }
  EXPECT_EQ(kept[0].top(1)[0].label, "class " + std::to_string(kept[0].top(1)[0].index));
  EXPECT_GT(kept[0].dense_flops(), 0);
}

TEST_F(Library, PicturesComeFromFilesMemoryAndPixels) {
  const Image file = Image::load(kPicture);
  std::ifstream stream(kPicture, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  const Image memory = Image::decode(bytes.data(), bytes.size());
  EXPECT_EQ(memory.rgb(), file.rgb());
  const Image pixels = Image::from_pixels(file.width(), file.height(), file.rgb());
  EXPECT_EQ(pixels.rgb().size(), size_t(file.width()) * size_t(file.height()) * 3);
  EXPECT_NE(error_of([&] { Image::decode(bytes.data(), 100, "cut"); }).find("cut"),
            std::string::npos);
  EXPECT_EQ(Image::load(kPicture, int64_t(file.width()) * file.height()).rgb(), file.rgb());
  const std::string limit =
      error_of([&] { Image::decode(bytes.data(), bytes.size(), "large", 9); });
  EXPECT_NE(
      limit.find("more than the 9 that are read here; make it smaller first, or raise max_pixels"),
      std::string::npos)
      << limit;
  EXPECT_NE(error_of([&] { Image::load(kPicture, 0); }).find("max_pixels must be 1"),
            std::string::npos);
  EXPECT_NE(error_of([] { Image::load("no/such.png"); }).find("no/such.png"), std::string::npos);
  EXPECT_NE(error_of([] { Image::from_pixels(2, 2, std::vector<uint8_t>(11)); }).find("12 bytes"),
            std::string::npos);
  error_of([] { Image::from_pixels(0, 2, {}); });
  error_of([] { Image::from_pixels(-1, -3, std::vector<uint8_t>(9)); });
  error_of([] { Image::from_pixels(2000000000, 2000000000, {}); });
}

TEST_F(Library, MistakesAreErrorsOfOneLine) {
  EXPECT_NE(error_of([] { Model::load("no/such/model"); }).find("no/such/model"),
            std::string::npos);
  EXPECT_NE(error_of([] { Model::load(kPicture); }).find("safetensors"), std::string::npos);
  ModelOptions unknown;
  unknown.isa = "mmx";
  EXPECT_NE(error_of([&] { Model::load(path("sact"), unknown); }).find("mmx"), std::string::npos);
  const Model model = Model::load(path("sact"));
  for (SessionOptions options : {SessionOptions{-1, 8}, SessionOptions{100000, 8}}) {
    EXPECT_NE(error_of([&] { Session(model, options); }).find("threads"), std::string::npos);
  }
  EXPECT_NE(error_of([&] { Session(model, {1, 0}); }).find("batch"), std::string::npos);
  Session session(model);
  std::vector<float> planes(3 * 64 * 64, 0.0f);
  const Result right = session.run_tensor(planes.data(), 1, 64, 64)[0];
  error_of([&] { session.run_tensor(planes.data(), -1, 64, 64); });
  error_of([&] { session.run_tensor(nullptr, 1, 64, 64); });
  error_of([&] { session.run_tensor(planes.data(), 1, 64, 16); });
  error_of([&] { session.run_tensor(planes.data(), 1, -64, -64); });
  error_of([&] { session.run(NetworkInput{64, 32, planes}); });
  error_of([&] { session.run(NetworkInput{-64, -64, planes}); });
  EXPECT_TRUE(session.run_tensor(nullptr, 0, 64, 64).empty());
  planes[77] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(error_of([&] { session.run_tensor(planes.data(), 1, 64, 64); }).find("finite"),
            std::string::npos);
  planes[77] = 0;
  expect_same(session.run_tensor(planes.data(), 1, 64, 64)[0], right);  // the session goes on
}

TEST_F(Library, BFloat16GivesNearlyTheSameLogits) {
  ModelOptions half;
  half.precision = Precision::kBFloat16;
  const Image image = waves(64, 64, 5);
  const Result right = Session(Model::load(path("plain"))).run(image);
  const Result found = Session(Model::load(path("plain"), half)).run(image);
  double error = 0, norm = 0;
  for (size_t c = 0; c < 7; ++c) {
    error += std::pow(found.logits()[c] - right.logits()[c], 2);
    norm += std::pow(right.logits()[c], 2);
  }
  EXPECT_LT(std::sqrt(error / norm), 2e-2);
  EXPECT_GT(error, 0) << "bfloat16 was not used";
}

TEST_F(Library, EveryInstructionSetGivesTheSameClasses) {
  ModelOptions scalar;
  scalar.isa = "scalar";
  const Image image = waves(64, 64, 5);
  const Result right = Session(Model::load(path("plain"), scalar)).run(image);
  const Result found = Session(Model::load(path("plain"))).run(image);
  for (size_t c = 0; c < 7; ++c) EXPECT_NEAR(found.logits()[c], right.logits()[c], 1e-3);
}

#ifndef SACT_MEMORY_IS_SANITIZED

TEST_F(Library, MemoryThatIsNotThereIsAnError) {
  Session session(Model::load(kTrained));
  const Image image = waves(80, 60, 1);
  rlimit old_limit{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &old_limit), 0);
  const rlimit small{rlim_t{4} << 30, old_limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &small), 0);
  InputOptions options;
  options.size = 5000;
  const std::string message = error_of([&] { session.run(image, options); });
  setrlimit(RLIMIT_AS, &old_limit);
  EXPECT_NE(message.find("running 1 image of 5000x5000 would need"), std::string::npos) << message;
}

#endif

}  // namespace
}  // namespace sact
