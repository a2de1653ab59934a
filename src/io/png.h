// Reading PNG from memory, by libpng.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io/image.h"

namespace sact::io {

/// Decodes one PNG; `name` is used in messages.
RgbImage decode_png(std::span<const std::byte> bytes, const std::string& name,
                    const ReadOptions& options);

ImageHeader png_header(std::span<const std::byte> bytes, const std::string& name,
                       const ReadOptions& options);

}  // namespace sact::io
