// The library through sact/c.h, by a program in C, against the classes of C++.
#include "api/pictures.h"

namespace sact {
namespace {

using test::kPicture, test::LibraryDetector;

template <typename... Values>
std::string line_of(const char* format, Values... values) {
  char line[300];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

TEST_F(LibraryDetector, AProgramInCGetsTheSame) {
  const auto program =
      test::Running(
          {SACT_C_PROGRAM, {path("sact"), path("detector"), path("cut_detector"), kPicture}})
          .wait();
  EXPECT_EQ(program.status, 0) << program.out << program.err;
  SessionOptions one;
  one.threads = 1;
  const Image image = Image::load(kPicture);
  const Result result = Session(Model::load(path("sact")), one).run(image);
  const ClassScore best = result.top(1)[0];
  const DetectedObject object = Detector(model(), one).detect(image, {0, 4}).objects()[3];
  const Detections found = Detector(model(), one).detect(image);
  EXPECT_EQ(program.out,
            line_of("%d %s %.17g %.9g %lld %lld %.17g %.9g\n", best.index, best.label.c_str(),
                    best.score, double(result.logits()[6]), (long long)result.flops(),
                    (long long)result.dense_flops(), result.ponder_cost(),
                    double(result.ponder_cost_map().values[3])) +
                line_of("%d %s %.17g %.9g %.9g %lld %.17g\n", object.index, object.label.c_str(),
                        object.score, double(object.box.x0), double(object.box.y1),
                        (long long)found.flops(), found.ponder_cost()));
}

}  // namespace
}  // namespace sact
