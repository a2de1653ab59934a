// Saliency maps of the library against `sact saliency map`.
#include "api/pictures.h"
#include "app/backends.h"
#include "app/saliency_map.h"
#include "io/image.h"
#include "model/model_file.h"

namespace sact {
namespace {

using test::kPicture, test::LibraryDetector;

/// The command's own settings.
const SaliencyOptions kBoth = {0, 3, 1, 0.25}, kAlone = {0, 3, 0, 0.25};

struct LibraryMaps {
  Map alone, both;
};

template <typename Runner>
LibraryMaps maps_of(const std::string& model) {
  SessionOptions one;
  one.threads = 1;
  Runner runner(Model::load(model), one);
  const Image image = Image::load(kPicture);
  return {runner.saliency_map(image, kAlone), runner.saliency_map(image, kBoth)};
}

class SaliencyCommand : public LibraryDetector {
 protected:
  /// What the command shows of a map.
  static Map shown(const Map& map) {
    return saliency::softmax(saliency::normalized(map), app::SaliencyMapOptions{}.temperature);
  }

  static void expect_what_the_command_has(const std::string& model, const LibraryMaps& maps) {
    const Map alone = shown(maps.alone), both = shown(maps.both);
    // Its maps, to the last bit.
    const ModelFile file(model);
    app::Compute compute;
    compute.threads = 1;
    const auto session = app::open_session(file, compute);
    app::SaliencyMapOptions options;
    options.settings = {kBoth.blur, kBoth.center_weight};
    app::SaliencyInput input;
    input.input.path = input.item.image = kPicture;
    const app::SaliencyMapResult right =
        app::saliency_map(*session, file.spec(), app::Center(app::CenterOptions{}), input, options);
    EXPECT_EQ(alone.values, right.picture.ponder.values);
    EXPECT_EQ(both.values, right.picture.combined.values);
    EXPECT_NE(both.values, alone.values);
    // Its picture.
    const auto run = test::run_sact(
        {"saliency", "map", model, kPicture, "--threads", "1", "--out", path("maps")});
    ASSERT_EQ(run.status, 0) << run.err;
    app::SaliencyPicture picture = right.picture;
    picture.ponder = alone;
    picture.combined = both;
    EXPECT_EQ(io::read_image(path("maps") + "/ponder.png.saliency.png").rgb,
              app::draw_saliency_picture(picture).rgb);
  }
};

TEST_F(SaliencyCommand, ShowsWhatTheLibraryGivesOfAClassifier) {
  expect_what_the_command_has(path("sact"), maps_of<Session>(path("sact")));
}

TEST_F(SaliencyCommand, ShowsWhatTheLibraryGivesOfADetector) {
  expect_what_the_command_has(path("detector"), maps_of<Detector>(path("detector")));
}

}  // namespace
}  // namespace sact
