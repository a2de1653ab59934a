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

std::string lines_of_map(const Map& map) {
  std::string lines = line_of("%d x %d\n", map.height, map.width);
  for (const float value : map.values) lines += line_of("%.9g\n", double(value));
  return lines;
}

std::string lines_of_blocks(const Detections& found) {
  std::string lines;
  for (const BlockResult& block : found.blocks()) {
    lines += line_of("%d x %d\n", block.ponder_cost.height, block.ponder_cost.width);
    for (size_t i = 0; i < block.units.size(); ++i) {
      lines += line_of("%.9g %d\n", double(block.ponder_cost.values[i]), int(block.units[i]));
    }
  }
  return lines + line_of("%d x %d\n", found.scaled_height(), found.scaled_width());
}

TEST_F(LibraryDetector, AProgramInCGetsTheSame) {
  make("remarked", R"({"author": "me", "units": [2, 4], "width": 4, "classes": 7, "halting": "act",
                       "input": {"size": 64}})");
  const auto program = test::Running({SACT_C_PROGRAM,
                                      {path("sact"), path("detector"), path("cut_detector"),
                                       path("remarked"), kPicture}})
                           .wait();
  EXPECT_EQ(program.status, 0) << program.out << program.err;
  std::string right;
  for (const std::string& device : Model::devices()) right += device + "\n";
  const std::vector<std::string> remarks = Model::load(path("remarked")).remarks();
  EXPECT_EQ(remarks.size(), 1u);
  for (const std::string& remark : remarks) right += remark + "\n";
  SessionOptions one;
  one.threads = 1;
  const Image image = Image::load(kPicture);
  Session session(Model::load(path("sact")), one);
  Detector detector(model(), one);
  const Result result = session.run(image);
  const ClassScore best = result.top(1)[0];
  const DetectedObject object = detector.detect(image, {0, 4}).objects()[3];
  const Detections found = detector.detect(image);
  right += line_of("%d %s %.17g %.9g %lld %lld %.17g %.9g\n", best.index, best.label.c_str(),
                   best.score, double(result.logits()[6]), (long long)result.flops(),
                   (long long)result.dense_flops(), result.ponder_cost(),
                   double(result.ponder_cost_map().values[3]));
  right += lines_of_map(session.saliency_map(image, {64, 0, 0, 0.25}));
  right +=
      line_of("%d %s %.17g %.9g %.9g %.9g %.9g %lld %.17g\n", object.index, object.label.c_str(),
              object.score, double(object.box.x0), double(object.box.y0), double(object.box.x1),
              double(object.box.y1), (long long)found.flops(), found.ponder_cost());
  right += lines_of_map(found.ponder_cost_map());
  right += lines_of_blocks(found);
  right += lines_of_map(detector.saliency_map(image));
  EXPECT_EQ(program.out, right);
}

}  // namespace
}  // namespace sact
