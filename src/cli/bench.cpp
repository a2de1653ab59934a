// sact bench: how fast a network runs here, and how much of the skipped work is saved time.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "api/kernel_choice.h"
#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "base/threads.h"
#include "cli/backend.h"
#include "cli/command.h"
#include "cli/evaluation.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "io/image.h"
#include "measure/active_sets.h"
#include "measure/benchmark.h"
#include "measure/peer.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/preprocess.h"
#include "report/table.h"

namespace sact::cli {
namespace {

using measure::Candidate;

struct BenchOptions {
  CommonOptions common;
  std::string model, csv;
  std::vector<std::string> images, sizes, dtypes = {"fp32"}, peers;
  std::vector<int> batches = {1};
  std::vector<double> densities = {0.25, 0.5, 0.75, 1};
  int rounds = 15;
  double pause_ms = 0;
  uint64_t seed = 1;
  bool torch = false, layers = false;
};

/// One line of the result: a candidate beside the dense run of its rounds.
struct Row {
  std::string what, dtype;
  int batch = 1;
  Size size;
  double density = 1;
  measure::Times times;
  double flops = 0;  // of a batch
  double dense_ms = 0, dense_flops = 0;
  double speedup = 1;
  double peak = 0;  // operations a second; 0: not known

  double rate() const { return flops / times.median() * 1e3; }
  double theoretical() const { return dense_flops / flops; }
};

/// What is the same for a group of candidates that take turns.
struct Group {
  Size size;
  int batch = 1;
  kernels::DataType type = kernels::DataType::kFloat32;
  std::string dtype;
};

std::vector<float> noise(int batch, Size size, uint64_t seed) {
  Random random(seed);
  std::vector<float> planes(size_t(3 * batch * size.positions()));
  for (float& value : planes) value = float(random.normal());
  return planes;
}

class Bench {
 public:
  explicit Bench(const BenchOptions& options)
      : options_(options),
        model_(options.model),
        spec_(image_network(model_.spec())),
        table_(api::kernel_table()),
        threads_(thread_count(options.common.threads)) {
    for (const std::string& remark : model_.remarks()) log_warning("{}", remark);
    sizes_ = parse_sizes(options.sizes);
    if (sizes_.empty()) sizes_.push_back(own_size(model_.spec()));
    if (options.torch) expect_classifier(model_);
    catch_interrupts();
  }

  std::vector<Row> run() {
    std::vector<Row> rows;
    for (const Size& size : sizes_) {
      validate_image_size(size);
      for (const std::string& dtype : options_.dtypes) {
        const Precision type = precision_from_name(dtype);
        if (!options_.images.empty()) {
          run_images({size, 1, type, dtype}, rows);
          continue;
        }
        for (int batch : options_.batches) run_group({size, batch, type, dtype}, rows);
      }
    }
    return rows;
  }

  const ModelFile& model() const { return model_; }
  const kernels::Table& table() const { return table_; }
  int threads() const { return threads_; }
  /// What --layers asks for, where it is not printed at once.
  const io::Json& layers() const { return layers_; }

 private:
  Row row_of(const Group& group, const std::string& what, const measure::Times& times,
             double flops) const {
    Row row;
    row.what = what;
    row.dtype = group.dtype;
    row.batch = group.batch;
    row.size = group.size;
    row.times = times;
    row.flops = flops;
    row.dense_flops = double(dense_flops(spec_, group.size)) * group.batch;
    return row;
  }

  void run_group(const Group& group, std::vector<Row>& rows) {
    std::vector<Candidate> candidates;
    std::vector<double> flops;
    std::vector<std::unique_ptr<engine::Session>> sessions;
    sessions.push_back(std::make_unique<engine::Session>(
        measure::dense_plan(model_, table_, group.type), threads_));
    sessions.back()->expect_memory(group.batch, group.size);
    const auto planes = noise(group.batch, group.size, options_.seed);
    auto add = [&](const std::string& name, Runner& runner) {
      candidates.push_back({name, [&runner, &planes, &group] {
                              return measure::milliseconds(
                                  [&] { runner.run(planes, group.batch, group.size); });
                            }});
      double sum = 0;
      for (const ImageResult& result : runner.run(planes, group.batch, group.size)) {
        sum += double(result.flops);
      }
      flops.push_back(sum);
    };
    add("dense", *sessions.back());
    std::vector<double> densities = {1};
    if (!options_.densities.empty()) {
      const auto plan = measure::adaptive_plan(model_, table_, group.type);
      for (double density : options_.densities) {
        sessions.push_back(std::make_unique<engine::Session>(plan, threads_));
        sessions.back()->prescribe_units(
            measure::units_of_density(plan->spec, group.batch, group.size, density, options_.seed));
        add("adaptive", *sessions.back());
        densities.push_back(density);
      }
    }
    std::unique_ptr<Runner> torch;
    std::vector<std::unique_ptr<measure::Peer>> peers;
    if (group.type == kernels::DataType::kFloat32) {
      if (options_.torch) {
        CommonOptions common = options_.common;
        torch = make_runner(model_, common, Backend::kTorch);
        add("LibTorch", *torch);
      }
      for (const std::string& command : options_.peers) {
        peers.push_back(std::make_unique<measure::Peer>(command));
        measure::Peer& peer = *peers.back();
        check_peer(peer, command, group);
        candidates.push_back({runtime_of(peer, command), [&peer] { return peer.run(); }});
        flops.push_back(double(dense_flops(spec_, group.size)) * group.batch);
      }
    }
    densities.resize(candidates.size(), 1);
    measure::Peak peak(table_, group.type, threads_);
    std::vector<double> peaks;
    candidates.push_back({"peak", [&] {
                            peaks.push_back(peak.measure());
                            return 0.0;
                          }});
    take_turns(candidates, fmt::format("{} {}", text(group.size), group.dtype));
    candidates.pop_back();
    std::sort(peaks.begin(), peaks.end());
    for (size_t i = 0; i < candidates.size(); ++i) {
      Row row = row_of(group, candidates[i].name, candidates[i].times, flops[i]);
      row.density = densities[i];
      row.dense_ms = candidates[0].times.median();
      row.speedup = row.dense_ms / row.times.median();
      row.peak = peaks[peaks.size() / 2];
      rows.push_back(row);
    }
    if (options_.layers) profile_layers(*sessions[0], planes, group);
  }

  /// What a peer said of itself under a key, or `otherwise` when it did not.
  static int said_number(const measure::Peer& peer, const std::string& command, const char* key,
                         int otherwise) {
    const io::Json& about = peer.about();
    if (!about.contains(key)) return otherwise;
    const io::Json& value = about[key];
    if (!value.is_number_integer()) {
      fail("'{}' said that its {} is {}, which is no whole number", printable(command), key,
           printable(value.dump(), 40));
    }
    return value.get<int>();
  }

  static std::string runtime_of(const measure::Peer& peer, const std::string& command) {
    const io::Json& about = peer.about();
    const bool said = about.contains("runtime") && about["runtime"].is_string();
    return said ? about["runtime"].get<std::string>() : command;
  }

  static void check_peer(const measure::Peer& peer, const std::string& command,
                         const Group& group) {
    const Size size{said_number(peer, command, "height", group.size.height),
                    said_number(peer, command, "width", group.size.width)};
    const int batch = said_number(peer, command, "batch", group.batch);
    if (size == group.size && batch == group.batch) return;
    fail(
        "'{}' runs {} of {}, but here it is {} of {}: give --size and --batch as the peer has them",
        printable(command), counted(batch, "image"), text(size), counted(group.batch, "image"),
        text(group.size));
  }

  /// Every image dense and adaptive, one after the other.
  void run_images(const Group& group, std::vector<Row>& rows) {
    if (!spec_.adaptive()) {
      fail("{}: is a plain network, which treats all images alike; leave out the images",
           model_.name());
    }
    engine::Session dense(measure::dense_plan(model_, table_, group.type), threads_);
    engine::Session adaptive(measure::adaptive_plan(model_, table_, group.type), threads_);
    const std::vector<Input> inputs = expand_inputs(options_.images);
    Candidate plain{"dense", {}}, skipping{"adaptive", {}};
    double flops = 0;
    int64_t count = 0;
    Progress progress("images", int64_t(inputs.size()), "images");
    for (const Input& input : inputs) {
      if (was_interrupted()) throw Interrupted("interrupted");
      adaptive.expect_memory(1, group.size);
      if (!input.error.empty()) fail("{}", input.error);
      const io::Image image = read_input(input);
      // A detector sees whole images.
      const io::Crop crop =
          model_.spec().detection ? io::whole(image) : io::central_crop(image, spec_.input.crop);
      const std::vector<float> planes = network_input(image, crop, group.size, spec_.input);
      for (int round = count == 0 ? -2 : 0; round < 1; ++round) {  // the first image warms up
        const double dense_ms = measure::milliseconds([&] { dense.run(planes, 1, group.size); });
        std::vector<ImageResult> results;
        const double ms =
            measure::milliseconds([&] { results = adaptive.run(planes, 1, group.size); });
        if (round < 0) continue;
        plain.times.ms.push_back(dense_ms);
        skipping.times.ms.push_back(ms);
        flops += double(results[0].flops);
      }
      ++count;
      progress.advance();
    }
    progress.finish();
    Row row = row_of(group, "dense", plain.times, double(dense_flops(spec_, group.size)));
    row.dense_ms = plain.times.median();
    rows.push_back(row);
    row = row_of(group, "adaptive", skipping.times, flops / double(count));
    row.dense_ms = plain.times.median();
    row.density = row.flops / row.dense_flops;
    row.speedup = plain.times.sum() / skipping.times.sum();
    rows.push_back(row);
  }

  void take_turns(std::vector<Candidate>& candidates, const std::string& label) const {
    Progress progress(label, options_.rounds, "rounds");
    measure::Rounds rounds;
    rounds.count = options_.rounds;
    rounds.pause_ms = options_.pause_ms;
    rounds.progress = [&](int) { progress.advance(); };
    rounds.interrupted = was_interrupted;
    measure::take_turns(candidates, rounds);
    progress.finish();
  }

  /// What each layer of the dense network takes.
  void profile_layers(engine::Session& session, const std::vector<float>& planes,
                      const Group& group) {
    session.set_profiling(true);
    session.run(planes, group.batch, group.size);
    const auto layers = engine::described_layers(session.plan(), session.profile());
    if (options_.common.json) {
      for (const engine::DescribedLayer& layer : layers) layers_.push_back(to_json(layer, group));
    } else {
      print_layers(layers, group);
    }
  }

  static io::Json to_json(const engine::DescribedLayer& layer, const Group& group) {
    const engine::LayerProfile& profile = layer.profile;
    return {
        {"name", layer.name},
        {"dtype", group.dtype},
        {"batch", group.batch},
        {"height", group.size.height},
        {"width", group.size.width},
        {"rows", profile.rows},
        {"taps", layer.taps},
        {"depth", layer.depth},
        {"columns", layer.columns},
        {"tap_order", tap_order_name(profile)},
        {"threads", {{"rows", profile.split.row_parts}, {"columns", profile.split.column_parts}}},
        {"ms", 1e3 * profile.seconds},
        {"gflops_per_second", 1e-9 * layer.operations() / profile.seconds}};
  }

  static const char* tap_order_name(const engine::LayerProfile& profile) {
    return profile.taps.order == kernels::TapOrder::kMemory ? "memory" : "registers";
  }

  void print_layers(const std::vector<engine::DescribedLayer>& layers, const Group& group) const {
    report::Table table;
    table.header = {"layer", "rows", "product", "taps", "threads", "ms", "GFLOP/s"};
    for (const engine::DescribedLayer& layer : layers) {
      const engine::LayerProfile& profile = layer.profile;
      table.rows.push_back(
          {layer.name, std::to_string(profile.rows), layer.product(), tap_order_name(profile),
           fmt::format("{} x {}", profile.split.row_parts, profile.split.column_parts),
           fmt::format("{:.3f}", 1e3 * profile.seconds),
           fmt::format("{:.0f}", 1e-9 * layer.operations() / profile.seconds)});
    }
    print(fmt::format("{} of {} in {}, on the first thread of {}:", counted(group.batch, "image"),
                      text(group.size), group.dtype, threads_));
    print(report::to_text(table));
  }

  static std::string text(Size size) { return fmt::format("{}x{}", size.height, size.width); }

  const BenchOptions& options_;
  ModelFile model_;
  ModelSpec spec_;  // of what is measured: of a detector, the extractor
  const kernels::Table& table_;
  int threads_;
  std::vector<Size> sizes_;
  io::Json layers_ = io::Json::array();
};

io::Json to_json(const Bench& bench, const std::vector<Row>& rows) {
  io::Json list = io::Json::array();
  for (const Row& row : rows) {
    io::Json json = {{"model", bench.model().name()},
                     {"what", row.what},
                     {"device", "cpu"},
                     {"isa", bench.table().name},
                     {"dtype", row.dtype},
                     {"batch", row.batch},
                     {"height", row.size.height},
                     {"width", row.size.width},
                     {"threads", bench.threads()},
                     {"density", row.density},
                     {"runs", row.times.ms.size()},
                     {"ms",
                      {{"median", row.times.median()},
                       {"p10", row.times.quantile(0.1)},
                       {"p90", row.times.quantile(0.9)}}},
                     {"gflop", row.flops * 1e-9},
                     {"gflops_per_second", row.rate() * 1e-9},
                     {"dense_ms", row.dense_ms},
                     {"theoretical_speedup", row.theoretical()},
                     {"speedup", row.speedup},
                     {"realised", row.speedup / row.theoretical()}};
    if (row.peak > 0) {
      json["peak_gflops_per_second"] = row.peak * 1e-9;
      json["of_peak"] = row.rate() / row.peak;
    }
    list.push_back(std::move(json));
  }
  io::Json json = {{"rows", std::move(list)}};
  if (!bench.layers().empty()) json["per_layer"] = bench.layers();
  return json;
}

report::Table to_table(const std::vector<Row>& rows) {
  report::Table table;
  table.header = {"what",        "dtype",    "batch",     "size",    "density",
                  "ms",          "10-90 %",  "GFLOP",     "GFLOP/s", "of peak %",
                  "theoretical", "speed-up", "realised %"};
  for (const Row& row : rows) {
    table.rows.push_back(
        {row.what, row.dtype, std::to_string(row.batch),
         fmt::format("{}×{}", row.size.height, row.size.width), fmt::format("{:.2f}", row.density),
         fmt::format("{:.2f}", row.times.median()),
         fmt::format("{:.2f}-{:.2f}", row.times.quantile(0.1), row.times.quantile(0.9)),
         fmt::format("{:.3f}", row.flops * 1e-9), fmt::format("{:.1f}", row.rate() * 1e-9),
         row.peak > 0 ? fmt::format("{:.1f}", 100 * row.rate() / row.peak) : "",
         fmt::format("{:.3f}", row.theoretical()), fmt::format("{:.3f}", row.speedup),
         fmt::format("{:.1f}", 100 * row.speedup / row.theoretical())});
  }
  return table;
}

/// The same as plain numbers, for programs.
report::Table to_numbers(const std::vector<Row>& rows) {
  report::Table table;
  table.header = {"what",
                  "dtype",
                  "batch",
                  "height",
                  "width",
                  "density",
                  "ms",
                  "ms_p10",
                  "ms_p90",
                  "gflop",
                  "gflops_per_second",
                  "of_peak",
                  "theoretical_speedup",
                  "speedup",
                  "realised"};
  for (const Row& row : rows) {
    std::vector<std::string> cells = {row.what, row.dtype};
    for (double value :
         {double(row.batch), double(row.size.height), double(row.size.width), row.density,
          row.times.median(), row.times.quantile(0.1), row.times.quantile(0.9), row.flops * 1e-9,
          row.rate() * 1e-9, row.peak > 0 ? row.rate() / row.peak : 0.0, row.theoretical(),
          row.speedup, row.speedup / row.theoretical()}) {
      cells.push_back(fmt::format("{}", value));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

int run(const BenchOptions& options) {
  Stopwatch watch;
  std::vector<std::filesystem::path> read(options.images.begin(), options.images.end());
  read.emplace_back(options.model);
  protect_inputs(read, {{"--csv", options.csv}});
  if (!options.csv.empty()) check_writable(options.csv);
  Bench bench(options);
  const std::vector<Row> rows = bench.run();
  const report::Table table = to_table(rows);
  if (!options.csv.empty()) write_file_atomically(options.csv, report::to_csv(to_numbers(rows)));
  if (options.common.json) {
    io::Json json = to_json(bench, rows);
    json["seconds"] = watch.lap() / 1000;
    print_json(json);
    return 0;
  }
  std::string text = report::to_text(table);
  text.pop_back();
  print(text);
  print(fmt::format("{} kernels, {}; medians of runs that took turns", bench.table().name,
                    counted(bench.threads(), "thread")));
  if (!options.csv.empty()) print(fmt::format("wrote {}", options.csv));
  return 0;
}

}  // namespace

void declare_bench(CLI::App& app, Action& action) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand(
      "bench",
      "Speed of a network here, dense and with work skipped; of a detector, its extractor");
  command->add_option("model", options->model, "Model file")->required()->type_name("MODEL");
  command
      ->add_option("images", options->images,
                   "Images, directories or patterns to run as they are; none: noise, with active "
                   "sets of given density")
      ->type_name("IMAGE");
  command->add_option("--size", options->sizes, "Image sizes, such as 224,352 (default: own)")
      ->delimiter(',')
      ->type_name("HxW");
  command->add_option("--batch", options->batches, "Images at a time, such as 1,8")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--dtype", options->dtypes, "Types of operands")
      ->delimiter(',')
      ->check(CLI::IsMember({"fp32", "bf16"}))
      ->capture_default_str();
  command
      ->add_option("--density", options->densities,
                   "Shares of positions that go through all units; the others stop after one")
      ->delimiter(',')
      ->check(number_between(0, 1))
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "How often everything takes its turn")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("--pause", options->pause_ms, "Milliseconds of rest before every run")
      ->check(number_between(0, 10000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of noise and active sets")
      ->capture_default_str();
  command->add_flag("--torch", options->torch, "Run LibTorch beside it");
  command
      ->add_option("--peer", options->peers,
                   "Run another program beside it, which answers 'run 1' with its time: see "
                   "bench/peers")
      ->type_name("COMMAND")
      ->allow_extra_args(false);
  command->add_flag("--layers", options->layers, "Also tell what each layer of the dense run took");
  command->add_option("--csv", options->csv, "Also write the numbers as CSV")->type_name("FILE");
  add_threads_option(*command, options->common);
  add_output_options(*command, options->common);
  set_examples(*command,
               "  sact bench m.safetensors --size 224,352 --density 0.25,0.5,1\n"
               "  sact bench m.safetensors --batch 1,8 --dtype fp32,bf16 --json\n"
               "  sact bench m.safetensors photos --size 192\n"
               "  sact bench detector.safetensors --size 600x1000 --density 0.25,0.5,0.75");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
