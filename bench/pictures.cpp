// CPU time of the pictures that predict and detect write: drawing, encoding, and the overview.
//
//   build/bench_pictures [--rounds 20] [--out DIR] PHOTO...
#include <CLI/CLI.hpp>
#include <cmath>
#include <ctime>
#include <functional>
#include <iostream>

#include "base/error.h"
#include "io/image.h"
#include "report/detection_picture.h"
#include "report/ponder_picture.h"
#include "report/ponder_sheet.h"
#include "report/table.h"

namespace sact {
namespace {

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

/// The mean of `rounds` runs after one that counts for nothing.
double mean_ms(int rounds, const std::function<void()>& work) {
  work();
  const double start = cpu_ms();
  for (int i = 0; i < rounds; ++i) work();
  return (cpu_ms() - start) / rounds;
}

/// A map like those of a network: smooth, with a part that halted early.
Map made_up_map(int side, double units) {
  Map map(side, side);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const double wave = std::sin(0.37 * x * 28 / side) * std::cos(0.23 * y * 28 / side);
      map.at(y, x) = float(1 + std::max(0.0, wave) * units + 0.013 * ((x * 7 + y * 13) % 5));
    }
  }
  return map;
}

report::PonderPicture ponder_picture(const io::RgbImage& photo) {
  report::PonderPicture picture;
  picture.photo = photo;
  picture.total = made_up_map(56, 30);
  const int units[] = {3, 4, 23, 3};
  for (int block = 0; block < 4; ++block) {
    picture.blocks.push_back({made_up_map(56 >> block, units[block]), units[block]});
  }
  picture.title = "ILSVRC2012_val_00012345.JPEG: English springer 97.3 %";
  picture.subtitle = "ponder cost 21.42 of at most 37, 9.87 GFLOP = 63 % of the dense network";
  return picture;
}

report::DetectionPicture detection_picture(const io::RgbImage& photo) {
  report::DetectionPicture picture;
  picture.photo = photo;
  picture.ponder_cost = made_up_map(38, 30);
  for (int i = 0; i < 8; ++i) {
    const float x = float(photo.width) * 0.1f * float(i),
                y = float(photo.height) * 0.05f * float(i);
    picture.objects.push_back({{x, y, x + 80, y + 60}, i, "springer spaniel 97 %"});
  }
  picture.title = "000000123456.jpg: 8 objects";
  picture.subtitle = "extractor 63 % of the dense work";
  picture.caption = "objects of at least 30 %";
  return picture;
}

void measure(const std::string& path, int rounds, const std::string& out, report::Table& table) {
  const io::RgbImage photo = io::read_image(path);
  const std::string name = std::filesystem::path(path).filename().string() + " " +
                           std::to_string(photo.width) + "x" + std::to_string(photo.height);
  const auto add = [&](const char* what, const std::function<io::RgbImage()>& draw) {
    io::RgbImage picture;
    const double drawing = mean_ms(rounds, [&] { picture = draw(); });
    size_t bytes = 0;
    const double encoding = mean_ms(rounds, [&] { bytes = io::encode_png(picture).size(); });
    if (!out.empty()) io::write_image(out + "/" + name + " " + what + ".png", picture);
    table.rows.push_back(
        {name, what, fmt::format("{:.2f}", drawing), fmt::format("{:.2f}", encoding),
         fmt::format("{:.2f}", drawing + encoding), fmt::format("{:.0f}", double(bytes) / 1024)});
  };
  const report::PonderPicture ponder = ponder_picture(photo);
  add("ponder", [&] { return report::draw_ponder_picture(ponder); });
  const report::DetectionPicture found = detection_picture(photo);
  add("detection", [&] { return report::draw_detection_picture(found); });
  add("overview of 16", [&] {
    report::PonderSheet sheet;
    for (int i = 0; i < 16; ++i) {
      sheet.add(photo, ponder.total, "a photograph\nEnglish springer 97.3 %\nponder cost 21.42");
    }
    return sheet.draw(4);
  });
}

}  // namespace
}  // namespace sact

int main(int argc, char** argv) {
  CLI::App app("CPU milliseconds of drawing and encoding pictures");
  std::vector<std::string> photos;
  std::string out;
  int rounds = 20;
  app.add_option("--out", out, "Folder to keep the pictures in")->check(CLI::ExistingDirectory);
  app.add_option("photos", photos, "Photographs")->required();
  app.add_option("--rounds", rounds, "Runs to take the mean of")->check(CLI::Range(1, 10000));
  CLI11_PARSE(app, argc, argv);
  try {
    sact::report::Table table{
        {"photograph", "picture", "draw ms", "encode ms", "ms", "KiB"}, {}, {}};
    for (const std::string& photo : photos) sact::measure(photo, rounds, out, table);
    std::cout << to_text(table);
  } catch (const sact::Error& error) {
    std::cerr << "bench_pictures: " << error.what() << "\n";
    return 1;
  }
}
