// GIF in memory, by giflib: the first frame on its canvas, transparency over white.
#include <gif_lib.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "io/more_formats.h"

namespace sact::io {
namespace {

int take_bytes(GifFileType* gif, GifByteType* target, int size) {
  auto* rest = static_cast<std::span<const std::byte>*>(gif->UserData);
  const size_t taken = std::min(size_t(std::max(size, 0)), rest->size());
  if (taken > 0) std::memcpy(target, rest->data(), taken);
  *rest = rest->subspan(taken);
  return int(taken);
}

class GifDecoder {
 public:
  GifDecoder(std::span<const std::byte> bytes, const std::string& name)
      : rest_(bytes), name_(name) {
    int error = 0;
    gif_ = DGifOpen(&rest_, take_bytes, &error);
    if (!gif_) refuse(GifErrorString(error));
  }
  ~GifDecoder() {
    if (gif_) DGifCloseFile(gif_, nullptr);
  }
  GifDecoder(const GifDecoder&) = delete;
  GifDecoder& operator=(const GifDecoder&) = delete;

  ImageHeader header(const ReadOptions& options) {
    go_to_first_frame();
    const GifImageDesc& frame = gif_->Image;
    check_pixel_count(uint64_t(frame.Width), uint64_t(frame.Height), name_, options);
    // A frame that is larger than the canvas is shown whole.
    const int64_t width = std::max<int64_t>(gif_->SWidth, int64_t(frame.Left) + frame.Width);
    const int64_t height = std::max<int64_t>(gif_->SHeight, int64_t(frame.Top) + frame.Height);
    check_pixel_count(uint64_t(width), uint64_t(height), name_, options);
    const bool covered = frame.Width == width && frame.Height == height;
    return {int(width), int(height), "GIF", 8, transparent_ >= 0 || !covered};
  }

  RgbImage decode(const ReadOptions& options) {
    const ImageHeader size = header(options);
    RgbImage image(size.width, size.height);
    std::fill(image.rgb.begin(), image.rgb.end(), uint8_t(255));
    const GifImageDesc& frame = gif_->Image;
    const ColorMapObject* colors = frame.ColorMap ? frame.ColorMap : gif_->SColorMap;
    if (!colors) refuse("it has no palette");
    std::vector<GifPixelType> line(size_t(frame.Width));
    // Interlaced: every eighth row, those between, those between them, and the rest.
    constexpr int kFirst[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
    for (int pass = 0; pass < (frame.Interlace ? 4 : 1); ++pass) {
      const int step = frame.Interlace ? kStep[pass] : 1;
      for (int y = frame.Interlace ? kFirst[pass] : 0; y < frame.Height; y += step) {
        if (DGifGetLine(gif_, line.data(), frame.Width) != GIF_OK) refuse_here();
        paint(line, *colors, image.pixel(frame.Left, frame.Top + y));
      }
    }
    return image;
  }

 private:
  [[noreturn]] void refuse(const char* problem) const {
    fail("{}: cannot be decoded as GIF: {}; get the file again", name_,
         problem ? printable(problem) : "the file is damaged");
  }
  [[noreturn]] void refuse_here() const { refuse(GifErrorString(gif_->Error)); }

  void go_to_first_frame() {
    GifRecordType record = UNDEFINED_RECORD_TYPE;
    while (true) {
      if (DGifGetRecordType(gif_, &record) != GIF_OK) refuse_here();
      if (record == TERMINATE_RECORD_TYPE) refuse("it has no picture");
      if (record == EXTENSION_RECORD_TYPE) read_extension();
      if (record != IMAGE_DESC_RECORD_TYPE) continue;
      if (DGifGetImageDesc(gif_) != GIF_OK) refuse_here();
      return;
    }
  }

  /// Of all that extensions say only which colour is transparent matters.
  void read_extension() {
    int code = 0;
    GifByteType* block = nullptr;  // its length stands in front
    if (DGifGetExtension(gif_, &code, &block) != GIF_OK) refuse_here();
    while (block) {
      GraphicsControlBlock control{};
      if (code == GRAPHICS_EXT_FUNC_CODE &&
          DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
        transparent_ = control.TransparentColor;
      }
      if (DGifGetExtensionNext(gif_, &block) != GIF_OK) refuse_here();
    }
  }

  void paint(const std::vector<GifPixelType>& line, const ColorMapObject& colors,
             uint8_t* target) const {
    for (const GifPixelType index : line) {
      if (index != transparent_) {
        if (index >= colors.ColorCount) refuse("a pixel has a colour that is not in the palette");
        const GifColorType& color = colors.Colors[index];
        target[0] = color.Red;
        target[1] = color.Green;
        target[2] = color.Blue;
      }
      target += 3;
    }
  }

  std::span<const std::byte> rest_;
  const std::string& name_;
  GifFileType* gif_ = nullptr;
  int transparent_ = NO_TRANSPARENT_COLOR;
};

}  // namespace

RgbImage decode_gif(std::span<const std::byte> bytes, const std::string& name,
                    const ReadOptions& options) {
  return GifDecoder(bytes, name).decode(options);
}

ImageHeader gif_header(std::span<const std::byte> bytes, const std::string& name,
                       const ReadOptions& options) {
  return GifDecoder(bytes, name).header(options);
}

}  // namespace sact::io
