// WebP in memory, by libwebp.
#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "io/decoding_memory.h"
#include "io/exif.h"
#include "io/more_formats.h"
#include "io/over_white.h"

namespace sact::io {
namespace {

struct DeleteDemuxer {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
};

class WebpDecoder {
 public:
  WebpDecoder(std::span<const std::byte> bytes, const std::string& name)
      : name_(name), size_(bytes.size()) {
    const WebPData data{reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
    demuxer_.reset(WebPDemux(&data));  // looks through the chunks and unpacks nothing
    if (!demuxer_) refuse("its parts do not fit together, or the file ends too early");
    if (!WebPDemuxGetFrame(demuxer_.get(), 1, &frame_)) refuse("it has no picture");
  }
  ~WebpDecoder() { WebPDemuxReleaseIterator(&frame_); }
  WebpDecoder(const WebpDecoder&) = delete;
  WebpDecoder& operator=(const WebpDecoder&) = delete;

  ImageHeader header(const ReadOptions& options) {
    const uint32_t width = WebPDemuxGetI(demuxer_.get(), WEBP_FF_CANVAS_WIDTH);
    const uint32_t height = WebPDemuxGetI(demuxer_.get(), WEBP_FF_CANVAS_HEIGHT);
    check_pixel_count(width, height, name_, options);
    canvas_ = {int(width), int(height)};
    check_frame();
    const bool covered = frame_.width == canvas_.width && frame_.height == canvas_.height;
    ImageHeader header{canvas_.width, canvas_.height, "WebP", 8, has_alpha_ || !covered};
    if (swaps_axes(orientation())) std::swap(header.width, header.height);
    return header;
  }

  RgbImage decode(const ReadOptions& options) {
    header(options);
    const bool covered = frame_.width == canvas_.width && frame_.height == canvas_.height;
    const bool plain = covered && !has_alpha_;
    check_memory(plain, options);
    RgbImage image(canvas_.width, canvas_.height);
    if (plain) {
      const size_t stride = size_t(image.width) * 3;
      if (!WebPDecodeRGBInto(frame_.fragment.bytes, frame_.fragment.size, image.rgb.data(),
                             image.rgb.size(), int(stride))) {
        refuse("the data of its pixels are damaged");
      }
    } else {
      decode_over_white(image);
    }
    return apply_orientation(std::move(image), orientation());
  }

 private:
  struct Canvas {
    int width = 0, height = 0;
  };

  [[noreturn]] void refuse(const char* problem) const {
    fail("{}: cannot be decoded as WebP: {}; get the file again", name_, problem);
  }

  /// The frame lies on the canvas, and its own data say the same of its size.
  void check_frame() {
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(frame_.fragment.bytes, frame_.fragment.size, &features) != VP8_STATUS_OK ||
        features.width != frame_.width || features.height != frame_.height || frame_.width < 1 ||
        frame_.height < 1 || frame_.x_offset < 0 || frame_.y_offset < 0 ||
        frame_.x_offset > canvas_.width - frame_.width ||
        frame_.y_offset > canvas_.height - frame_.height) {
      refuse("its parts do not fit together");
    }
    has_alpha_ = features.has_alpha || frame_.has_alpha;
    constexpr int kLossless = 2;
    lossless_ = features.format == kLossless;
  }

  void check_memory(bool plain, const ReadOptions& options) const {
    const uint64_t image = 3 * uint64_t(canvas_.width) * uint64_t(canvas_.height);
    const uint64_t frame = uint64_t(frame_.width) * uint64_t(frame_.height);
    uint64_t bytes = image;
    if (lossless_) bytes += 4 * frame;             // libwebp keeps all of it
    if (!lossless_ && has_alpha_) bytes += frame;  // the same of alpha
    if (!plain) bytes += 4 * frame;                // our own, before it is laid over white
    check_decoding_bytes(std::max(bytes, decoded_bytes(image, orientation())), size_, name_,
                         options);
  }

  void decode_over_white(RgbImage& image) const {
    const size_t stride = size_t(frame_.width) * 4;
    std::vector<uint8_t> rgba(stride * size_t(frame_.height));
    if (!WebPDecodeRGBAInto(frame_.fragment.bytes, frame_.fragment.size, rgba.data(), rgba.size(),
                            int(stride))) {
      refuse("the data of its pixels are damaged");
    }
    std::fill(image.rgb.begin(), image.rgb.end(), uint8_t(255));
    for (int y = 0; y < frame_.height; ++y) {
      rgb_over_white(&rgba[stride * size_t(y)], image.pixel(frame_.x_offset, frame_.y_offset + y),
                     frame_.width);
    }
  }

  /// The EXIF data come bare or, from some programs, as in a JPEG.
  int orientation() const {
    WebPChunkIterator chunk{};
    if (!WebPDemuxGetChunk(demuxer_.get(), "EXIF", 1, &chunk)) return 1;
    std::span<const uint8_t> exif(chunk.chunk.bytes, chunk.chunk.size);
    constexpr std::string_view kStart("Exif\0\0", 6);
    if (exif.size() >= kStart.size() &&
        std::memcmp(exif.data(), kStart.data(), kStart.size()) == 0) {
      exif = exif.subspan(kStart.size());
    }
    const int code = exif_orientation(exif);
    WebPDemuxReleaseChunkIterator(&chunk);
    return code;
  }

  const std::string& name_;
  size_t size_;
  std::unique_ptr<WebPDemuxer, DeleteDemuxer> demuxer_;
  WebPIterator frame_{};
  Canvas canvas_;
  bool has_alpha_ = false, lossless_ = false;
};

}  // namespace

RgbImage decode_webp(std::span<const std::byte> bytes, const std::string& name,
                     const ReadOptions& options) {
  return WebpDecoder(bytes, name).decode(options);
}

ImageHeader webp_header(std::span<const std::byte> bytes, const std::string& name,
                        const ReadOptions& options) {
  return WebpDecoder(bytes, name).header(options);
}

}  // namespace sact::io
