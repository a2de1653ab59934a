// Images as files: telling the formats apart, naming those not read here, finding images on disk.
#include "io/image.h"

#include <algorithm>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/jpeg.h"
#include "io/more_formats.h"
#include "io/png.h"

namespace sact::io {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

constexpr size_t kMaxNameInMessage = 4096;

using Decode = RgbImage (*)(std::span<const std::byte>, const std::string&, const ReadOptions&);
using ReadHeader = ImageHeader (*)(std::span<const std::byte>, const std::string&,
                                   const ReadOptions&);

/// A format that is read here, told by one or two places in its files.
struct Format {
  std::string_view magic;
  Decode decode;
  ReadHeader header;
  size_t second_offset = 0;
  std::string_view second_magic = {};
};

constexpr Format kFormats[] = {
    {"\xff\xd8"sv, decode_jpeg, jpeg_header},
    {"\x89PNG\r\n\x1a\n"sv, decode_png, png_header},
    {"RIFF"sv, decode_webp, webp_header, 8, "WEBP"sv},
    {"II*\0"sv, decode_tiff, tiff_header},
    {"MM\0*"sv, decode_tiff, tiff_header},
    {"II+\0"sv, decode_tiff, tiff_header},  // with offsets of 64 bits
    {"MM\0+"sv, decode_tiff, tiff_header},
    {"GIF87a"sv, decode_gif, gif_header},
    {"GIF89a"sv, decode_gif, gif_header},
    {"BM"sv, decode_bmp, bmp_header, 6, "\0\0\0\0"sv},
};

constexpr std::string_view kExtensions[] = {".jpg", ".jpeg", ".png", ".webp",
                                            ".tif", ".tiff", ".gif", ".bmp"};

char lower_ascii(char c) {
  return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
}

std::string lower_extension(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), lower_ascii);
  return extension;
}

bool has_at(std::string_view text, size_t offset, std::string_view part) {
  return text.size() >= offset && text.substr(offset).starts_with(part);
}

bool looks_like_web_page(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  std::string start(text.substr(first, 14));
  std::transform(start.begin(), start.end(), start.begin(), lower_ascii);
  return start.starts_with("<!doctype html") || start.starts_with("<html");
}

bool looks_like_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c >= 0x20 ? c != 0x7f : c == '\t' || c == '\n' || c == '\r';
  });
}

/// A format that gets into folders of photographs, by one or two places in its files.
struct OtherFormat {
  std::string_view what;
  bool is_picture;
  size_t offset;
  std::string_view magic;
  size_t second_offset = 0;
  std::string_view second_magic = {};
};

constexpr OtherFormat kOtherFormats[] = {
    {"an AVIF image", true, 4, "ftypavif"sv},
    {"a HEIC image", true, 4, "ftyphei"sv},
    {"a HEIF image", true, 4, "ftypmif1"sv},
    {"a JPEG 2000 image", true, 4, "jP  \r\n\x87\n"sv},
    {"a JPEG XL image", true, 4, "JXL \r\n\x87\n"sv},
    {"a PDF", true, 0, "%PDF-"sv},
    {"a ZIP archive", false, 0, "PK\x03\x04"sv},
    {"a gzip archive", false, 0, "\x1f\x8b"sv},
    {"a safetensors file", false, 5, "\0\0\0"sv, 8, "{\""sv},
};

[[noreturn]] void fail_for_other_format(std::string_view bytes, const std::string& name) {
  const std::string_view start = bytes.substr(0, 512);
  if (start.empty()) fail("{}: is empty; a {} is needed here", name, kReadableFormats);
  for (const OtherFormat& format : kOtherFormats) {
    if (!has_at(start, format.offset, format.magic)) continue;
    if (!has_at(start, format.second_offset, format.second_magic)) continue;
    fail("{}: is {}; a {} is needed here{}", name, format.what, kReadableFormats,
         format.is_picture ? "; convert it first" : "");
  }
  for (const Format& format : kFormats) {
    // Text may begin as a BMP does.
    const bool told = format.magic.size() > 2 || start.size() < format.magic.size();
    if (!told ||
        !start.substr(0, format.magic.size()).starts_with(format.magic.substr(0, start.size()))) {
      continue;
    }
    if (start.size() >=
        std::max(format.magic.size(), format.second_offset + format.second_magic.size())) {
      continue;  // all that could tell is there, and says that it is something else
    }
    fail("{}: ends after {} of what may be an image; get the file again", name,
         pluralize(int64_t(start.size()), "byte"));
  }
  if (start.starts_with("version https://git-lfs")) {
    fail("{}: is a Git LFS pointer and not the image itself; run 'git lfs pull' first", name);
  }
  if (looks_like_web_page(start)) {
    fail("{}: is a web page (HTML) and not an image; the download seems to have failed", name);
  }
  if (looks_like_text(start)) {
    fail("{}: is a text file; a {} is needed here", name, kReadableFormats);
  }
  fail("{}: is not a {}; only these are read here", name, kReadableFormats);
}

/// Null where the bytes begin as no format does.
const Format* format_of(std::string_view text) {
  for (const Format& format : kFormats) {
    if (text.starts_with(format.magic) && has_at(text, format.second_offset, format.second_magic)) {
      return &format;
    }
  }
  return nullptr;
}

/// Calls one of the functions of the format that the bytes are in with them, the printable name and
/// the options.
template <typename Result>
Result by_content(std::span<const std::byte> bytes, const std::string& name,
                  const ReadOptions& options,
                  Result (*Format::*function)(std::span<const std::byte>, const std::string&,
                                              const ReadOptions&)) {
  const std::string shown_name = printable(name, kMaxNameInMessage);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  try {
    if (const Format* format = format_of(text)) {
      return (format->*function)(bytes, shown_name, options);
    }
  } catch (const std::bad_alloc&) {
    fail("{}: there is not enough memory to decode it", shown_name);
  }
  fail_for_other_format(text, shown_name);
}

void check_encodable(const RgbImage& image) {
  SACT_ASSERT(image.width > 0 && image.height > 0);
  SACT_ASSERT(image.rgb.size() == size_t(image.width) * size_t(image.height) * 3);
}

/// What a directory and those below it hold.
struct Listing {
  std::vector<fs::path> images, others, directories;
};

/// Adds what is in one directory.
void list_directory(const fs::path& directory, Listing& listing) {
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    std::error_code ignored;  // what cannot be looked at is no directory; reading it will say why
    if (path.filename().string().starts_with('.')) {
      listing.others.push_back(path);
    } else if (entry->is_directory(ignored)) {
      // A link may lead back up; following none of them is simple and always ends.
      (entry->is_symlink(ignored) ? listing.others : listing.directories).push_back(path);
    } else {
      (has_image_extension(path) ? listing.images : listing.others).push_back(path);
    }
  }
  if (error) fail("{}: cannot be listed: {}", directory.string(), error.message());
}

}  // namespace

void check_pixel_count(uint64_t width, uint64_t height, const std::string& name,
                       const ReadOptions& options) {
  if (width == 0 || height == 0) fail("{}: has no pixels ({} x {})", name, width, height);
  const uint64_t limit = uint64_t(std::max<int64_t>(options.max_pixels, 0));
  if (width > limit / height) {  // and not a product, which could overflow
    fail("{}: has {} x {} pixels, more than the {} that are read here; make it smaller first{}",
         name, width, height, limit,
         options.limit_name.empty() ? "" : fmt::format(", or raise {}", options.limit_name));
  }
  if (std::max(width, height) > kMaxSide) {
    fail("{}: has {} x {} pixels, and none of an image's sides may have more than {}", name, width,
         height, kMaxSide);
  }
  expect_memory(3 * width * height,
                fmt::format("{}: an image of {} x {} pixels", name, width, height));
}

bool begins_like_image(std::span<const std::byte> bytes) {
  return format_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) != nullptr;
}

RgbImage decode_image(std::span<const std::byte> bytes, const std::string& name,
                      const ReadOptions& options) {
  return by_content(bytes, name, options, &Format::decode);
}

ImageHeader read_image_header(const fs::path& path, const ReadOptions& options) {
  return decode_image_header(read_file(path, kMaxImageFileBytes), path.string(), options);
}

ImageHeader decode_image_header(std::span<const std::byte> bytes, const std::string& name,
                                const ReadOptions& options) {
  return by_content(bytes, name, options, &Format::header);
}

RgbImage read_image(const fs::path& path, const ReadOptions& options) {
  return decode_image(read_file(path, kMaxImageFileBytes), path.string(), options);
}

std::vector<std::byte> encode_jpeg(const RgbImage& image, int quality) {
  check_encodable(image);
  return encode_jpeg(image, quality, "image");
}

void write_image(const fs::path& path, const RgbImage& image, Durability durability) {
  check_encodable(image);
  constexpr int kQuality = 90;
  const std::string extension = lower_extension(path);
  if (extension == ".png") {
    write_file_atomically(path, encode_png(image), durability);
  } else if (extension == ".jpg" || extension == ".jpeg") {
    write_file_atomically(path, encode_jpeg(image, kQuality, path.string()), durability);
  } else {
    fail("{}: images are written as {}; give the file one of these endings", path.string(),
         one_of({".png", ".jpg", ".jpeg"}));
  }
}

bool has_image_extension(const fs::path& path) {
  const std::string extension = lower_extension(path);
  return std::find(std::begin(kExtensions), std::end(kExtensions), extension) !=
         std::end(kExtensions);
}

std::vector<fs::path> list_images(const fs::path& directory, std::vector<fs::path>* others) {
  Listing listing;
  listing.directories.push_back(directory);
  while (!listing.directories.empty()) {
    const fs::path next = std::move(listing.directories.back());
    listing.directories.pop_back();
    list_directory(next, listing);
  }
  // As strings: the order of fs::path goes by components and puts "a-b" after "a/b".
  std::sort(listing.images.begin(), listing.images.end(),
            [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  if (others) *others = std::move(listing.others);
  return std::move(listing.images);
}

}  // namespace sact::io
