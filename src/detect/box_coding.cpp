#include "detect/box_coding.h"

#include <algorithm>
#include <cmath>

namespace sact::detect {
namespace {

struct Centred {
  float x, y, width, height;
};

Centred centred(const Box& box) {
  return {(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2, std::max(box.width(), kShortestSide),
          std::max(box.height(), kShortestSide)};
}

}  // namespace

BoxCode encode(const Box& box, const Box& reference, const CodingScales& scales) {
  const Centred to = centred(box), from = centred(reference);
  return {scales.x * (to.x - from.x) / from.width, scales.y * (to.y - from.y) / from.height,
          scales.width * std::log(to.width / from.width),
          scales.height * std::log(to.height / from.height)};
}

Box decode(const BoxCode& code, const Box& reference, const CodingScales& scales) {
  const Centred from = centred(reference);
  const float x = from.x + code.x / scales.x * from.width;
  const float y = from.y + code.y / scales.y * from.height;
  const float width = from.width * std::exp(std::min(code.width / scales.width, kLargestLogSize));
  const float height =
      from.height * std::exp(std::min(code.height / scales.height, kLargestLogSize));
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

}  // namespace sact::detect
