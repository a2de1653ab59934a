#include "import/import.h"

#include "base/error.h"
#include "base/text.h"
#include "data/imagenet_classes.h"
#include "import/assemble.h"
#include "import/labels.h"
#include "import/named_network.h"
#include "import/source.h"

namespace sact::importing {
namespace {

constexpr const char* kShapes = "names and shapes";

template <typename T>
void override_fact(Fact<T>& fact, const std::optional<T>& given, const char* option) {
  if (given) fact = {*given, option};
}

void apply(const ImportOptions& options, NamedNetwork& network) {
  override_fact(network.stride_on, options.stride_on, "--stride-on");
  override_fact(network.pool, options.pool, "--pool");
  override_fact(network.norm_epsilon, options.norm_epsilon, "--norm-epsilon");
  if (options.norm_epsilon) network.norm_epsilons.clear();
  override_fact(network.size, options.size, "--size");
  override_fact(network.crop, options.crop, "--crop");
  override_fact(network.mean, options.mean, "--mean");
  override_fact(network.std, options.std, "--std");
  override_fact(network.bgr, options.bgr, options.bgr.value_or(true) ? "--bgr" : "--rgb");
}

/// An option that the network has no use for is a misunderstanding.
void expect_use(const ImportOptions& options, const ModelSpec& spec, const std::string& file) {
  if (options.stride_on && *options.stride_on != spec.stride_on) {
    fail("{}: --stride-on is {}, but {} units have 3x3 convolutions only", file,
         name_of(*options.stride_on), name_of(spec.unit));
  }
  if (options.pool && spec.stem != Stem::kImageNet) {
    fail("{}: --pool is given, but its 3x3 stem has no pooling", file);
  }
}

Finding find_labels(const ImportOptions& options, ModelSpec& spec) {
  if (options.labels == "none" ||
      (options.labels.empty() && spec.classes != data::kImageNetClasses)) {
    return {"labels", "none", options.labels.empty() ? "--labels gives them" : "--labels"};
  }
  if (options.labels.empty() || options.labels == "imagenet") {
    if (spec.classes != data::kImageNetClasses) {
      fail("--labels is imagenet, which has {} classes, but the network has {}",
           data::kImageNetClasses, spec.classes);
    }
    spec.labels = imagenet_labels();
    return {"labels", "ImageNet's in their usual order",
            options.labels.empty() ? "a network of 1000 classes" : "--labels"};
  }
  spec.labels = read_labels(options.labels, spec.classes);
  return {"labels", fmt::format("{}, ...", printable(spec.labels.front(), 40)), options.labels};
}

std::string colours(const std::array<double, 3>& values) {
  return fmt::format("{:.4g}, {:.4g}, {:.4g}", values[0], values[1], values[2]);
}

std::vector<Finding> findings(const NamedNetwork& network, const ModelSpec& spec) {
  const bool imagenet = spec.stem == Stem::kImageNet, bottleneck = expansion(spec.unit) > 1;
  std::vector<Finding> found = {
      {"units",
       fmt::format("{} of kind {}, width {}", fmt::join(spec.units, ", "), name_of(spec.unit),
                   spec.width),
       kShapes},
      {"stem", imagenet ? "7x7, stride 2, pooling" : "3x3, stride 1", kShapes}};
  if (bottleneck) {
    found.push_back(
        {"stride",
         fmt::format("on the {}", spec.stride_on == StrideOn::k1x1 ? "first 1x1 convolution"
                                                                   : "3x3 convolution"),
         network.stride_on.from});
  }
  if (imagenet) {
    found.push_back(
        {"pooling", fmt::format("padding {}", name_of(spec.stem_pool)), network.pool.from});
  }
  found.push_back(
      {"norm epsilon", fmt::format("{:g}", spec.norm_epsilon), network.norm_epsilon.from});
  found.push_back({"channels",
                   network.bgr.value ? "blue, green, red: swapped in the first convolution"
                                     : "red, green, blue",
                   network.bgr.from});
  found.push_back({"mean", colours(spec.input.mean), network.mean.from});
  found.push_back({"std", colours(spec.input.std), network.std.from});
  found.push_back({"size", fmt::format("{0}x{0}", spec.input.size), network.size.from});
  found.push_back({"crop", fmt::format("{:g}", spec.input.crop), network.crop.from});
  found.push_back({"classes", fmt::format("{}", spec.classes), kShapes});
  return found;
}

void note_folded(const Folded& folded, std::vector<std::string>& notes) {
  if (folded.biases > 0) {
    notes.push_back(fmt::format("{} of convolutions went into the norms after them",
                                pluralize(folded.biases, "bias", "biases")));
  }
  if (folded.variances > 0) {
    notes.push_back(fmt::format("{} with another epsilon had it added to their variances",
                                pluralize(folded.variances, "norm")));
  }
}

}  // namespace

ImportedNetwork import_network(const std::filesystem::path& path, const ImportOptions& options) {
  Source source = open_source(path);
  const std::string name = source.name;
  ImportedNetwork imported;
  imported.format = source.format;
  imported.files = source.files;
  NamedNetwork network =
      source.layers ? name_keras_network(std::move(source)) : name_torch_network(std::move(source));
  apply(options, network);
  imported.library = network.library;
  imported.spec = spec_of(network, name);
  expect_use(options, imported.spec, name);
  imported.findings = findings(network, imported.spec);
  imported.findings.push_back(find_labels(options, imported.spec));
  Folded folded;
  imported.weights = weights_of(network, imported.spec, name, folded);
  imported.notes = std::move(network.notes);
  imported.ignored = std::move(network.ignored);
  note_folded(folded, imported.notes);
  return imported;
}

}  // namespace sact::importing
