// Deciding what is in a synthetic picture and where, before anything is painted.
#include "data/plan.h"

#include <algorithm>
#include <numbers>
#include <optional>

#include "base/error.h"
#include "base/random.h"

namespace sact::data {
namespace {

constexpr int kMinSide = 16, kMaxSide = 8192;
constexpr double kMinDiameter = 4, kMaxScale = 0.9;
constexpr double kEdge = 0.5;  // room for the anti-aliased edge of an object
constexpr double kMaxCrowding = 0.3;
constexpr double kMaxContrast = 0.3;  // what can be had of any background in the darkest corner

double shorter_side(const SyntheticOptions& options) {
  return std::min(options.width, options.height);
}

// Rejects NaN as well, which compares as outside of every range.
void check_range(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return;
  fail("synthetic data: {} must be from {:g} to {:g}, not {:g}", name, low, high, value);
}

bool clear_of(const Shape& shape, const std::vector<Shape>& others) {
  return std::none_of(others.begin(), others.end(), [&](const Shape& other) {
    const float reach = shape.radius + other.radius;
    const float dx = shape.x - other.x, dy = shape.y - other.y;
    return dx * dx + dy * dy < reach * reach;
  });
}

// `crowding` from 0 to 1 draws sizes from an ever smaller part of their range.
std::optional<Shape> place(const SyntheticOptions& options, int label, double crowding,
                           const std::vector<Shape>& others, Random& random) {
  constexpr int kAttempts = 30;
  Shape shape;
  shape.label = label;
  shape.proportion = float(random.uniform());
  shape.angle = float(random.uniform(0, 2 * std::numbers::pi));
  shape.stretch = float(random.uniform(0.8, 1));
  const double max_scale = options.max_scale + (options.min_scale - options.max_scale) * crowding;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const double scale = random.uniform(options.min_scale, max_scale);
    const double radius = scale * shorter_side(options) / 2, margin = radius + kEdge;
    shape.radius = float(radius);
    shape.x = float(random.uniform(margin, options.width - margin));
    shape.y = float(random.uniform(margin, options.height - margin));
    if (clear_of(shape, others)) return shape;
  }
  return std::nullopt;
}

bool place_all(const SyntheticOptions& options, const std::vector<int>& labels, double crowding,
               std::vector<Shape>& shapes, Random& random) {
  shapes.clear();
  for (int label : labels) {
    const std::optional<Shape> shape = place(options, label, crowding, shapes, random);
    if (!shape) return false;
    shapes.push_back(*shape);
  }
  return true;
}

void check_objects(const SyntheticOptions& options, int min_objects, int max_objects) {
  if (min_objects < 1 || max_objects < min_objects) {
    fail("synthetic scene: the number of objects must be a range from at least 1, not {} to {}",
         min_objects, max_objects);
  }
  const int most = max_scene_objects(options);
  if (max_objects > most) {
    fail(
        "synthetic scene: {} objects do not fit a {}x{} picture with min_scale {:g}, at most {} "
        "do; "
        "lower min_scale or ask for fewer",
        max_objects, options.width, options.height, options.min_scale, most);
  }
}

}  // namespace

void check_options(const SyntheticOptions& options) {
  check_range("width", options.width, kMinSide, kMaxSide);
  check_range("height", options.height, kMinSide, kMaxSide);
  check_range("max_scale", options.max_scale, 0, kMaxScale);
  check_range("min_scale", options.min_scale, 0, options.max_scale);
  check_range("min_contrast", options.min_contrast, 0, kMaxContrast);
  check_range("noise", options.noise, 0, 0.5);
  check_range("distractors", options.distractors, 0, 1000);
  const double diameter = options.min_scale * shorter_side(options);
  if (diameter < kMinDiameter) {
    fail(
        "synthetic data: with min_scale {:g} objects on {}x{} pixels could be {:.2g} pixels across "
        "and nobody could tell them apart; raise it to {:.2g} or more",
        options.min_scale, options.width, options.height, diameter,
        kMinDiameter / shorter_side(options));
  }
}

int max_scene_objects(const SyntheticOptions& options) {
  const double diameter = options.min_scale * shorter_side(options);
  const double circle = std::numbers::pi / 4 * diameter * diameter;
  return std::max(1, int(kMaxCrowding * options.width * options.height / circle));
}

std::vector<Shape> plan_shapes(const SyntheticOptions& options, int64_t index, int min_objects,
                               int max_objects) {
  check_options(options);
  if (index < 0) fail("synthetic data: the index must not be negative, but is {}", index);
  check_objects(options, min_objects, max_objects);
  Random random = Random::derived(options.seed, uint64_t(index));
  std::vector<int> labels = {int(index % kSyntheticClasses)};
  const int64_t count = min_objects + random.below(max_objects - min_objects + 1);
  while (int64_t(labels.size()) < count) labels.push_back(int(random.below(kSyntheticClasses)));

  constexpr int kRounds = 100;
  std::vector<Shape> shapes;
  for (int round = 0; round < kRounds; ++round) {
    const double crowding = std::min(1.0, 0.1 * round);
    if (place_all(options, labels, crowding, shapes, random)) return shapes;
  }
  fail("synthetic scene: no room was found for {} objects in a {}x{} picture; ask for fewer", count,
       options.width, options.height);
}

}  // namespace sact::data
