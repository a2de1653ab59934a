#include "saliency/fixations.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "io/image.h"
#include "io/mat.h"
#include "saliency/postprocess.h"

namespace sact::saliency {
namespace {

/// Any pixel that is not quite black counts, so that none may change on the way: JPEG changes them,
/// 16 bits are rounded to 8, and what is transparent is laid over white.
void check_keeps_pixels(const std::filesystem::path& path) {
  const io::ImageHeader header = io::read_image_header(path);
  const bool is_png = header.format == std::string_view("PNG");
  if (is_png && header.bit_depth <= 8 && !header.transparent) return;
  fail("{}: {}; save this fixation map as a PNG of 8 bits a colour without transparency",
       path.string(),
       !is_png              ? fmt::format("is a {} and no PNG", header.format)
       : header.transparent ? std::string("has transparent colours")
                            : fmt::format("has {} bits a colour", header.bit_depth));
}

Map read_png(const std::filesystem::path& path) {
  check_keeps_pixels(path);
  const io::RgbImage image = io::read_image(path);
  Map map(image.height, image.width);
  for (size_t i = 0; i < map.values.size(); ++i) {
    const uint8_t* pixel = &image.rgb[3 * i];
    map.values[i] = pixel[0] || pixel[1] || pixel[2] ? 1.0f : 0.0f;
  }
  return map;
}

}  // namespace

Fixations fixations_of(const Map& map, const std::string& name) {
  Fixations fixations{{map.height, map.width}, {}};
  for (size_t i = 0; i < map.values.size(); ++i) {
    const float value = map.values[i];
    if (!(value >= 0) || std::isinf(value)) {
      fail("{}: has a value of {}; a fixation map has 0 where nobody looked, and more elsewhere",
           name, value);
    }
    if (value != 0) fixations.pixels.push_back(uint32_t(i));
  }
  if (fixations.pixels.empty()) fail("{}: no pixel is fixated; leave this image out", name);
  if (fixations.pixels.size() > map.values.size() / 2) {
    fail(
        "{}: more than half of the pixels are fixated; this looks like a density map, and a "
        "fixation map has 0 where nobody looked",
        name);
  }
  return fixations;
}

Fixations read_fixations(const std::filesystem::path& path, const std::string& variable) {
  const Map map = path.extension() == ".mat" ? io::read_mat(path, variable) : read_png(path);
  return fixations_of(map, path.string());
}

Fixations joined(std::span<const Fixations* const> maps, Size size) {
  Fixations all{size, {}};
  for (const Fixations* map : maps) {
    for (const uint32_t pixel : map->pixels) {
      const int64_t y = pixel / map->size.width, x = pixel % map->size.width;
      all.pixels.push_back(uint32_t(y * size.height / map->size.height * size.width +
                                    x * size.width / map->size.width));
    }
  }
  std::sort(all.pixels.begin(), all.pixels.end());
  all.pixels.erase(std::unique(all.pixels.begin(), all.pixels.end()), all.pixels.end());
  return all;
}

Map density(const Fixations& fixations, double sigma) {
  Map map(fixations.size.height, fixations.size.width);
  for (const uint32_t pixel : fixations.pixels) map.values[pixel] = 1;
  return gaussian_blur(map, sigma);
}

}  // namespace sact::saliency
