// JPEG in memory, by libjpeg-turbo.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/image.h"

namespace sact::io {

/// Decodes one JPEG; `name` is used in messages.
RgbImage decode_jpeg(std::span<const std::byte> bytes, const std::string& name,
                     const ReadOptions& options);

ImageHeader jpeg_header(std::span<const std::byte> bytes, const std::string& name,
                        const ReadOptions& options);

std::vector<std::byte> encode_jpeg(const RgbImage& image, int quality, const std::string& name);

}  // namespace sact::io
