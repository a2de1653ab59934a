// Reading WebP, TIFF, GIF and BMP from memory. Every function checks the size of the picture before
// it takes memory for it, and throws sact::Error for damage; `name` is used in messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io/image.h"

namespace sact::io {

/// By libwebp; of an animation the first frame on its canvas.
RgbImage decode_webp(std::span<const std::byte> bytes, const std::string& name,
                     const ReadOptions& options);
ImageHeader webp_header(std::span<const std::byte> bytes, const std::string& name,
                        const ReadOptions& options);

/// By libtiff; the first page.
RgbImage decode_tiff(std::span<const std::byte> bytes, const std::string& name,
                     const ReadOptions& options);
ImageHeader tiff_header(std::span<const std::byte> bytes, const std::string& name,
                        const ReadOptions& options);

/// By giflib; the first frame on its canvas.
RgbImage decode_gif(std::span<const std::byte> bytes, const std::string& name,
                    const ReadOptions& options);
ImageHeader gif_header(std::span<const std::byte> bytes, const std::string& name,
                       const ReadOptions& options);

/// All bit depths of the format; not its run-length coding.
RgbImage decode_bmp(std::span<const std::byte> bytes, const std::string& name,
                    const ReadOptions& options);
ImageHeader bmp_header(std::span<const std::byte> bytes, const std::string& name,
                       const ReadOptions& options);

}  // namespace sact::io
