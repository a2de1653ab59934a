// What goes with one call of the library: views of pixels, work, progress, cancellation; and
// saliency maps.
#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "api/pictures.h"

namespace sact {
namespace {

using test::error_of, test::expect_same, test::Library, test::LibraryDetector, test::waves;

/// The pixels of an image in another order, with `gap` bytes after each row, and how they lie.
struct Reordered {
  Reordered(const Image& image, PixelOrder order, int gap) {
    const int channels = order == PixelOrder::kRgb || order == PixelOrder::kBgr ? 3
                         : order == PixelOrder::kGrey                           ? 1
                                                                                : 4;
    const bool swapped = order == PixelOrder::kBgr || order == PixelOrder::kBgra;
    const size_t stride = size_t(image.width() * channels + gap);
    bytes.assign(stride * size_t(image.height()), 77);
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) {
        const uint8_t* rgb = &image.rgb()[size_t(3 * (y * image.width() + x))];
        uint8_t* to = &bytes[size_t(y) * stride + size_t(x * channels)];
        for (int c = 0; c < std::min(channels, 3); ++c) to[swapped ? 2 - c : c] = rgb[c];
        if (channels == 4) to[3] = 255;
      }
    }
    view = {bytes.data(), image.width(), image.height(), ptrdiff_t(stride), order};
  }

  std::vector<uint8_t> bytes;
  ImageView view;
};

TEST_F(Library, AViewGivesWhatItsPictureGivesWhateverTheOrder) {
  Session session(Model::load(path("sact")));
  const Image image = waves(90, 70, 1);
  const Result right = session.run(image);
  for (const PixelOrder order :
       {PixelOrder::kRgb, PixelOrder::kBgr, PixelOrder::kRgba, PixelOrder::kBgra}) {
    for (const int gap : {0, 13}) {
      const Reordered pixels(image, order, gap);
      expect_same(session.run(pixels.view), right);
      EXPECT_EQ(Image::copy(pixels.view).rgb(), image.rgb());
    }
  }
  EXPECT_EQ(Model::load(path("sact")).prepare(image.view()).planes,
            Model::load(path("sact")).prepare(image).planes);
}

TEST_F(Library, GreyAndTransparentPixelsAreWhatAViewerShows) {
  const uint8_t grey[] = {0, 100, 255};
  EXPECT_EQ(Image::copy({grey, 3, 1, 0, PixelOrder::kGrey}).rgb(),
            std::vector<uint8_t>({0, 0, 0, 100, 100, 100, 255, 255, 255}));
  const uint8_t clear[] = {10, 20, 30, 0, 10, 20, 30, 255};
  EXPECT_EQ(Image::copy({clear, 2, 1, 0, PixelOrder::kRgba}).rgb(),
            std::vector<uint8_t>({255, 255, 255, 10, 20, 30}));
  EXPECT_EQ(Image::copy({clear + 4, 1, 1, 0, PixelOrder::kBgra}).rgb(),
            std::vector<uint8_t>({30, 20, 10}));
}

TEST_F(Library, RowsMayGoUpwards) {
  const Image image = waves(40, 50, 2);
  const ImageView whole = image.view();
  const ImageView upwards{whole.data + 49 * whole.stride, 40, 50, -whole.stride, whole.order};
  const Image turned = Image::copy(upwards);
  EXPECT_TRUE(
      std::equal(turned.rgb().begin(), turned.rgb().begin() + 120, image.rgb().end() - 120));
  EXPECT_EQ(Image::copy({turned.view().data + 49 * 120, 40, 50, -120}).rgb(), image.rgb());
}

TEST_F(Library, AViewOfNoPictureIsAnError) {
  Session session(Model::load(path("sact")));
  const uint8_t pixel[4] = {};
  EXPECT_NE(error_of([&] { session.run(ImageView{}); }).find("has none"), std::string::npos);
  EXPECT_NE(error_of([&] {
              session.run(ImageView{nullptr, 2, 2});
            }).find("no address"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              session.run(ImageView{pixel, 2, 2, 5});
            }).find("stride"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              session.run(ImageView{pixel, 1, 1, 0, PixelOrder(9)});
            }).find("9"),
            std::string::npos);
  error_of([&] { session.run(ImageView{pixel, 2000000000, 2000000000}); });
}

TEST_F(Library, ImagesOfDifferentSizesRunTogetherWhereTheirInputsAreAlike) {
  SessionOptions options;
  options.batch = 4;
  Session session(Model::load(path("sact")), options);
  std::vector<Image> images;
  for (int i = 0; i < 8; ++i) images.push_back(waves(i % 2 ? 100 : 70, 80, i));
  RunOptions call;
  call.input.whole = true;
  std::vector<std::pair<int, int>> told;
  call.progress = [&](int done, int total) { told.emplace_back(done, total); };
  const std::vector<Result> results = session.run(images, call);
  EXPECT_EQ(told, (std::vector<std::pair<int, int>>{{4, 8}, {8, 8}}));  // two sizes, four of each
  ASSERT_EQ(results.size(), images.size());
  for (size_t i = 0; i < images.size(); ++i) {
    const Result alone = session.run(images[i], InputOptions{0, true});
    EXPECT_EQ(results[i].flops(), alone.flops());
    for (size_t c = 0; c < 7; ++c) EXPECT_NEAR(results[i].logits()[c], alone.logits()[c], 1e-4);
  }
}

TEST_F(Library, WorkOfOneCallIsNotThatOfTheNext) {
  const Model model = Model::load(path("sact"));
  Session session(model);
  const Image image = waves(90, 70, 1);
  const Result usual = session.run(image);
  for (const Work& work : {Work{1, 0, 0}, Work{-1, 0, 0.9}, Work{0, 0, 0.85}}) {
    SessionOptions options;
    options.work = work;
    RunOptions call;
    call.work = work;
    expect_same(session.run(image, call), Session(model, options).run(image));
    EXPECT_NE(session.run(image, call).flops(), usual.flops());
    expect_same(session.run(image), usual);
  }
  RunOptions wrong;
  wrong.work = Work{0, 0.9, 0};
  EXPECT_NE(error_of([&] { session.run(image, wrong); }).find("budget 0.9"), std::string::npos);
  expect_same(session.run(image), usual);
}

TEST_F(Library, ACallCanBeCancelledAfterAnyUnit) {
  const Model model = Model::load(path("plain"));  // 6 units
  for (const int threads : {1, 3}) {
    SessionOptions options;
    options.threads = threads;
    Session session(model, options);
    const Image image = waves(90, 70, 1);
    const Result right = session.run(image);
    RunOptions call;
    int asked = 0, last = 0;
    call.cancelled = [&] { return ++asked == last; };
    for (last = 1; last <= 6; ++last) {
      asked = 0;
      EXPECT_THROW(session.run(image, call), Cancelled);
      EXPECT_EQ(asked, last);
      expect_same(session.run(image), right);
    }
    asked = 0;
    expect_same(session.run(image, call), right);  // nobody says true
    EXPECT_EQ(asked, 6);
    call.cancelled = []() -> bool { throw std::logic_error("mine"); };
    EXPECT_THROW(session.run(image, call), std::logic_error);
    expect_same(session.run(image), right);
  }
}

TEST_F(Library, ASaliencyMapIsThePonderCostMapBlurredAndCentred) {
  Session session(Model::load(path("sact")));
  const Image image = waves(120, 90, 4);
  SaliencyOptions plain;
  plain.size = 64;
  plain.blur = 0;
  plain.center_weight = 0;
  const Map map = session.saliency_map(image, plain);
  const Map ponder = session.run(image, InputOptions{64, true}).ponder_cost_map();
  ASSERT_EQ(map.values.size(), ponder.values.size());
  const auto [low, high] = std::minmax_element(ponder.values.begin(), ponder.values.end());
  ASSERT_LT(*low, *high);
  for (size_t i = 0; i < map.values.size(); ++i) {
    EXPECT_NEAR(map.values[i], (ponder.values[i] - *low) / (*high - *low), 1e-6);
  }
  SaliencyOptions centred = plain;
  centred.blur = 5;
  centred.center_weight = 1000;
  const Map middle = session.saliency_map(image, centred);
  EXPECT_GT(middle.at(middle.height / 2, middle.width / 2), 900);
  EXPECT_LT(middle.at(0, 0), 100);
  EXPECT_EQ(session.saliency_map(image).height, 45);  // of 180 pixels
  SaliencyOptions wrong;
  wrong.blur = -1;
  EXPECT_NE(error_of([&] { session.saliency_map(image, wrong); }).find("blur"), std::string::npos);
  Session dense(Model::load(path("plain")));
  EXPECT_NE(error_of([&] { dense.saliency_map(image); }).find("same everywhere"),
            std::string::npos);
}

TEST_F(Library, WarmSessionsGiveWhatColdOnesGive) {
  const Model model = Model::load(path("sact"));
  Session session(model);
  session.warm_up();
  session.warm_up(3, InputOptions{96, false});
  const Image image = waves(90, 70, 1);
  const Result result = session.run(image);
  expect_same(result, Session(model).run(image));
  EXPECT_GT(result.ms().network, 0);
  EXPECT_GT(result.ms().prepare, 0);
  EXPECT_NE(error_of([&] { session.warm_up(0); }).find("none"), std::string::npos);
  EXPECT_NE(error_of([&] {
              session.warm_up(1, InputOptions{8, false});
            }).find("8x8"),
            std::string::npos);
}

TEST_F(LibraryDetector, MessagesAreNotInTheWordsOfOneLanguage) {
  // Users of C and Python read them too: no class of C++ and no option of the program.
  const Model classifier = Model::load(path("sact")), finder = model();
  Session session(classifier);
  Detector detector(finder);
  const Image image = waves(64, 64, 1);
  const auto expect_neutral = [](const std::string& word, const std::function<void()>& call) {
    const std::string message = error_of(call);
    EXPECT_NE(message.find(word), std::string::npos) << message;
    EXPECT_EQ(message.find("::"), std::string::npos) << message;
    EXPECT_EQ(message.find("use --"), std::string::npos) << message;
  };
  expect_neutral("threads", [&] { Session(classifier, {-1, 8}); });
  expect_neutral("batch", [&] { Session(classifier, {1, 0}); });
  for (const auto& [word, work] :
       {std::pair("halting_shift", Work{1e9, 0, 0}), std::pair("budget", Work{0, -1, 0}),
        std::pair("hard_budget", Work{0, 0, -1}), std::pair("calibrate", Work{0, 0.5, 0}),
        std::pair("halting_shift or budget", Work{1, 0.5, 0})}) {
    expect_neutral(word, [&, &work = work] { Session(classifier, {1, 8, work}); });
  }
  for (const auto& [word, saliency] : {std::pair("blur", SaliencyOptions{64, -1, 0, 1}),
                                       std::pair("center_weight", SaliencyOptions{64, 1, -1, 1}),
                                       std::pair("center_sigma", SaliencyOptions{64, 1, 0, 0})}) {
    expect_neutral(word, [&, &saliency = saliency] { session.saliency_map(image, saliency); });
  }
  for (const auto& [word, wanted] :
       {std::pair("score", DetectOptions{NAN, 1}), std::pair("score", DetectOptions{30, 1}),
        std::pair("most", DetectOptions{0, -1}), std::pair("boxes", DetectOptions{0, 1, -1})}) {
    expect_neutral(word, [&, &wanted = wanted] { detector.detect(image, wanted); });
  }
  expect_neutral("make a detector of it", [&] { Session{finder}; });
  expect_neutral("make a session of it", [&] { Detector{classifier}; });
  ModelOptions nowhere;
  nowhere.device = "tpu";
  expect_neutral("use device cpu", [&] { Model::load(path("sact"), nowhere); });
}

TEST_F(Library, ADeviceThatIsNotThereIsAnError) {
  EXPECT_EQ(Model::devices().front(), "cpu");
  ModelOptions options;
  options.device = "tpu";
  EXPECT_NE(error_of([&] { Model::load(path("sact"), options); }).find("tpu"), std::string::npos);
}

TEST_F(Library, AGpuComputesWhatTheCpuDoesOrSaysThatThereIsNone) {
  const std::vector<std::string> devices = Model::devices();
  const bool has_engine = std::find(devices.begin(), devices.end(), "cuda") != devices.end();
  ModelOptions options;
  options.device = "cuda";
  try {
    const Image image = waves(90, 70, 1);
    const auto found = Session(Model::load(path("sact"), options)).run(image).logits();
    const auto right = Session(Model::load(path("sact"))).run(image).logits();
    ASSERT_EQ(found.size(), right.size());
    for (size_t i = 0; i < right.size(); ++i) EXPECT_NEAR(found[i], right[i], 1e-2);
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(has_engine ? "GPU" : "cuda"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace sact
