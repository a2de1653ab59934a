#include "saliency/postprocess.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace sact::saliency {
namespace {

/// Weights of -radius ... radius.
std::vector<float> gaussian_weights(double sigma) {
  const int radius = int(4 * sigma + 0.5);
  std::vector<double> weights;
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    weights.push_back(std::exp(-0.5 * i * i / (sigma * sigma)));
    sum += weights.back();
  }
  std::vector<float> scaled;
  for (const double weight : weights) scaled.push_back(float(weight / sum));
  return scaled;
}

/// The position inside of [0, count) that a mirror at each border shows at `i`.
int mirrored(int i, int count) {
  const int period = 2 * count;
  const int inside = (i % period + period) % period;
  return inside < count ? inside : period - 1 - inside;
}

/// target[i] += weight * source[i]
void add_scaled(float* target, const float* source, float weight, int count) {
  for (int i = 0; i < count; ++i) target[i] += weight * source[i];
}

const float* row(const Map& map, int y) {
  return map.values.data() + size_t(y) * size_t(map.width);
}

/// Fixation maps are nearly empty, and an empty row adds nothing to its neighbours.
std::vector<bool> rows_with_values(const Map& map) {
  std::vector<bool> any;
  for (int y = 0; y < map.height; ++y) {
    any.push_back(
        std::any_of(row(map, y), row(map, y) + map.width, [](float value) { return value != 0; }));
  }
  return any;
}

Map blurred_rows(const Map& map, const std::vector<float>& weights, const std::vector<bool>& any) {
  const int radius = int(weights.size()) / 2;
  Map out(map.height, map.width);
  std::vector<float> padded(size_t(map.width + 2 * radius));
  for (int y = 0; y < map.height; ++y) {
    if (!any[size_t(y)]) continue;
    for (int x = -radius; x < map.width + radius; ++x) {
      padded[size_t(x + radius)] = row(map, y)[mirrored(x, map.width)];
    }
    for (size_t k = 0; k < weights.size(); ++k) {
      add_scaled(&out.at(y, 0), &padded[k], weights[k], map.width);
    }
  }
  return out;
}

Map blurred_columns(const Map& map, const std::vector<float>& weights,
                    const std::vector<bool>& any) {
  const int radius = int(weights.size()) / 2;
  Map out(map.height, map.width);
  for (int y = 0; y < map.height; ++y) {
    for (size_t k = 0; k < weights.size(); ++k) {
      const int source = mirrored(y + int(k) - radius, map.height);
      if (any[size_t(source)]) {
        add_scaled(&out.at(y, 0), row(map, source), weights[k], map.width);
      }
    }
  }
  return out;
}

}  // namespace

void check_halting(const ModelSpec& spec, const std::string& name) {
  if (spec.halting == Halting::kSact) return;
  fail(
      "{}: has halting '{}', which spends the same everywhere in an image; a network with 'sact' "
      "is needed here",
      name, name_of(spec.halting));
}

Size usual_size(const ModelSpec& spec) {
  return spec.detection ? Size{360, 640} : Size{180, 320};
}

Map normalized(const Map& map) {
  const auto [low, high] = std::minmax_element(map.values.begin(), map.values.end());
  const double range = double(*high) - *low;
  Map out(map.height, map.width);
  if (range > 0) {
    for (size_t i = 0; i < out.values.size(); ++i) {
      out.values[i] = float((map.values[i] - double(*low)) / range);
    }
  }
  return out;
}

Map gaussian_blur(const Map& map, double sigma) {
  SACT_ASSERT(sigma >= 0);
  if (int(4 * sigma + 0.5) == 0) return map;  // narrower than a pixel
  const std::vector<float> weights = gaussian_weights(sigma);
  const std::vector<bool> any = rows_with_values(map);
  return blurred_columns(blurred_rows(map, weights, any), weights, any);
}

Map center_gaussian(Size size, double sigma) {
  const auto along = [sigma](int count) {
    std::vector<double> heights;
    for (int i = 0; i < count; ++i) {
      const double distance = ((i + 0.5) / count - 0.5) / sigma;
      heights.push_back(std::exp(-0.5 * distance * distance));
    }
    return heights;
  };
  const std::vector<double> rows = along(size.height), columns = along(size.width);
  Map map(size.height, size.width);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      map.at(y, x) = float(rows[size_t(y)] * columns[size_t(x)]);
    }
  }
  return map;
}

Map with_center(Map blurred, const Map& center, double weight) {
  SACT_ASSERT(blurred.height == center.height && blurred.width == center.width);
  add_scaled(blurred.values.data(), center.values.data(), float(weight),
             int(blurred.values.size()));
  return blurred;
}

Map saliency_map(const Map& ponder_cost, const Map& center, const PostProcess& settings) {
  return with_center(gaussian_blur(normalized(ponder_cost), settings.blur), center,
                     settings.center_weight);
}

std::vector<PostProcess> grid(std::span<const double> blurs, std::span<const double> weights) {
  std::vector<PostProcess> all;
  for (const double blur : blurs) {
    for (const double weight : weights) all.push_back({blur, weight});
  }
  return all;
}

size_t best_of(std::span<const double> scores) {
  SACT_ASSERT(!scores.empty());
  return size_t(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

Place place_of(double best, std::span<const double> tried) {
  const auto [low, high] = std::minmax_element(tried.begin(), tried.end());
  if (*low == *high) return Place::kInside;
  if (best == *high) return Place::kHighest;
  return best == *low && best > 0 ? Place::kLowest : Place::kInside;
}

Map softmax(const Map& map, double temperature) {
  const double highest = *std::max_element(map.values.begin(), map.values.end());
  double sum = 0;
  for (const float value : map.values) sum += std::exp((value - highest) / temperature);
  Map out(map.height, map.width);
  for (size_t i = 0; i < out.values.size(); ++i) {
    out.values[i] = float(std::exp((map.values[i] - highest) / temperature) / sum);
  }
  return out;
}

}  // namespace sact::saliency
