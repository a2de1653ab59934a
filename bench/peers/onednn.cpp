// oneDNN as a peer in timings: a plain network, layer by layer, in the layouts that oneDNN likes
// best.
//
//   build/bench_onednn MODEL [--threads 1] [--batch 1] [--size 224] [--dtype fp32|bf16]
//
// Norms after convolutions are folded into them, and what can follow a convolution follows it
// there. Before it says that it is ready its outputs are compared with the engine's. Then it
// answers as `sact bench --peer` wants it.
#include <omp.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "base/error.h"
#include "base/random.h"
#include "base/stopwatch.h"
#include "engine/cpu/kernel_choice.h"
#include "engine/cpu/session.h"
#include "io/json.h"
#include "model/model_file.h"

namespace sact {
namespace {

using dnnl::memory;
using dnnl::post_ops;
using Tag = memory::format_tag;
constexpr auto kInference = dnnl::prop_kind::forward_inference;

/// A network as primitives that run one after the other.
class Network {
 public:
  Network(const ModelFile& file, int batch, Size size, memory::data_type type)
      : source_([&](const WeightInfo& info) { return file.values(info); }),
        folding_(file.spec(), source_),
        type_(type) {
    const Architecture& architecture = folding_.architecture();
    const int colours = architecture.stem->convolution.in;
    input_ = memory({{batch, colours, size.height, size.width}, memory::data_type::f32, Tag::nchw},
                    engine_);
    memory x = convolution(input_, architecture.stem->convolution);
    if (architecture.stem->pool) x = pool(x, *architecture.stem->pool);
    for (const auto& block : architecture.blocks) {
      for (const UnitSteps& unit : block) x = add_unit(x, unit);
    }
    if (architecture.head->norm) x = norm(x, *architecture.head->norm);
    output_ = classifier(mean(x), architecture.head->linear);
    stream_.wait();
  }

  /// The values of the input, and the outputs.
  float* input() { return static_cast<float*>(input_.get_data_handle()); }
  const float* output() const { return static_cast<const float*>(output_.get_data_handle()); }

  void run() {
    for (auto& [primitive, arguments] : steps_) primitive.execute(stream_, arguments);
    stream_.wait();
  }

 private:
  using Arguments = std::unordered_map<int, memory>;

  memory own(const std::vector<float>& values, const memory::dims& dims, Tag tag) {
    memory result({dims, memory::data_type::f32, tag}, engine_);
    std::copy(values.begin(), values.end(), static_cast<float*>(result.get_data_handle()));
    return result;
  }

  memory::desc any(const memory::dims& dims) const { return {dims, type_, Tag::any}; }

  /// The same numbers in another layout or type, made now or in every run.
  memory made_once(memory from, const memory::desc& wanted) {
    if (from.get_desc() == wanted) return from;
    memory to(wanted, engine_);
    dnnl::reorder(from, to).execute(stream_, from, to);
    kept_.push_back(from);
    return to;
  }
  memory made_always(memory from, const memory::desc& wanted) {
    if (from.get_desc() == wanted) return from;
    memory to(wanted, engine_);
    add(dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    return to;
  }

  void add(const dnnl::primitive& primitive, const Arguments& arguments) {
    steps_.emplace_back(primitive, arguments);
  }

  /// With `sum`, what it gives is added to that and lies there.
  memory convolution(memory from, const ConvStep& step, const memory* sum = nullptr,
                     bool relu_after_sum = false) {
    const engine::FoldedLayer folded = folding_.layer(step);
    const memory::dims in = from.get_desc().dims();
    const Size out = step.output({int(in[2]), int(in[3])});
    const memory::dim before = step.kernel / 2;
    const auto after = [&](memory::dim extent, memory::dim wanted) {
      return (wanted - 1) * step.stride + step.kernel - extent - before;
    };
    post_ops operations;
    if (sum) operations.append_sum();
    if (step.relu || relu_after_sum)
      operations.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(operations);
    const memory::dims shape = {step.out, step.in, step.kernel, step.kernel};
    const memory bias = own(folded.bias, {step.out}, Tag::x);
    const dnnl::convolution_forward::primitive_desc chosen(
        {kInference,
         dnnl::algorithm::convolution_direct,
         any(in),
         any(shape),
         bias.get_desc(),
         sum ? sum->get_desc() : any({in[0], step.out, out.height, out.width}),
         {step.stride, step.stride},
         {before, before},
         {after(in[2], out.height), after(in[3], out.width)}},
        attributes, engine_);
    return product<dnnl::convolution_forward>(chosen, from, folded, bias, shape,
                                              sum ? *sum : memory(chosen.dst_desc(), engine_));
  }

  /// `to` becomes the product of `from` and weights of this shape.
  template <typename Primitive, typename Chosen>
  memory product(const Chosen& chosen, const memory& from, const engine::FoldedLayer& folded,
                 const memory& bias, const memory::dims& shape, const memory& to) {
    const memory weights = own(folded.weights, shape, Tag::oihw);
    add(Primitive(chosen), {{DNNL_ARG_SRC, made_always(from, chosen.src_desc())},
                            {DNNL_ARG_WEIGHTS, made_once(weights, chosen.weights_desc())},
                            {DNNL_ARG_BIAS, bias},
                            {DNNL_ARG_DST, to}});
    return to;
  }

  /// With its ReLU.
  memory norm(memory from, const NormStep& step) {
    const engine::Affine affine = folding_.norm(step);
    const memory::dim channels = step.channels;
    std::vector<float> both = affine.scale;
    both.insert(both.end(), affine.shift.begin(), affine.shift.end());
    using Flags = dnnl::normalization_flags;
    const dnnl::batch_normalization_forward::primitive_desc chosen(
        {kInference, from.get_desc(), 0.0f,
         Flags::use_global_stats | Flags::use_scale_shift | Flags::fuse_norm_relu},
        engine_);
    const memory to(chosen.dst_desc(), engine_);
    const std::vector<float> zeros(affine.scale.size(), 0.0f), ones(affine.scale.size(), 1.0f);
    add(dnnl::batch_normalization_forward(chosen),
        {{DNNL_ARG_SRC, from},
         {DNNL_ARG_MEAN, own(zeros, {channels}, Tag::x)},
         {DNNL_ARG_VARIANCE, own(ones, {channels}, Tag::x)},
         {DNNL_ARG_SCALE_SHIFT, own(both, {2, channels}, Tag::nc)},
         {DNNL_ARG_DST, to}});
    return to;
  }

  memory add_unit(memory x, const UnitSteps& unit) {
    memory part = unit.preactivation ? norm(x, *unit.preactivation) : x;
    if (unit.shortcut) x = convolution(part, *unit.shortcut);
    for (size_t i = 0; i < unit.convolutions.size(); ++i) {
      const bool last = i + 1 == unit.convolutions.size();
      part = convolution(part, unit.convolutions[i], last ? &x : nullptr, last && unit.relu);
    }
    return part;
  }

  memory pool(memory from, const PoolStep& step) {
    const memory::dims in = from.get_desc().dims();
    const Size size{int(in[2]), int(in[3])}, out = step.output(size);
    const auto after = [&](int extent, int wanted) -> memory::dim {
      return (wanted - 1) * step.kStride + step.kKernel - extent - step.padding_before(extent);
    };
    return pooled(from, dnnl::algorithm::pooling_max, {in[0], in[1], out.height, out.width},
                  step.kStride, step.kKernel, step.kKernel,
                  {step.padding_before(size.height), step.padding_before(size.width)},
                  {after(size.height, out.height), after(size.width, out.width)});
  }

  memory mean(memory from) {
    const memory::dims in = from.get_desc().dims();
    return pooled(from, dnnl::algorithm::pooling_avg_exclude_padding, {in[0], in[1], 1, 1}, 1,
                  in[2], in[3], {0, 0}, {0, 0});
  }

  memory pooled(memory from, dnnl::algorithm algorithm, const memory::dims& out, memory::dim stride,
                memory::dim height, memory::dim width, const memory::dims& before,
                const memory::dims& after) {
    const dnnl::pooling_v2_forward::primitive_desc chosen({kInference,
                                                           algorithm,
                                                           from.get_desc(),
                                                           any(out),
                                                           {stride, stride},
                                                           {height, width},
                                                           {0, 0},
                                                           before,
                                                           after},
                                                          engine_);
    const memory to(chosen.dst_desc(), engine_);
    add(dnnl::pooling_v2_forward(chosen), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
    return to;
  }

  memory classifier(memory from, const ConvStep& step) {
    const engine::FoldedLayer folded = folding_.layer(step);
    const memory::dims in = from.get_desc().dims(), shape = {step.out, step.in, 1, 1};
    const memory bias = own(folded.bias, {step.out}, Tag::x);
    const dnnl::inner_product_forward::primitive_desc chosen(
        {kInference,
         any(in),
         any(shape),
         bias.get_desc(),
         {{in[0], step.out}, memory::data_type::f32, Tag::nc}},
        engine_);
    return product<dnnl::inner_product_forward>(chosen, from, folded, bias, shape,
                                                memory(chosen.dst_desc(), engine_));
  }

  const engine::WeightSource source_;
  const engine::Folding folding_;
  const memory::data_type type_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::vector<std::pair<dnnl::primitive, Arguments>> steps_;
  std::vector<memory> kept_;  // until what reads them has run
  memory input_, output_;
};

struct Options {
  std::string model, size = "224", dtype = "fp32";
  int threads = 1, batch = 1;
};

/// The largest difference from the engine's outputs in fp32, over the largest output of the image.
double difference_from_engine(const ModelFile& file, const Options& options, Size size,
                              Network& network) {
  const auto plan = std::make_shared<engine::Plan>(file, engine::kernel_table());
  engine::CpuSession session(plan, options.threads);
  const size_t count = size_t(3 * options.batch * size.positions());
  const std::vector<ImageResult> results =
      session.run(std::span<const float>(network.input(), count), options.batch, size);
  double worst = 0;
  const float* output = network.output();
  for (const ImageResult& result : results) {
    float largest = 0, difference = 0;
    for (const float logit : result.logits) {
      largest = std::max(largest, std::abs(logit));
      difference = std::max(difference, std::abs(logit - *output++));
    }
    worst = std::max(worst, double(difference / largest));
  }
  return worst;
}

void answer(const Options& options) {
  omp_set_num_threads(options.threads);
  const ModelFile file(options.model);
  if (file.spec().adaptive() || file.spec().detection) {
    fail("{}: oneDNN runs plain networks here; 'sact new' without --halting makes one",
         file.name());
  }
  const bool rounded = options.dtype == "bf16";
  const Size size = parse_size(options.size);
  Network network(file, options.batch, size,
                  rounded ? memory::data_type::bf16 : memory::data_type::f32);
  Random random(1);
  std::generate_n(network.input(), 3 * options.batch * size.positions(),
                  [&] { return float(random.normal()); });
  network.run();
  const double difference = difference_from_engine(file, options, size, network);
  const double most = rounded ? 0.1 : 1e-4;
  if (!(difference <= most))
    fail("{}: oneDNN's outputs differ by {:.2g} of the largest", file.name(), difference);
  const dnnl_version_t& version = *dnnl::version();
  std::cout << io::Json{{"runtime", "oneDNN"},
                        {"version",
                         fmt::format("{}.{}.{}", version.major, version.minor, version.patch)},
                        {"dtype", options.dtype},
                        {"threads", options.threads},
                        {"batch", options.batch},
                        {"height", size.height},
                        {"width", size.width},
                        {"difference", difference}}
                   .dump()
            << std::endl;
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    int runs = 0;
    if (std::sscanf(line.c_str(), "run %d", &runs) != 1)
      fail("'{}' is not a request: send \"run K\" or \"quit\"", printable(line));
    io::Json times = io::Json::array();
    for (; runs > 0; --runs) {
      Stopwatch watch;
      network.run();
      times.push_back(watch.lap());
    }
    std::cout << times.dump() << std::endl;
  }
}

}  // namespace
}  // namespace sact

int main(int argc, char** argv) {
  CLI::App app("oneDNN as a peer of 'sact bench --peer'");
  sact::Options options;
  app.add_option("model", options.model)->required();
  app.add_option("--threads", options.threads)->capture_default_str();
  app.add_option("--batch", options.batch)->capture_default_str();
  app.add_option("--size", options.size)->capture_default_str();
  app.add_option("--dtype", options.dtype)
      ->check(CLI::IsMember({"fp32", "bf16"}))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    sact::answer(options);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
