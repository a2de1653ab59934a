// Classifying an image in memory: no file, no command.
#include "app/prediction.h"

#include <gtest/gtest.h>

#include "app/backends.h"
#include "base/random.h"
#include "support/random_model.h"
#include "support/temporary.h"

namespace sact::app {
namespace {

class Classify : public ::testing::Test {
 protected:
  Classify() {
    write_model(directory_ / "m", spec_, test::random_weights(spec_, 1));
    session_ = open_session(ModelFile(directory_ / "m"), {.threads = 1});
    Random random(2);
    for (uint8_t& value : image_.rgb) value = uint8_t(random.below(256));
  }

  test::TemporaryDirectory directory_;
  ModelSpec spec_ = test::tiny_spec(Halting::kSact);
  std::unique_ptr<NetworkSession> session_;
  io::RgbImage image_ = io::RgbImage(90, 60);
};

TEST_F(Classify, AnImageGivesWhatItsPreparedPixelsGive) {
  const ViewOptions options{Framing::kKeepAspect, {48, 48}};
  const Prediction found = classify(*session_, spec_, image_, "noise", {options, 2});
  EXPECT_EQ(found.path, "noise");
  EXPECT_EQ(found.size, (Size{48, 72}));
  EXPECT_EQ(found.crop.right, 90);
  EXPECT_EQ(found.top.size(), 2u);
  const View view = view_of(image_, spec_.input, options);
  const std::vector<float> pixels = network_pixels(image_, view, spec_.input);
  const auto prepared =
      classify(*session_, spec_, pixels_view(pixels, 1, view.size), {"noise"}, 2).front();
  EXPECT_EQ(found.result.logits, prepared.result.logits);
  EXPECT_GT(found.ms.preprocess, 0);
  EXPECT_GT(found.ms.network, 0);
}

TEST_F(Classify, TheJsonTellsTheResultAndThePictureShowsIt) {
  const Prediction found = classify(*session_, spec_, image_, "noise", {{}, 3});
  const io::Json json = prediction_json(spec_, found);
  EXPECT_EQ(json["path"], "noise");
  EXPECT_EQ(json["top"].size(), 3u);
  EXPECT_EQ(json["top"][0]["class"], found.top[0].index);
  EXPECT_EQ(json["flops"], found.result.flops);
  EXPECT_EQ(json["blocks"].size(), spec_.units.size());
  EXPECT_TRUE(json["map"].is_null());
  const io::RgbImage picture = prediction_picture(spec_, found, io::cut(image_, found.crop));
  EXPECT_GT(picture.width, 0);
  EXPECT_EQ(picture.rgb.size(), size_t(picture.width) * size_t(picture.height) * 3);
}

}  // namespace
}  // namespace sact::app
