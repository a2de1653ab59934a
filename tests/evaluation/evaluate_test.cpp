// The evaluation loop around a network that is only pretended.
#include "evaluation/evaluate.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <utility>

#include "base/error.h"
#include "data/open.h"
#include "io/image.h"
#include "model/preprocess.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact::evaluation {
namespace {

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

/// Takes bright images for class 1 and dark ones for class 0, and remembers what it was given.
class BrightnessSession : public NetworkSession {
 public:
  std::vector<ImageResult> run(const InputView& input) override {
    EXPECT_TRUE(input.complete());
    EXPECT_EQ(input.layout, InputLayout::kPixels);
    batches.push_back(input.count);
    inputs.insert(inputs.end(), input.values.begin(), input.values.end());
    std::vector<ImageResult> results(static_cast<size_t>(input.count));
    for (size_t i = 0; i < results.size(); ++i) {
      results[i].logits = {0, input.part(int(i), 1).values.front()};
      results[i].flops = input.size.positions();
      results[i].blocks.push_back({Map(1, 1), {2}});
      if (int(i) == not_finite) results[i].logits[0] = std::numeric_limits<float>::quiet_NaN();
    }
    return results;
  }

  std::span<float> input_memory(int64_t values) override {
    if (!has_memory) return {};
    memory.assign(size_t(values), -1);
    return memory;
  }

  bool has_memory = false;
  std::vector<float> memory;
  int not_finite = -1;  // an image of a batch for which it gives no number
  std::vector<int> batches;
  std::vector<float> inputs;
};

class Evaluate : public ::testing::Test {
 protected:
  Evaluate() {
    spec_.units = {2};
    spec_.classes = 2;
    spec_.labels = {"a", "b"};
    request_.data = directory_.path();
    request_.sizes = {{32, 48}};
    request_.batch = 2;
    request_.workers = request_.threads = 2;
  }

  void write(const std::string& name, int value, int width = 60, int height = 40) {
    std::filesystem::create_directories((directory_ / name).parent_path());
    io::RgbImage image(width, height);
    for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = uint8_t(value + int(i % 7));
    io::write_image(directory_ / name, image);
  }

  void write_damaged(const std::string& name) {
    std::filesystem::create_directories((directory_ / name).parent_path());
    std::ofstream(directory_ / name) << "\xff\xd8\xff\xe0 nothing more";
  }

  std::vector<EvalOutcome> evaluate_now() {
    NetworkSession* const sessions[] = {&session_};
    return evaluate(sessions, spec_, request_);
  }

  test::TemporaryDirectory directory_;
  ModelSpec spec_;
  EvaluationRequest request_;
  BrightnessSession session_;
};

TEST_F(Evaluate, RunsEveryImageOfTheSplitAtEverySize) {
  for (int i = 0; i < 3; ++i) write("val/dark/" + std::to_string(i) + ".png", 10 * i);
  write("val/light/0.png", 220);
  write("val/light/1.png", 15);  // not as light as its class
  spec_.labels = {"dark", "light"};
  request_.sizes = {{32, 48}, {64, 64}};
  std::vector<std::string> names;
  request_.on_image = [&](const EvaluatedImage& image) {
    if (image.size == Size{64, 64}) {
      names.push_back(std::filesystem::path(image.name).lexically_relative(directory_.path()));
      EXPECT_EQ(image.label, names.size() > 3);
    }
  };
  const auto outcomes = evaluate_now();
  ASSERT_EQ(outcomes.size(), 2u);
  for (const EvalOutcome& outcome : outcomes) {
    EXPECT_EQ(outcome.images, 5);
    EXPECT_EQ(outcome.accuracy, 0.8);
    EXPECT_EQ(outcome.recall5, 1) << "there are but two classes";
    EXPECT_EQ(outcome.flops.mean, double(outcome.size.positions()));
    EXPECT_GT(outcome.network_seconds, 0);
    EXPECT_GT(outcome.seconds, outcome.network_seconds);
  }
  EXPECT_EQ(session_.batches, (std::vector<int>{2, 2, 1, 2, 2, 1}));
  EXPECT_EQ(names, (std::vector<std::string>{"val/dark/0.png", "val/dark/1.png", "val/dark/2.png",
                                             "val/light/0.png", "val/light/1.png"}));
}

TEST_F(Evaluate, SessionsThatTakeTurnsSayTheSameInTheSameOrder) {
  for (int i = 0; i < 7; ++i) write("val/a/" + std::to_string(i) + ".png", 30 * i);
  for (int i = 0; i < 4; ++i) write("val/b/" + std::to_string(i) + ".png", 50 * i);
  std::vector<std::string> names;
  std::vector<float> logits;
  request_.on_image = [&](const EvaluatedImage& image) {
    names.push_back(image.name);
    logits.push_back(image.result.logits[1]);
  };
  const auto alone = evaluate_now();
  const auto names_alone = std::exchange(names, {});
  const auto logits_alone = std::exchange(logits, {});
  BrightnessSession first, second, third;
  second.has_memory = true;
  NetworkSession* const sessions[] = {&first, &second, &third};
  const auto outcomes = evaluate(sessions, spec_, request_);
  EXPECT_EQ(names, names_alone);
  EXPECT_EQ(logits, logits_alone);
  EXPECT_EQ(outcomes[0].accuracy, alone[0].accuracy);
  EXPECT_EQ(outcomes[0].images, 11);
  EXPECT_GT(outcomes[0].network_seconds, 0);
  EXPECT_EQ(first.batches, (std::vector<int>{2, 2}));
  EXPECT_EQ(second.batches, (std::vector<int>{2, 2}));
  EXPECT_EQ(third.batches, (std::vector<int>{2, 1}));
}

TEST_F(Evaluate, AMistakeOfOneOfSeveralSessionsEndsTheWork) {
  for (int i = 0; i < 9; ++i) write("val/a/" + std::to_string(i) + ".png", 0);
  BrightnessSession first, second;
  second.not_finite = 0;
  NetworkSession* const sessions[] = {&first, &second};
  const std::string message = test::error_of([&] { evaluate(sessions, spec_, request_); });
  EXPECT_NE(message.find("val/a/2.png: the network's output is not finite"), std::string::npos)
      << message;
}

TEST_F(Evaluate, TheNetworkSeesTheCentralCropOfWhatTheLoaderStores) {
  write("val/a/0.png", 0, 64, 64);  // squares of one size are stored as they are
  write("val/b/0.png", 90, 64, 64);
  evaluate_now();
  std::vector<float> expected;
  for (const char* name : {"val/a/0.png", "val/b/0.png"}) {
    const io::RgbImage image = io::read_image(directory_ / name);
    append_network_pixels(image, {io::central_crop(image, 0.875), {32, 48}}, spec_.input, expected);
  }
  EXPECT_EQ(session_.inputs, expected);
}

TEST_F(Evaluate, ADamagedImageIsNamedOnceAndLeftOut) {
  write("val/a/0.png", 0);
  write("val/a/1.png", 0);
  write_damaged("val/b/2.jpg");
  request_.sizes = {{32, 32}, {64, 64}};
  CaptureStderr();
  const auto outcomes = evaluate_now();
  const std::string said = GetCapturedStderr();
  EXPECT_EQ(outcomes[1].images, 2);
  EXPECT_EQ(outcomes[1].accuracy, 1);
  EXPECT_NE(said.find("left out: " + (directory_ / "val/b/2.jpg").string()), std::string::npos);
  EXPECT_NE(said.find("class 'b' is lost: none of its 1 image"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2) << said;
}

TEST_F(Evaluate, TooManyDamagedImagesAreAnError) {
  write("val/a/0.png", 0);
  write_damaged("val/a/1.jpg");
  write_damaged("val/b/2.jpg");
  CaptureStderr();
  const std::string message = test::error_of([&] { evaluate_now(); });
  GetCapturedStderr();
  EXPECT_NE(message.find("more than the 1 allowed"), std::string::npos) << message;
}

TEST_F(Evaluate, NothingButADamagedImageIsAnError) {
  write_damaged("val/a/0.jpg");
  CaptureStderr();
  const std::string message = test::error_of([&] { evaluate_now(); });
  GetCapturedStderr();
  EXPECT_NE(message.find("none of the 1 image can be read"), std::string::npos) << message;
}

TEST_F(Evaluate, ClassesThatTheNetworkHasNotAreRefused) {
  for (const char* name : {"val/a/0.png", "val/b/0.png", "val/c/0.png"}) write(name, 0);
  const std::string message = test::error_of([&] { evaluate_now(); });
  EXPECT_NE(message.find("1 of its 3 classes (c) is none of the network's 2 (a and b)"),
            std::string::npos)
      << message;
}

TEST_F(Evaluate, ClassesAreTheNetworksByName) {
  spec_.classes = 4;
  spec_.labels = {"n01440764", "b", "x", "a"};
  for (const char* name : {"val/a/0.png", "val/b/0.png", "val/tench/0.png"}) write(name, 0);
  std::vector<int> labels;
  request_.on_image = [&](const EvaluatedImage& image) { labels.push_back(image.label); };
  evaluate_now();
  EXPECT_EQ(labels, (std::vector<int>{3, 1, 0}));
}

TEST_F(Evaluate, OutputThatIsNotFiniteIsAnErrorThatNamesTheImage) {
  write("val/a/0.png", 0);
  write("val/b/1.png", 0);
  session_.not_finite = 1;
  const std::string message = test::error_of([&] { evaluate_now(); });
  EXPECT_NE(message.find("val/b/1.png: the network's output is not finite"), std::string::npos)
      << message;
}

TEST_F(Evaluate, CanBeInterruptedBetweenBatches) {
  for (int i = 0; i < 6; ++i) write("val/a/" + std::to_string(i) + ".png", 0);
  request_.interrupted = [&] { return session_.batches.size() == 2; };
  EXPECT_THROW(evaluate_now(), Interrupted);
  EXPECT_EQ(session_.batches.size(), 2u);
}

}  // namespace
}  // namespace sact::evaluation
