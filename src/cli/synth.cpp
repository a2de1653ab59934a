// sact synth: writes pictures of the built-in synthetic data set, as an image folder with boxes.
#include <memory>

#include "base/file.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/command.h"
#include "data/synthetic.h"
#include "io/image.h"
#include "model/spec.h"

namespace sact::cli {
namespace {

constexpr int64_t kMostPictures = 10'000'000;
constexpr int64_t kLastFirst = 1'000'000'000'000'000;  // far from where indices overflow

struct SynthOptions {
  CommonOptions common;
  std::string out, size = "64";
  int64_t count = 100, first = 0;
  uint64_t seed = 0;
};

int run(const SynthOptions& options) {
  const Size size = parse_size(options.size);
  data::SyntheticOptions synthetic;
  synthetic.height = size.height;
  synthetic.width = size.width;
  synthetic.seed = options.seed;
  const std::filesystem::path root(options.out);
  for (std::string_view name : data::synthetic_class_names()) make_directories(root / name);
  std::string boxes = "file,class,x0,y0,x1,y1\n";
  Progress progress("writing", options.count, "images");
  for (int64_t i = options.first; i < options.first + options.count; ++i) {
    const data::SyntheticSample sample = data::synthetic_sample(synthetic, i);
    const std::string_view name = data::synthetic_class_names()[size_t(sample.label)];
    const std::string file = fmt::format("{}/{:06}.png", name, i);
    io::write_image(root / file, sample.image);
    boxes += fmt::format("{},{},{:.1f},{:.1f},{:.1f},{:.1f}\n", file, name, sample.box.x0,
                         sample.box.y0, sample.box.x1, sample.box.y1);
    progress.advance();
  }
  progress.finish();
  write_file_atomically(root / "boxes.csv", boxes);
  if (options.common.json) {
    print_json({{"out", options.out}, {"images", options.count}, {"seed", options.seed}});
  } else {
    print(fmt::format("wrote {} of {} classes and boxes.csv to {}",
                      pluralize(options.count, "image"), data::kSyntheticClasses, options.out));
    print_hint(fmt::format("next: sact predict MODEL {}", options.out));
  }
  return 0;
}

}  // namespace

void declare_synth(CLI::App& app, Action& action) {
  auto options = std::make_shared<SynthOptions>();
  CLI::App* command =
      app.add_subcommand("synth", "Write pictures of the built-in synthetic data set");
  command->add_option("-o,--out", options->out, "Directory to fill: CLASS/NUMBER.png and boxes.csv")
      ->required()
      ->type_name("DIR");
  command->add_option("--count", options->count, "Number of pictures")
      ->check(CLI::Range(int64_t{1}, kMostPictures))
      ->capture_default_str();
  command->add_option("--first", options->first, "Index of the first picture")
      ->check(CLI::Range(int64_t{0}, kLastFirst))
      ->capture_default_str();
  command->add_option("--size", options->size, "Size of the pictures: 64 or HxW")
      ->type_name("HxW")
      ->check(image_size())
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the data set")
      ->check(CLI::Range(int64_t{0}, INT64_MAX))
      ->capture_default_str();
  add_output_options(*command, options->common);
  set_examples(*command, "  sact synth --out shapes --count 200 --size 96 --seed 1");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
