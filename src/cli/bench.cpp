// sact bench: how fast a network runs here, and how much of the skipped work is saved time.
#include <memory>

#include "app/benchmark.h"
#include "app/outputs.h"
#include "base/file.h"
#include "base/log.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/compute_options.h"
#include "cli/interrupt.h"
#include "cli/print_block.h"
#include "model/detection.h"

namespace sact::cli {
namespace {

struct BenchOptions {
  CommonOptions common;
  std::string model, csv;
  std::vector<std::string> sizes, dtypes = {kOwnType};
  app::BenchmarkOptions benchmark;
  HaltingRequest halting;
};

void print_layers(const app::TimedLayers& timed, const std::string& device, int threads) {
  print(device == "cpu"
            ? fmt::format("{}, on the first thread of {}:", app::text_of(timed.group), threads)
            : fmt::format("{}, one layer after the other:", app::text_of(timed.group)));
  print_block(report::to_text(app::layer_table(timed)));
  if (timed.layers.empty() || timed.layers.front().bytes_per_second == 0) return;
  const LayerTime& layer = timed.layers.front();
  print(fmt::format("ceilings: {:.2f} TB/s, {:.0f} TFLOP/s, as the device reached them just before",
                    1e-12 * layer.bytes_per_second, 1e-12 * layer.operations_per_second));
}

int run(BenchOptions& options) {
  Stopwatch watch;
  app::BenchmarkOptions& benchmark = options.benchmark;
  std::vector<std::filesystem::path> read(benchmark.images.begin(), benchmark.images.end());
  read.emplace_back(options.model);
  app::protect_inputs(read, {{"--csv", options.csv}});
  if (!options.csv.empty()) check_writable(options.csv);
  const ModelFile model(options.model);
  for (const std::string& remark : model.remarks()) log_warning("{}", remark);
  benchmark.compute.threads = options.common.threads;
  benchmark.compute.device = options.common.device;
  benchmark.compute.terms = {.backend = "--backend", .device = "--device", .precision = "--dtype"};
  benchmark.sizes = parse_sizes(options.sizes);
  if (options.halting.asks() && benchmark.images.empty()) {
    fail(
        "--halting-shift, --budget and --hard-budget need images: in noise, active sets are made "
        "up");
  }
  benchmark.compute.halting =
      chosen_halting(options.halting, model,
                     benchmark.sizes.empty() ? own_size(model.spec()) : benchmark.sizes.front());
  benchmark.precisions.clear();
  for (const std::string& dtype : options.dtypes) {
    app::Compute own = benchmark.compute;
    own.own_precision = true;
    benchmark.precisions.push_back(dtype == kOwnType ? app::precision_for(model, own)
                                                     : precision_from_name(dtype));
  }
  catch_interrupts();
  benchmark.interrupted = was_interrupted;
  const app::BenchmarkResult result = app::benchmark(model, benchmark);
  if (!options.csv.empty()) {
    write_file_atomically(options.csv, report::to_csv(app::benchmark_numbers(result.rows)));
  }
  if (options.common.json) {
    io::Json json = app::benchmark_json(model.name(), result);
    json["seconds"] = watch.lap() / 1000;
    if (options.halting.asks()) {
      json["dial"] = dial_json(options.halting, benchmark.compute.halting, std::nullopt);
    }
    print_json(json);
    return 0;
  }
  for (const app::TimedLayers& timed : result.layers)
    print_layers(timed, result.device, result.threads);
  if (const auto caption = app::benchmark_caption(result.rows); !caption.empty()) print(caption);
  std::string text = report::to_text(app::benchmark_table(result.rows));
  text.pop_back();
  print_block(text);
  for (const std::string& line : app::kernel_lines(result.rows)) print(line);
  print(fmt::format("{}; medians of runs that took turns; promised: by FLOPs",
                    result.device == "cpu" ? pluralize(result.threads, "thread")
                                           : "on " + result.device + ", without transfers"));
  if (const auto doubt = app::benchmark_doubt(result.rows); !doubt.empty())
    log_warning("{}", doubt);
  if (options.halting.asks()) print(dial_text(options.halting, benchmark.compute.halting));
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
      ->add_option("images", options->benchmark.images,
                   "Images, directories or patterns to run as they are; none: noise, with active "
                   "sets of given density")
      ->type_name("IMAGE");
  command->add_option("--size", options->sizes, "Image sizes, such as 224,352 (default: own)")
      ->delimiter(',')
      ->type_name("HxW")
      ->check(image_size());
  command->add_option("--batch", options->benchmark.batches, "Images at a time, such as 1,8")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      ->add_option("--backend", options->benchmark.compute.backend,
                   "What is measured: engine on the CPU, cuda on GPUs (default: engine)")
      ->check(CLI::IsMember({"engine", "cuda"}));
  command->add_option("--dtype", options->dtypes, "Types of operands")
      ->delimiter(',')
      ->check(CLI::IsMember(dtype_names()))
      ->capture_default_str();
  command
      ->add_option("--density", options->benchmark.densities,
                   "Shares of positions that go through all units; the others stop after one")
      ->delimiter(',')
      ->check(number_between(0, 1))
      ->capture_default_str();
  command
      ->add_option("--rounds", options->benchmark.rounds,
                   "How often everything takes its turn; images: runs in all, at least one of each")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command
      ->add_option("--pause", options->benchmark.pause_ms, "Milliseconds of rest before every run")
      ->check(number_between(0, 10000))
      ->capture_default_str();
  command->add_option("--seed", options->benchmark.seed, "Seed of noise and active sets")
      ->capture_default_str();
  command->add_flag("--torch", options->benchmark.torch, "Run LibTorch beside it");
  command
      ->add_option("--peer", options->benchmark.peers,
                   "Run another program beside it, which answers 'run 1' with its time: see "
                   "bench/peers")
      ->type_name("COMMAND")
      ->allow_extra_args(false);
  add_exact_option(*command, options->benchmark.compute.exact);
  command->add_flag("--beside-exact", options->benchmark.beside_exact,
                    "Run the same networks with direct products (--exact) beside it; without "
                    "images");
  command->add_flag("--layers", options->benchmark.layers,
                    "Also tell what each layer of the dense run took");
  command->add_option("--csv", options->csv, "Also write the numbers as CSV")->type_name("FILE");
  add_halting_options(*command, options->halting);
  add_common_options(*command, options->common);
  set_examples(*command,
               "  sact bench m.safetensors --size 224,352 --density 0.25,0.5,1\n"
               "  sact bench m.safetensors --batch 1,8 --dtype fp32,bf16 --json\n"
               "  sact bench m.safetensors photos --size 192\n"
               "  sact bench m.safetensors photos --batch 64 --device cuda --dtype bf16\n"
               "  sact bench m.safetensors --size 608x1000 --beside-exact --density 0.5\n"
               "  sact bench detector.safetensors --size 600x1000 --density 0.25,0.5,0.75");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
