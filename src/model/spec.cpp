#include "model/spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <tuple>

#include "base/error.h"
#include "base/text.h"
#include "model/architecture.h"

namespace sact {
namespace {

template <typename Enum>
struct Named {
  std::string_view name;
  Enum value;
};
constexpr std::array<Named<Stem>, 2> kStems = {
    {{"imagenet", Stem::kImageNet}, {"small", Stem::kSmall}}};
struct NamedUnit : Named<UnitKind> {
  bool preactivation;
  int expansion;
};
constexpr std::array<NamedUnit, 4> kUnits = {
    {{{"bottleneck", UnitKind::kBottleneck}, true, 4},
     {{"basic", UnitKind::kBasic}, true, 1},
     {{"bottleneck_v1", UnitKind::kBottleneckV1}, false, 4},
     {{"basic_v1", UnitKind::kBasicV1}, false, 1}}};
constexpr std::array<Named<StrideOn>, 2> kStrides = {
    {{"3x3", StrideOn::k3x3}, {"1x1", StrideOn::k1x1}}};
constexpr std::array<Named<StemPool>, 4> kPools = {{{"symmetric", StemPool::kSymmetric},
                                                    {"same", StemPool::kSame},
                                                    {"ceil", StemPool::kCeil},
                                                    {"valid", StemPool::kValid}}};
constexpr std::array<Named<Halting>, 3> kHaltings = {
    {{"none", Halting::kNone}, {"act", Halting::kAct}, {"sact", Halting::kSact}}};

template <typename Table, typename Enum>
const auto& find_row(const Table& table, Enum value) {
  const auto row = std::find_if(table.begin(), table.end(),
                                [value](const auto& row) { return row.value == value; });
  SACT_ASSERT(row != table.end());
  return *row;
}

template <typename Table, typename Enum>
std::string_view find_name(const Table& table, Enum value) {
  return find_row(table, value).name;
}

template <typename Table>
auto find_value(const Table& table, std::string_view name, std::string_view what) {
  std::string known;
  for (const auto& row : table) {
    if (row.name == name) return row.value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  }
  fail("{} is '{}', but must be one of: {}", what, printable(name), known);
}

int halved(int extent, int times) {
  for (int i = 0; i < times; ++i) extent = (extent + 1) / 2;  // strides of 2 round up
  return extent;
}

template <typename T>
void check_range(const std::string& name, const char* key, T value, T low, T high) {
  if (!(value >= low && value <= high)) {
    fail("{}: '{}' must be between {} and {}, found {}", name, key, low, high, value);
  }
}

void validate_box_cuts(const std::vector<BoxCut>& cuts, const std::string& name) {
  check_range(name, "number of box_cuts", int(cuts.size()), 0, 100);
  double score = 0, objectness = -1e6;
  for (const BoxCut& cut : cuts) {
    if (!(cut.score > score && cut.score <= 1 && cut.objectness >= objectness &&
          cut.objectness <= 1e6)) {
      fail(
          "{}: 'box_cuts' must have scores from 0 to 1 that rise, with objectness that never falls",
          name);
    }
    score = cut.score, objectness = cut.objectness;
  }
}

void validate_detection(const DetectionSpec& detection, const std::string& name) {
  validate_box_cuts(detection.box_cuts, name);
  check_range(name, "shorter_side", detection.shorter_side, kMinImageSide, kMaxImageSide);
  for (const auto& [key, values, most] :
       {std::tuple("anchor_sizes", &detection.anchor_sizes, double(kMaxImageSide)),
        std::tuple("anchor_ratios", &detection.anchor_ratios, 100.0)}) {
    check_range(name, key, values->size(), size_t{1}, size_t{16});
    for (double value : *values) check_range(name, key, value, 0.01, most);
  }
  check_range(name, "proposal_channels", detection.proposal_channels, 1, 8192);
  check_range(name, "proposals", detection.proposals, 1, 10'000);
  check_range(name, "nms_iou", detection.nms_iou, 0.0, 1.0);
  check_range(name, "crop", detection.crop, 2, 256);
  check_range(name, "pool", detection.pool, 1, detection.crop);
  if (detection.crop % detection.pool != 0) {
    fail("{}: 'crop' must be a multiple of 'pool', found {} and {}", name, detection.crop,
         detection.pool);
  }
}

}  // namespace

int ModelSpec::total_units() const {
  return std::accumulate(units.begin(), units.end(), 0);
}

int ModelSpec::block_channels(int block) const {
  return block_width(block) * expansion(unit);
}

int ModelSpec::stem_channels() const {
  // Without a stem, a block's input is the output of one of half its width.
  return stem == Stem::kNone ? block_channels(0) / 2 : width;
}

int ModelSpec::block_input_channels(int block) const {
  return block == 0 ? stem_channels() : block_channels(block - 1);
}

bool ModelSpec::has_halting_score(int block, int unit_index) const {
  return adaptive() && unit_index + 1 < units[size_t(block)];
}

Size ModelSpec::stem_size(Size image) const {
  const auto steps = stem_of(*this);
  return steps ? steps->convolution.output(image) : image;
}

Size ModelSpec::block_size(int block, Size image) const {
  Size size = image;
  if (const auto steps = stem_of(*this)) {
    size = steps->convolution.output(size);
    if (steps->pool) size = steps->pool->output(size);
  }
  return {halved(size.height, block), halved(size.width, block)};
}

int ModelSpec::block_stride(int block) const {
  const auto steps = stem_of(*this);
  const int pool = steps && steps->pool ? PoolStep::kStride : 1;
  return (steps ? steps->convolution.stride * pool : 1) << block;
}

std::string ModelSpec::label(int class_index) const {
  if (class_index >= 0 && size_t(class_index) < labels.size()) return labels[size_t(class_index)];
  return fmt::format("class {}", class_index);
}

void validate(const ModelSpec& spec, const std::string& name) {
  check_range(name, "units (number of blocks)", int(spec.units.size()), 1, 6);
  for (int units : spec.units) check_range(name, "units", units, 1, 1000);
  check_range(name, "width", spec.width, 1, 1024);
  if (spec.stride_on == StrideOn::k1x1 && expansion(spec.unit) == 1) {
    fail("{}: 'stride_on' is 1x1, but {} units have 3x3 convolutions only", name,
         name_of(spec.unit));
  }
  check_range(name, "classes", spec.classes, 1, 1'000'000);
  if (!(spec.epsilon > 0 && spec.epsilon < 1)) {
    fail("{}: 'epsilon' must be above 0 and below 1, found {}", name, spec.epsilon);
  }
  if (!(spec.score_floor >= 0 && spec.score_floor < 1)) {
    fail("{}: 'score_floor' must be at least 0 and below 1, found {}", name, spec.score_floor);
  }
  check_range(name, "tile", spec.tile, 1, 4096);
  check_range(name, "norm_epsilon", spec.norm_epsilon, 0.0, 1.0);
  check_range(name, "input.size", spec.input.size, kMinImageSide, kMaxImageSide);
  if (!(spec.input.crop > 0 && spec.input.crop <= 1)) {
    fail("{}: 'input.crop' must be above 0 and at most 1, found {}", name, spec.input.crop);
  }
  for (double mean : spec.input.mean) {
    if (!std::isfinite(mean)) fail("{}: 'input.mean' must be finite", name);
  }
  for (double std : spec.input.std) {
    if (!(std > 0) || !std::isfinite(std)) {
      fail("{}: 'input.std' must be above 0, found {}", name, std);
    }
  }
  if (spec.detection) {
    if (spec.units.size() < 2) {
      fail("{}: a detector needs two blocks at least, but 'units' has one number", name);
    }
    validate_detection(*spec.detection, name + ": 'detection'");
  }
  if (!spec.labels.empty() && int(spec.labels.size()) != spec.classes) {
    fail("{}: has {} for {}", name, pluralize(int64_t(spec.labels.size()), "label"),
         pluralize(spec.classes, "class", "classes"));
  }
}

void validate_image_size(Size image, const std::string& prefix) {
  if (image.height < kMinImageSide || image.width < kMinImageSide || image.height > kMaxImageSide ||
      image.width > kMaxImageSide) {
    fail("{}a size of {}x{} (height x width) cannot be used: both sides must be from {} to {}",
         prefix, image.height, image.width, kMinImageSide, kMaxImageSide);
  }
}

std::vector<int> units_of_depth(int depth) {
  if (depth == 50) return {3, 4, 6, 3};
  if (depth == 101) return {3, 4, 23, 3};
  if (depth == 152) return {3, 8, 36, 3};
  fail("depth {} is not known: use {}, or give the units of each block, such as 2,4,13,3", depth,
       one_of({"50", "101", "152"}));
}

std::string_view name_of(Stem stem) {
  return find_name(kStems, stem);
}
std::string_view name_of(UnitKind unit) {
  return find_name(kUnits, unit);
}
std::string_view name_of(Halting halting) {
  return find_name(kHaltings, halting);
}
std::string_view name_of(StrideOn stride_on) {
  return find_name(kStrides, stride_on);
}
std::string_view name_of(StemPool pool) {
  return find_name(kPools, pool);
}

bool is_preactivation(UnitKind unit) {
  return find_row(kUnits, unit).preactivation;
}
int expansion(UnitKind unit) {
  return find_row(kUnits, unit).expansion;
}
std::vector<std::string> unit_names() {
  std::vector<std::string> names;
  for (const NamedUnit& unit : kUnits) names.emplace_back(unit.name);
  return names;
}

Stem stem_from_name(std::string_view name, std::string_view what) {
  return find_value(kStems, name, what);
}
UnitKind unit_from_name(std::string_view name, std::string_view what) {
  return find_value(kUnits, name, what);
}
Halting halting_from_name(std::string_view name, std::string_view what) {
  return find_value(kHaltings, name, what);
}
StrideOn stride_on_from_name(std::string_view name, std::string_view what) {
  return find_value(kStrides, name, what);
}
StemPool stem_pool_from_name(std::string_view name, std::string_view what) {
  return find_value(kPools, name, what);
}

Size parse_size(std::string_view text) {
  auto number = [text](std::string_view part) {
    int value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size()) {
      fail("'{}' is not an image size: give one number (224) or height x width (224x320)",
           printable(text));
    }
    return value;
  };
  const size_t cross = text.find_first_of("xX");
  const int height = number(text.substr(0, cross));
  const int width = cross == text.npos ? height : number(text.substr(cross + 1));
  validate_image_size({height, width});
  return {height, width};
}

}  // namespace sact
