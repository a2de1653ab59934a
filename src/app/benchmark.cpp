#include "app/benchmark.h"

#include <algorithm>
#include <memory>
#include <set>

#include "app/inputs.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/text.h"
#include "base/threads.h"
#include "measure/active_sets.h"
#include "measure/peer.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/preprocess.h"

namespace sact::app {
namespace {

using measure::Candidate;

constexpr char kDenseExact[] = "dense exact", kAdaptiveExact[] = "adaptive exact";

std::string text_of(Size size) {
  return fmt::format("{}x{}", size.height, size.width);
}

std::vector<float> noise(int batch, Size size, uint64_t seed) {
  Random random(seed);
  std::vector<float> planes(size_t(3 * batch * size.positions()));
  for (float& value : planes) value = float(random.normal());
  return planes;
}

/// What a peer said of itself under a key, or `otherwise` when it did not.
int said_number(const measure::Peer& peer, const std::string& command, const char* key,
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

std::string runtime_of(const measure::Peer& peer, const std::string& command) {
  const io::Json& about = peer.about();
  const bool said = about.contains("runtime") && about["runtime"].is_string();
  return said ? about["runtime"].get<std::string>() : command;
}

/// Those that do not say run in 32 bits.
std::string dtype_of(const measure::Peer& peer) {
  const io::Json& about = peer.about();
  const bool said = about.contains("dtype") && about["dtype"].is_string();
  return said ? about["dtype"].get<std::string>() : precision_name(Precision::kFloat32);
}

void check_peer(const measure::Peer& peer, const std::string& command,
                const BenchmarkGroup& group) {
  const Size size{said_number(peer, command, "height", group.size.height),
                  said_number(peer, command, "width", group.size.width)};
  const int batch = said_number(peer, command, "batch", group.batch);
  if (size == group.size && batch == group.batch) return;
  fail("'{}' runs {} of {}, but here it is {} of {}: give size and batch as the peer has them",
       printable(command), pluralize(batch, "image"), text_of(size),
       pluralize(group.batch, "image"), text_of(group.size));
}

/// Candidates that take turns on the same input, each with the FLOPs of a run and its density.
class Contest {
 public:
  explicit Contest(InputView input) : input_(input) {}

  void add(const std::string& name, std::unique_ptr<NetworkSession> session, double density = 1) {
    double sum = 0;
    for (const ImageResult& result : session->run(input_)) sum += double(result.flops);
    NetworkSession* running = session.get();
    add(name, sum, density, [this, running] { return running->time_run(input_); });
    sessions_.push_back(std::move(session));
  }

  void add(const std::string& name, double flops, double density, std::function<double()> run) {
    candidates_.push_back({name, std::move(run)});
    flops_.push_back(flops);
    densities_.push_back(density);
  }

  /// In rounds, with a measurement of the peak in each, unless that is not known.
  void run(const BenchmarkOptions& options, const std::string& label,
           const std::function<double()>& peak) {
    std::vector<double> peaks;
    if (peak) {
      candidates_.push_back({"peak", [&] {
                               peaks.push_back(peak());
                               return 0.0;
                             }});
    }
    Progress progress(label, options.rounds, "rounds");
    measure::Rounds rounds;
    rounds.count = options.rounds;
    rounds.pause_ms = options.pause_ms;
    rounds.progress = [&](int) { progress.advance(); };
    rounds.interrupted = options.interrupted;
    measure::take_turns(candidates_, rounds);
    progress.finish();
    if (!peak) return;
    candidates_.pop_back();
    std::sort(peaks.begin(), peaks.end());
    peak_ = peaks[peaks.size() / 2];
  }

  const std::vector<Candidate>& candidates() const { return candidates_; }
  double flops(size_t i) const { return flops_[i]; }
  double density(size_t i) const { return densities_[i]; }
  double peak() const { return peak_; }
  /// Of the first that was added.
  NetworkSession& first() { return *sessions_.front(); }

 private:
  InputView input_;
  std::vector<Candidate> candidates_;
  std::vector<double> flops_, densities_;
  std::vector<std::unique_ptr<NetworkSession>> sessions_;
  double peak_ = 0;
};

class Benchmark {
 public:
  Benchmark(const ModelFile& model, const BenchmarkOptions& options)
      : model_(model), options_(options), spec_(image_network(model.spec())) {
    result_.device = options.compute.device;
    result_.threads = thread_count(options.compute.threads);
    if (options.torch) expect_classifier(model);
    warn_of_types();
  }

  BenchmarkResult run() {
    std::vector<Size> sizes = options_.sizes;
    if (sizes.empty()) sizes.push_back(own_size(model_.spec()));
    for (const Size& size : sizes) {
      validate_image_size(size);
      for (const Precision precision : options_.precisions) {
        for (const int batch : options_.batches) {
          const BenchmarkGroup group{size, batch, precision};
          options_.images.empty() ? run_noise(group) : run_images(group);
        }
      }
    }
    return std::move(result_);
  }

 private:
  void warn_of_types() const {
    if (!options_.torch) return;
    for (const Precision precision : options_.precisions) {
      if (precision == Precision::kFloat32) continue;
      log_warning("LibTorch runs in fp32: it is not measured beside {}", precision_name(precision));
    }
  }

  /// Once for all groups.
  void warn_of_peer(const std::string& command, const std::string& dtype, Precision precision) {
    const std::string text =
        fmt::format("'{}' runs in {}: it is not measured beside {}", printable(command),
                    printable(dtype), precision_name(precision));
    if (told_.insert(text).second) log_warning("{}", text);
  }

  /// The back end that is measured.
  const Backend& backend(Precision precision) const {
    BackendRequest request = options_.compute.request();
    request.precision = precision;
    const Backend& chosen = backends().choose(request);
    if (!chosen.capabilities().prescribes_units) {
      fail("the back end '{}' cannot be told which positions to leave out, as measuring needs it",
           chosen.name());
    }
    return chosen;
  }

  LoadOptions load_options(Precision precision) const {
    return {options_.compute.device, precision, result_.threads, {}, options_.compute.exact};
  }

  std::shared_ptr<const LoadedNetwork> load(const NetworkSource& source, Precision precision,
                                            bool exact = false) {
    LoadOptions load = load_options(precision);
    load.exact |= exact;
    auto network = backend(precision).load(source, load);
    kernels_ = network->kernels();
    return network;
  }

  BenchmarkRow row_of(const BenchmarkGroup& group, const std::string& what,
                      const measure::Times& times, double flops) const {
    BenchmarkRow row;
    row.what = what;
    row.group = group;
    row.times = times;
    row.flops = flops;
    row.kernels = kernels_;
    row.dense_flops = double(dense_flops(spec_, group.size)) * group.batch;
    return row;
  }

  /// Noise, with active sets of given density.
  void run_noise(const BenchmarkGroup& group) {
    auto dense = load(measure::dense_network(model_), group.precision)->session(result_.threads);
    dense->expect_memory(group.batch, group.size);
    const std::vector<float> planes = noise(group.batch, group.size, options_.seed);
    const InputView input = planes_view(planes, group.batch, group.size);
    Contest contest(input);
    contest.add("dense", std::move(dense));
    if (!options_.densities.empty()) add_adaptive(group, contest, "adaptive", false);
    if (options_.beside_exact) {
      contest.add(
          kDenseExact,
          load(measure::dense_network(model_), group.precision, true)->session(result_.threads));
      add_adaptive(group, contest, kAdaptiveExact, true);
    }
    if (options_.torch && group.precision == Precision::kFloat32) {
      contest.add("LibTorch", backends()
                                  .named("torch")
                                  .load(image_network_of(model_), load_options(group.precision))
                                  ->session(result_.threads));
    }
    const std::vector<RunningPeer> peers = start_peers(group);
    for (const RunningPeer& peer : peers) {
      contest.add(peer.name, double(dense_flops(spec_, group.size)) * group.batch, 1,
                  [running = peer.program.get()] { return running->run(); });
    }
    contest.run(options_,
                fmt::format("{} {}", text_of(group.size), precision_name(group.precision)),
                backend(group.precision).peak(load_options(group.precision)));
    add_rows(group, contest);
    if (options_.layers) result_.layers.push_back({group, contest.first().time_layers(input)});
  }

  struct RunningPeer {
    std::string name;
    std::unique_ptr<measure::Peer> program;
  };

  /// Those that run in the type of the group.
  std::vector<RunningPeer> start_peers(const BenchmarkGroup& group) {
    std::vector<RunningPeer> peers;
    for (const std::string& command : options_.peers) {
      auto peer = std::make_unique<measure::Peer>(command);
      if (dtype_of(*peer) != precision_name(group.precision)) {
        warn_of_peer(command, dtype_of(*peer), group.precision);
        continue;
      }
      check_peer(*peer, command, group);
      peers.push_back({runtime_of(*peer, command), std::move(peer)});
    }
    return peers;
  }

  void add_adaptive(const BenchmarkGroup& group, Contest& contest, const std::string& name,
                    bool exact) {
    const NetworkSource source = measure::adaptive_network(model_);
    const auto network = load(source, group.precision, exact);
    for (const double density : options_.densities) {
      auto session = network->session(result_.threads);
      session->prescribe_units(
          measure::units_of_density(source.spec, group.batch, group.size, density, options_.seed));
      contest.add(name, std::move(session), density);
    }
  }

  void add_rows(const BenchmarkGroup& group, const Contest& contest) {
    const std::vector<Candidate>& candidates = contest.candidates();
    const auto exact = std::find_if(candidates.begin(), candidates.end(),
                                    [](const Candidate& c) { return c.name == kDenseExact; });
    const double exact_ms = exact == candidates.end() ? 0 : exact->times.median();
    for (size_t i = 0; i < candidates.size(); ++i) {
      BenchmarkRow row = row_of(group, candidates[i].name, candidates[i].times, contest.flops(i));
      row.density = contest.density(i);
      const bool among_exact = row.what == kDenseExact || row.what == kAdaptiveExact;
      row.dense_ms = among_exact ? exact_ms : candidates[0].times.median();
      row.exact_dense_ms = exact_ms;
      row.speedup = row.dense_ms / row.times.median();
      row.peak = contest.peak();
      result_.rows.push_back(std::move(row));
    }
  }

  /// Every batch of images dense, adaptive and by peers, one after the other; few batches several
  /// times. Where images are missing for the last one, the first take their places.
  void run_images(const BenchmarkGroup& group) {
    if (!spec_.adaptive()) {
      fail("{}: is a plain network, which treats all images alike; leave out the images",
           model_.name());
    }
    const auto dense =
        load(measure::dense_network(model_), group.precision)->session(result_.threads);
    const auto adaptive = load(measure::adaptive_network(model_), group.precision)
                              ->session(result_.threads, options_.compute.halting);
    const std::vector<RunningPeer> peers = start_peers(group);
    InputView view;
    std::vector<Candidate> candidates = {
        {"dense", [&] { return dense->time_run(view); }},
        {"adaptive", [&] { return adaptive->time_run(view); }},
    };
    for (const RunningPeer& peer : peers) {
      candidates.push_back({peer.name, [&peer] { return peer.program->run(); }});
    }
    std::vector<measure::Times> times(candidates.size());
    std::vector<double> sums(candidates.size());  // of the medians of each batch
    const std::vector<Input> inputs = expand_inputs(options_.images);
    const int images = int(inputs.size());
    const int batches = (images + group.batch - 1) / group.batch;
    measure::Rounds rounds;
    rounds.count = (options_.rounds + batches - 1) / batches;
    rounds.pause_ms = options_.pause_ms;
    rounds.interrupted = options_.interrupted;
    double flops = 0;
    adaptive->expect_memory(group.batch, group.size);
    Progress progress("images", images, "images");
    for (int first = 0; first < images; first += group.batch) {
      std::vector<float> pixels;
      for (int i = first; i < first + group.batch; ++i) {
        const Input& input = inputs[size_t(i % images)];
        if (!input.error.empty()) fail("{}", input.error);
        const std::vector<float> own = pixels_of(read_input(input), group.size);
        pixels.insert(pixels.end(), own.begin(), own.end());
      }
      view = pixels_view(pixels, group.batch, group.size);
      rounds.warm_up = first == 0 ? 2 : 0;
      measure::take_turns(candidates, rounds);
      for (size_t i = 0; i < candidates.size(); ++i) {
        measure::Times& here = candidates[i].times;
        sums[i] += here.median();
        times[i].ms.insert(times[i].ms.end(), here.ms.begin(), here.ms.end());
        here = {};
      }
      for (const ImageResult& result : adaptive->run(view)) flops += double(result.flops);
      progress.advance(std::min(group.batch, images - first));
    }
    progress.finish();
    for (size_t i = 0; i < candidates.size(); ++i) {
      BenchmarkRow row = row_of(group, candidates[i].name, times[i], 0);
      row.flops = candidates[i].name == "adaptive" ? flops / batches : row.dense_flops;
      row.density = row.flops / row.dense_flops;
      row.dense_ms = times[0].median();
      row.speedup = sums[0] / sums[i];
      result_.rows.push_back(row);
    }
  }

  std::vector<float> pixels_of(const io::RgbImage& image, Size size) const {
    // A detector sees whole images.
    const Framing framing = model_.spec().detection ? Framing::kStretched : Framing::kCentralCrop;
    return network_pixels(image, view_of(image, spec_.input, {framing, size}), spec_.input);
  }

  const ModelFile& model_;
  const BenchmarkOptions& options_;
  ModelSpec spec_;  // of what is measured: of a detector, the extractor
  BenchmarkResult result_;
  KernelFacts kernels_;  // of the network that was loaded last
  std::set<std::string> told_;
};

}  // namespace

BenchmarkResult benchmark(const ModelFile& model, const BenchmarkOptions& options) {
  return Benchmark(model, options).run();
}

}  // namespace sact::app
