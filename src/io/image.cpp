// Images as files: telling the formats apart, naming those not read here, finding images on disk.
#include "io/image.h"

#include <algorithm>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "io/jpeg.h"
#include "io/png.h"

namespace sact::io {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

constexpr uint64_t kMaxFileBytes = uint64_t(1) << 30;
constexpr size_t kMaxNameInMessage = 4096;
constexpr auto kPngMagic = "\x89PNG\r\n\x1a\n"sv;
constexpr auto kJpegMagic = "\xff\xd8"sv;

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
    {"a GIF", true, 0, "GIF8"sv},
    {"a WebP image", true, 0, "RIFF"sv, 8, "WEBP"sv},
    {"a BMP", true, 0, "BM"sv, 6, "\0\0\0\0"sv},
    {"a TIFF", true, 0, "II*\0"sv},
    {"a TIFF", true, 0, "MM\0*"sv},
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
  if (start.empty()) fail("{}: is empty; a JPEG or PNG is needed here", name);
  for (const OtherFormat& format : kOtherFormats) {
    if (!has_at(start, format.offset, format.magic)) continue;
    if (!has_at(start, format.second_offset, format.second_magic)) continue;
    fail("{}: is {}; only JPEG and PNG are read here{}", name, format.what,
         format.is_picture ? "; convert it first" : "");
  }
  if (kPngMagic.starts_with(start) || kJpegMagic.starts_with(start)) {
    fail("{}: ends after {} of what may be an image; get the file again", name,
         counted(int64_t(start.size()), "byte"));
  }
  if (start.starts_with("version https://git-lfs")) {
    fail("{}: is a Git LFS pointer and not the image itself; run 'git lfs pull' first", name);
  }
  if (looks_like_web_page(start)) {
    fail("{}: is a web page (HTML) and not an image; the download seems to have failed", name);
  }
  if (looks_like_text(start)) fail("{}: is a text file; a JPEG or PNG is needed here", name);
  fail("{}: is neither a JPEG nor a PNG; only these are read here", name);
}

/// Calls `jpeg` or `png`, whichever the bytes are, with them, the printable name and the options.
template <typename Jpeg, typename Png>
auto by_content(std::span<const std::byte> bytes, const std::string& name,
                const ReadOptions& options, Jpeg&& jpeg, Png&& png) {
  const std::string shown_name = printable(name, kMaxNameInMessage);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  try {
    if (text.starts_with(kJpegMagic)) return jpeg(bytes, shown_name, options);
    if (text.starts_with(kPngMagic)) return png(bytes, shown_name, options);
  } catch (const std::bad_alloc&) {
    fail("{}: there is not enough memory to decode it", shown_name);
  }
  fail_for_other_format(text, shown_name);
}

void check_encodable(const Image& image) {
  SACT_ASSERT(image.width > 0 && image.height > 0);
  SACT_ASSERT(image.rgb.size() == size_t(image.width) * size_t(image.height) * 3);
}

/// Adds the images of one directory to `found` and the directories in it to `directories`.
void list_directory(const fs::path& directory, std::vector<fs::path>& found,
                    std::vector<fs::path>& directories) {
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.filename().string().starts_with('.')) continue;
    std::error_code ignored;  // what cannot be looked at is no directory; reading it will say why
    if (entry->is_directory(ignored)) {
      // A link may lead back up; following none of them is simple and always ends.
      if (!entry->is_symlink(ignored)) directories.push_back(path);
    } else if (has_image_extension(path)) {
      found.push_back(path);
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
    fail("{}: has {} x {} pixels, more than the {} that are read here; make it smaller first", name,
         width, height, limit);
  }
}

Image decode_image(std::span<const std::byte> bytes, const std::string& name,
                   const ReadOptions& options) {
  return by_content(bytes, name, options, decode_jpeg, decode_png);
}

ImageHeader read_image_header(const fs::path& path, const ReadOptions& options) {
  const MappedFile file(path);
  return by_content(file.bytes(), path.string(), options, jpeg_header, png_header);
}

Image read_image(const fs::path& path, const ReadOptions& options) {
  return decode_image(read_file(path, kMaxFileBytes), path.string(), options);
}

std::vector<std::byte> encode_jpeg(const Image& image, int quality) {
  check_encodable(image);
  return encode_jpeg(image, quality, "image");
}

void write_image(const fs::path& path, const Image& image, Durability durability) {
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
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

std::vector<fs::path> list_images(const fs::path& directory) {
  std::vector<fs::path> found;
  std::vector<fs::path> directories{directory};
  while (!directories.empty()) {
    const fs::path next = std::move(directories.back());
    directories.pop_back();
    list_directory(next, found, directories);
  }
  // As strings: the order of fs::path goes by components and puts "a-b" after "a/b".
  std::sort(found.begin(), found.end(),
            [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  return found;
}

}  // namespace sact::io
