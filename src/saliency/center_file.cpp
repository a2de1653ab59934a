#include "saliency/center_file.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "io/image.h"
#include "io/mat.h"

namespace sact::saliency {
namespace {

Map read_brightness(const std::filesystem::path& path) {
  if (io::read_image_header(path).transparent) {
    fail("{}: has transparent colours; save this centre map without transparency", path.string());
  }
  const io::RgbImage image = io::read_image(path);
  Map map(image.height, image.width);
  for (size_t i = 0; i < map.values.size(); ++i) {
    const uint8_t* pixel = &image.rgb[3 * i];
    map.values[i] = float(pixel[0] + pixel[1] + pixel[2]) / (3 * 255.0f);
  }
  return map;
}

}  // namespace

Map read_center(const std::filesystem::path& path, const std::string& variable) {
  Map map = path.extension() == ".mat" ? io::read_mat(path, variable) : read_brightness(path);
  for (const float value : map.values) {
    if (!std::isfinite(value) || value < 0) {
      fail("{}: a centre map has finite numbers of 0 and more, but here one is {}", path.string(),
           value);
    }
  }
  const auto [low, high] = std::minmax_element(map.values.begin(), map.values.end());
  if (*low == *high) {
    fail("{}: every number of this centre map is {}; it must be higher in the middle",
         path.string(), *low);
  }
  return map;
}

}  // namespace sact::saliency
