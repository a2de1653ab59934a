// Height and width, in this order everywhere.
#pragma once

#include <cstdint>

namespace sact {

/// Height and width of an image or a feature map.
struct Size {
  int height = 0;
  int width = 0;
  int64_t positions() const { return int64_t(height) * width; }
  bool operator==(const Size&) const = default;
};

}  // namespace sact
