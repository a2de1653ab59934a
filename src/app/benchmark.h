// How fast a network runs here, dense and with work skipped, beside other programs: the job of
// `sact bench`, and what is shown of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/backends.h"
#include "io/json.h"
#include "measure/benchmark.h"
#include "report/table.h"

namespace sact::app {

struct BenchmarkOptions {
  Compute compute;                  // its precision is that of each row
  std::vector<std::string> images;  // to run as they are; none: noise, with made-up active sets
  std::vector<Size> sizes;          // none: the model's own
  std::vector<Precision> precisions = {Precision::kFloat32};
  std::vector<int> batches = {1};
  std::vector<double> densities = {0.25, 0.5, 0.75, 1};
  std::vector<std::string> peers;  // commands of other programs, see bench/peers
  int rounds = 15;
  double pause_ms = 0;
  uint64_t seed = 1;
  bool torch = false;         // beside it
  bool layers = false;        // also times each layer of the dense run
  bool beside_exact = false;  // the same networks with direct products take turns too
  std::function<bool()> interrupted = {};
};

/// What is the same for candidates that take turns.
struct BenchmarkGroup {
  Size size;
  int batch = 1;
  Precision precision = Precision::kFloat32;
};

/// One line of the result: a candidate beside the dense run of its rounds.
struct BenchmarkRow {
  std::string what;
  BenchmarkGroup group;
  double density = 1;
  measure::Times times;
  double flops = 0;  // of a batch
  double dense_ms = 0, dense_flops = 0;
  double speedup = 1;
  double exact_dense_ms = 0;  // of the dense run with direct products; 0: it was not run
  double peak = 0;            // operations a second; 0: not known
  KernelFacts kernels;

  double rate() const { return flops / times.median() * 1e3; }
  double theoretical() const { return dense_flops / flops; }
  double speedup_over_exact() const { return exact_dense_ms / times.median(); }
};

struct TimedLayers {
  BenchmarkGroup group;
  std::vector<LayerTime> layers;
};

struct BenchmarkResult {
  std::string device;
  int threads = 0;
  std::vector<BenchmarkRow> rows;
  std::vector<TimedLayers> layers;
};

/// Of a detector, its extractor. sact::Error when it was interrupted.
BenchmarkResult benchmark(const ModelFile& model, const BenchmarkOptions& options);

io::Json benchmark_json(const std::string& model, const BenchmarkResult& result);
/// Rounded for people, without columns that would be empty, and without type, batch and size where
/// all rows have the same: benchmark_caption() tells these.
report::Table benchmark_table(const std::vector<BenchmarkRow>& rows);
/// A line for each type: which kernels ran, and why.
std::vector<std::string> kernel_lines(const std::vector<BenchmarkRow>& rows);
/// "1 image of 192x192 in fp32".
std::string text_of(const BenchmarkGroup& group);
/// The same where it goes for all rows, else nothing.
std::string benchmark_caption(const std::vector<BenchmarkRow>& rows);
/// What to think of times that differ too much from run to run; nothing where they do not.
std::string benchmark_doubt(const std::vector<BenchmarkRow>& rows);
/// The same as plain numbers, for programs.
report::Table benchmark_numbers(const std::vector<BenchmarkRow>& rows);
report::Table layer_table(const TimedLayers& timed);

}  // namespace sact::app
