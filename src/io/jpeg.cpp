// JPEG in memory, by libjpeg-turbo: strict about damage, patient with harmless oddities.
#include "io/jpeg.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <jpeglib.h>  // uses size_t and FILE without including them

#include <jerror.h>

#include "base/error.h"
#include "io/decoding_memory.h"
#include "io/escape.h"
#include "io/exif.h"

namespace sact::io {
namespace {

constexpr int kExifMarker = JPEG_APP0 + 1;
constexpr char kExifStart[] = "Exif\0";  // and one more byte: 0, or 0xff from some cameras

[[noreturn]] void stop(j_common_ptr codec, const char* problem) {
  static_cast<Escape*>(codec->client_data)->leave(problem);
}

void stop_with_library_message(j_common_ptr codec) {
  char text[JMSG_LENGTH_MAX];
  codec->err->format_message(codec, text);
  stop(codec, text);
}

/// Real photographs come with these, and every pixel is there all the same.
bool is_harmless(int warning) {
  return warning == JWRN_EXTRANEOUS_DATA || warning == JWRN_ADOBE_XFORM ||
         warning == JWRN_JFIF_MAJOR || warning == JWRN_NOT_SEQUENTIAL;
}

void on_message(j_common_ptr codec, int level) {
  const bool is_warning = level < 0;
  if (is_warning && !is_harmless(codec->err->msg_code)) stop_with_library_message(codec);
}

void print_nothing(j_common_ptr) {}

jpeg_error_mgr silent_error_manager() {
  jpeg_error_mgr manager;
  jpeg_std_error(&manager);
  manager.error_exit = stop_with_library_message;
  manager.emit_message = on_message;
  manager.output_message = print_nothing;
  return manager;
}

/// How many scans a progressive file may have. Ten are usual; a scan that changes nothing takes a
/// few bytes and a walk over all blocks, so large pictures get fewer.
int allowed_scans(int64_t pixels) {
  return int(std::clamp<int64_t>(int64_t(4e9) / std::max<int64_t>(pixels, 1), 50, 500));
}

void check_scan_number(j_common_ptr codec) {
  const auto* decoder = reinterpret_cast<j_decompress_ptr>(codec);
  const int64_t pixels = int64_t(decoder->image_width) * int64_t(decoder->image_height);
  if (decoder->input_scan_number > allowed_scans(pixels)) {
    stop(codec, "it has an absurd number of scans");
  }
}

boolean end_is_damage(j_decompress_ptr codec) {
  stop(reinterpret_cast<j_common_ptr>(codec), "the file ends too early");
}

/// At the end of the data of a file with one scan: give an end marker. When the data do not suffice
/// for all blocks the entropy decoder notices; when only the marker was missing all is well.
boolean end_is_end_marker(j_decompress_ptr codec) {
  static constexpr JOCTET kEndMarker[] = {0xff, JPEG_EOI};
  codec->src->next_input_byte = kEndMarker;
  codec->src->bytes_in_buffer = sizeof kEndMarker;
  return TRUE;
}

/// The largest reduction that leaves the shorter side with `min_side` pixels.
unsigned scale_denominator(unsigned width, unsigned height, int min_side) {
  if (min_side <= 0) return 1;
  const unsigned side = std::min(width, height);
  for (const unsigned denominator : {8u, 4u, 2u}) {
    if ((side + denominator - 1) / denominator >= unsigned(min_side)) return denominator;
  }
  return 1;
}

/// The product of two fractions of 255, rounded.
uint8_t multiply_255(unsigned a, unsigned b) {
  return uint8_t((a * b + 127) / 255);
}

/// Programs that write the Adobe marker store inks inverted: 255 is no ink.
void rgb_from_cmyk(const uint8_t* cmyk, uint8_t* rgb, int width, bool inverted) {
  const uint8_t flip = inverted ? 0 : 255;
  for (int x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    for (int c = 0; c < 3; ++c) rgb[c] = multiply_255(cmyk[c] ^ flip, cmyk[3] ^ flip);
  }
}

class JpegDecoder {
 public:
  JpegDecoder(std::span<const std::byte> bytes, const std::string& name)
      : bytes_(bytes), name_(name), errors_(silent_error_manager()) {
    codec_.err = &errors_;
    codec_.client_data = &escape_;
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&codec_); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  ImageHeader header(const ReadOptions& options) {
    const int orientation = begin(options);
    ImageHeader header{int(codec_.image_width), int(codec_.image_height), "JPEG"};
    if (swaps_axes(orientation)) std::swap(header.width, header.height);
    return header;
  }

  RgbImage decode(const ReadOptions& options) {
    const int orientation = begin(options);
    choose_output(options.min_side);
    check_memory(orientation, options);
    start();
    RgbImage image(int(codec_.output_width), int(codec_.output_height));
    read_rows(image);
    return apply_orientation(std::move(image), orientation);
  }

 private:
  template <typename Step>
  void run(Step step) {
    if (!attempt(escape_, step)) refuse(printable(escape_.problem));
  }

  [[noreturn]] void refuse(const std::string& problem) const {
    fail("{}: cannot be decoded as JPEG: {}; the file is damaged or of a kind not supported here",
         name_, problem);
  }

  /// Reads and checks what stands before the pixels; returns the EXIF code of the orientation.
  int begin(const ReadOptions& options) {
    read_header();
    check_pixel_count(codec_.image_width, codec_.image_height, name_, options);
    check_plausible();
    return exif_code();
  }

  void read_header() {
    run([this] {
      jpeg_create_decompress(&codec_);
      jpeg_mem_src(&codec_, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
      codec_.src->fill_input_buffer = end_is_damage;
      jpeg_save_markers(&codec_, kExifMarker, 0xffff);
      jpeg_read_header(&codec_, TRUE);
      if (codec_.arith_code) stop(common(), "it uses arithmetic coding");
    });
  }

  uint64_t blocks() const {
    uint64_t blocks = 0;
    for (int c = 0; c < codec_.num_components; ++c) {
      const jpeg_component_info& component = codec_.comp_info[c];
      blocks += uint64_t(component.width_in_blocks) * component.height_in_blocks;
    }
    return blocks;
  }

  /// Every block takes at least one bit, so a short file cannot claim a huge picture.
  void check_plausible() const {
    if (blocks() / 8 > bytes_.size()) {
      refuse(fmt::format("{} bytes are too few for {} x {} pixels", bytes_.size(),
                         codec_.image_width, codec_.image_height));
    }
  }

  int exif_code() const {
    for (jpeg_saved_marker_ptr m = codec_.marker_list; m != nullptr; m = m->next) {
      const size_t start = sizeof kExifStart;
      if (m->marker != kExifMarker || m->data_length < start) continue;
      if (std::memcmp(m->data, kExifStart, start - 1) != 0) continue;
      return exif_orientation({m->data + start, m->data_length - start});
    }
    return 1;
  }

  void choose_output(int min_side) {
    const bool has_inks =
        codec_.jpeg_color_space == JCS_CMYK || codec_.jpeg_color_space == JCS_YCCK;
    codec_.out_color_space = has_inks ? JCS_CMYK : JCS_RGB;
    codec_.scale_num = 1;
    codec_.scale_denom = scale_denominator(codec_.image_width, codec_.image_height, min_side);
    run([this] { jpeg_calc_output_dimensions(&codec_); });
  }

  /// Of an image in several scans all coefficients are kept until the last one.
  void check_memory(int orientation, const ReadOptions& options) {
    const uint64_t image = 3 * uint64_t(codec_.output_width) * codec_.output_height;
    uint64_t coefficients = 0;
    if (jpeg_has_multiple_scans(&codec_)) coefficients = blocks() * sizeof(JBLOCK);
    check_decoding_bytes(std::max(image + coefficients, decoded_bytes(image, orientation)),
                         bytes_.size(), name_, options);
  }

  void start() {
    progress_.progress_monitor = check_scan_number;
    codec_.progress = &progress_;
    run([this] {
      if (!jpeg_has_multiple_scans(&codec_)) codec_.src->fill_input_buffer = end_is_end_marker;
      jpeg_start_decompress(&codec_);
    });
  }

  void read_rows(RgbImage& image) {
    const bool has_inks = codec_.out_color_space == JCS_CMYK;
    std::vector<uint8_t> inks(has_inks ? size_t(image.width) * 4 : 0);
    run([this, &image, &inks, has_inks] {
      while (codec_.output_scanline < codec_.output_height) {
        uint8_t* rgb = image.pixel(0, int(codec_.output_scanline));
        JSAMPROW row = has_inks ? inks.data() : rgb;
        jpeg_read_scanlines(&codec_, &row, 1);
        if (has_inks) {
          rgb_from_cmyk(inks.data(), rgb, image.width, codec_.saw_Adobe_marker);
        }
      }
      check_all_components_came();
      jpeg_finish_decompress(&codec_);
    });
  }

  /// libjpeg paints a component without any scan in grey and says nothing; such a component has
  /// never had its quantization table latched.
  void check_all_components_came() {
    for (int c = 0; c < codec_.num_components; ++c) {
      if (!codec_.comp_info[c].quant_table) stop(common(), "the data of a colour are missing");
    }
  }

  j_common_ptr common() { return reinterpret_cast<j_common_ptr>(&codec_); }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  Escape escape_;
  jpeg_error_mgr errors_;
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct codec_{};
};

class JpegEncoder {
 public:
  JpegEncoder() : errors_(silent_error_manager()) {
    codec_.err = &errors_;
    codec_.client_data = &escape_;
  }
  ~JpegEncoder() {
    jpeg_destroy_compress(&codec_);
    std::free(buffer_);
  }
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;

  std::vector<std::byte> encode(const RgbImage& image, int quality, const std::string& name) {
    const bool done = attempt(escape_, [this, &image, quality] { compress(image, quality); });
    if (!done) fail("{}: cannot be encoded as JPEG: {}", name, printable(escape_.problem));
    const auto* first = reinterpret_cast<const std::byte*>(buffer_);
    return {first, first + size_};
  }

 private:
  void compress(const RgbImage& image, int quality) {
    jpeg_create_compress(&codec_);
    jpeg_mem_dest(&codec_, &buffer_, &size_);
    codec_.image_width = JDIMENSION(image.width);
    codec_.image_height = JDIMENSION(image.height);
    codec_.input_components = 3;
    codec_.in_color_space = JCS_RGB;
    jpeg_set_defaults(&codec_);
    jpeg_set_quality(&codec_, quality, TRUE);
    // Full colour resolution: maps drawn over a photograph have sharp coloured edges.
    codec_.comp_info[0].h_samp_factor = codec_.comp_info[0].v_samp_factor = 1;
    codec_.optimize_coding = TRUE;
    jpeg_start_compress(&codec_, TRUE);
    while (codec_.next_scanline < codec_.image_height) {
      JSAMPROW row = const_cast<JSAMPROW>(image.pixel(0, int(codec_.next_scanline)));
      jpeg_write_scanlines(&codec_, &row, 1);
    }
    jpeg_finish_compress(&codec_);
  }

  Escape escape_;
  jpeg_error_mgr errors_;
  jpeg_compress_struct codec_{};
  unsigned char* buffer_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

RgbImage decode_jpeg(std::span<const std::byte> bytes, const std::string& name,
                     const ReadOptions& options) {
  return JpegDecoder(bytes, name).decode(options);
}

ImageHeader jpeg_header(std::span<const std::byte> bytes, const std::string& name,
                        const ReadOptions& options) {
  return JpegDecoder(bytes, name).header(options);
}

std::vector<std::byte> encode_jpeg(const RgbImage& image, int quality, const std::string& name) {
  if (quality < 1 || quality > 100) fail("JPEG quality must be 1 to 100, not {}", quality);
  if (std::max(image.width, image.height) > JPEG_MAX_DIMENSION) {
    fail("{}: {} x {} pixels are more than a JPEG holds ({} a side); write a PNG instead", name,
         image.width, image.height, JPEG_MAX_DIMENSION);
  }
  return JpegEncoder().encode(image, quality, name);
}

}  // namespace sact::io
