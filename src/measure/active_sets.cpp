#include "measure/active_sets.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace sact::measure {
namespace {

/// A smooth landscape on the unit square: a few round hills.
class Landscape {
 public:
  explicit Landscape(uint64_t seed) : random_(seed) {
    for (Hill& hill : hills_) {
      hill = {random_.uniform(0.15, 0.85), random_.uniform(0.15, 0.85), random_.uniform(0.1, 0.35),
              random_.uniform(0.5, 1.0)};
    }
  }

  double height(double y, double x) const {
    double sum = 0;
    for (const Hill& hill : hills_) {
      const double dy = (y - hill.y) / hill.width, dx = (x - hill.x) / hill.width;
      sum += hill.height * std::exp(-0.5 * (dy * dy + dx * dx));
    }
    return sum;
  }

 private:
  struct Hill {
    double y, x, width, height;
  };
  Random random_;
  Hill hills_[4] = {};
};

}  // namespace

std::vector<std::vector<int32_t>> units_of_density(const ModelSpec& spec, int images, Size size,
                                                   double density, uint64_t seed) {
  std::vector<std::vector<int32_t>> units(size_t(spec.blocks()));
  for (int image = 0; image < images; ++image) {
    const Landscape landscape(seed * 1000 + uint64_t(image));
    for (int block = 0; block < spec.blocks(); ++block) {
      const Size grid = spec.block_size(block, size);
      std::vector<std::pair<double, int>> heights;
      for (int y = 0; y < grid.height; ++y) {
        for (int x = 0; x < grid.width; ++x) {
          heights.emplace_back(-landscape.height((y + 0.5) / grid.height, (x + 0.5) / grid.width),
                               y * grid.width + x);
        }
      }
      std::sort(heights.begin(), heights.end());  // the highest first
      const size_t active = size_t(std::lround(density * double(heights.size())));
      auto& rows = units[size_t(block)];
      const size_t start = rows.size();
      rows.resize(start + heights.size(), 1);
      for (size_t i = 0; i < active; ++i) {
        rows[start + size_t(heights[i].second)] = spec.units[size_t(block)];
      }
    }
  }
  return units;
}

}  // namespace sact::measure
