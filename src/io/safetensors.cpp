#include "io/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/half.h"
#include "base/text.h"
#include "io/checksum.h"
#include "io/image.h"
#include "io/json.h"
#include "io/safetensors_header.h"

namespace sact::io {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored little-endian");

constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr size_t kLengthBytes = 8;

struct DtypeRow {
  std::string_view name;
  size_t size;
};
constexpr std::array<DtypeRow, 15> kDtypes = {{{"BOOL", 1},
                                               {"U8", 1},
                                               {"I8", 1},
                                               {"F8_E4M3", 1},
                                               {"F8_E5M2", 1},
                                               {"I16", 2},
                                               {"U16", 2},
                                               {"F16", 2},
                                               {"BF16", 2},
                                               {"I32", 4},
                                               {"U32", 4},
                                               {"F32", 4},
                                               {"I64", 8},
                                               {"U64", 8},
                                               {"F64", 8}}};

/// Bytes that a tensor of this shape needs, or nothing when that overflows.
bool bytes_needed(const Shape& shape, Dtype dtype, uint64_t* bytes) {
  *bytes = 1;
  for (int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(*bytes, uint64_t(extent), bytes)) return false;
  }
  return !__builtin_mul_overflow(*bytes, uint64_t(dtype_size(dtype)), bytes);
}

/// Checks that the tensors, in the order of their offsets, tile the data without hole or overlap.
void check_layout(std::vector<HeaderEntry>& entries, uint64_t data_bytes, const std::string& name) {
  std::sort(entries.begin(), entries.end(), [](const HeaderEntry& a, const HeaderEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t position = 0;
  for (const HeaderEntry& entry : entries) {
    const std::string tensor = printable(entry.name);
    if (entry.end < entry.begin || entry.end > data_bytes) {
      fail("{}: tensor '{}' claims bytes {} to {}, but the file has {} bytes of data{}", name,
           tensor, entry.begin, entry.end, data_bytes,
           entry.end > data_bytes ? "; it was probably cut short" : "");
    }
    if (entry.begin != position) {
      fail("{}: tensor '{}' starts at byte {} of the data, {} the one before it (at {})", name,
           tensor, entry.begin, entry.begin < position ? "overlapping" : "leaving a hole after",
           position);
    }
    uint64_t needed = 0;
    if (!bytes_needed(entry.shape, entry.dtype, &needed)) {
      fail("{}: tensor '{}' has the impossible shape {}", name, tensor, shape_text(entry.shape));
    }
    if (needed != entry.end - entry.begin) {
      fail("{}: tensor '{}' of type {} and shape {} needs {} bytes, but {} are stored", name,
           tensor, dtype_name(entry.dtype), shape_text(entry.shape), needed,
           entry.end - entry.begin);
    }
    position = entry.end;
  }
  if (position != data_bytes) {
    fail("{}: has {} bytes of data, but its tensors take {}", name, data_bytes, position);
  }
}

template <typename Stored, typename Convert>
void convert_all(std::span<const std::byte> bytes, std::vector<float>& values, Convert convert) {
  for (size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    values[i] = convert(stored);
  }
}

constexpr size_t kChecksumDigits = 16;

std::string checksum_text(uint64_t sum) {
  return fmt::format("{:0{}x}", sum, kChecksumDigits);
}

/// Where the digits of the checksum stand in a file that was written with one.
size_t checksum_place(std::string_view file) {
  const std::string before = fmt::format("\"{}\":\"", kChecksumKey);
  const size_t place = file.find(before);  // in a text of others the quotes would be escaped
  return place == file.npos || file.size() - place < before.size() + kChecksumDigits
             ? file.npos
             : place + before.size();
}

}  // namespace

size_t dtype_size(Dtype dtype) {
  return kDtypes[size_t(dtype)].size;
}

std::string_view dtype_name(Dtype dtype) {
  return kDtypes[size_t(dtype)].name;
}

std::string shape_text(const Shape& shape) {
  constexpr size_t kShown = 8;
  const size_t shown = std::min(shape.size(), kShown);
  return fmt::format("[{}{}]", fmt::join(shape.begin(), shape.begin() + long(shown), ", "),
                     shown < shape.size() ? ", ..." : "");
}

Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.size() < kLengthBytes) {
    fail("{}: is not a safetensors file: it has only {}", name,
         pluralize(int64_t(bytes.size()), "byte"));
  }
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), kLengthBytes);
  const uint64_t rest = bytes.size() - kLengthBytes;
  if (header_bytes > kMaxHeaderBytes && begins_like_image(bytes)) {
    fail("{}: is a picture; a safetensors file, which holds a model, is needed here", name);
  }
  if (header_bytes > kMaxHeaderBytes) {
    fail("{}: is not a safetensors file: it claims a header of {} bytes, the limit is {}", name,
         header_bytes, kMaxHeaderBytes);
  }
  if (header_bytes > rest) {
    fail("{}: its header should have {} bytes, but only {} follow; it was probably cut short", name,
         header_bytes, rest);
  }
  const char* text = reinterpret_cast<const char*>(bytes.data()) + kLengthBytes;
  if (header_bytes == 0 || text[0] != '{') {
    fail("{}: is not a safetensors file: its header does not start with '{{'", name);
  }
  Header header = parse_header({text, size_t(header_bytes)}, name);
  const auto data = bytes.subspan(kLengthBytes + size_t(header_bytes));
  check_layout(header.entries, data.size(), name);

  Safetensors result;
  result.metadata = std::move(header.metadata);
  for (HeaderEntry& entry : header.entries) {
    TensorView view{entry.dtype, std::move(entry.shape),
                    data.subspan(size_t(entry.begin), size_t(entry.end - entry.begin))};
    result.tensors.emplace(std::move(entry.name), std::move(view));
  }
  return result;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(path), content_(parse_safetensors(file_.bytes(), path.string())) {}

const TensorView* SafetensorsFile::find(std::string_view name) const {
  const auto found = content_.tensors.find(name);
  return found == content_.tensors.end() ? nullptr : &found->second;
}

std::optional<bool> SafetensorsFile::checksum_holds() const {
  if (!metadata().contains(kChecksumKey)) return std::nullopt;
  const auto bytes = file_.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t digits = checksum_place(text);
  if (digits == text.npos) return false;
  const std::string zeros(kChecksumDigits, '0');
  uint64_t sum = crc64(bytes.first(digits));
  sum = crc64(std::as_bytes(std::span(zeros)), sum);
  sum = crc64(bytes.subspan(digits + kChecksumDigits), sum);
  return text.substr(digits, kChecksumDigits) == checksum_text(sum);
}

namespace {

/// A file before it is written: its header, and the tensors in the order in which they follow.
struct Layout {
  std::string header;
  std::vector<const NamedTensor*> order;
};

Layout layout_of(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                 const Metadata& metadata) {
  Layout layout;
  // Wide types first keeps every tensor aligned to its type; within a type the given order stays.
  for (const NamedTensor& tensor : tensors) layout.order.push_back(&tensor);
  std::stable_sort(layout.order.begin(), layout.order.end(),
                   [](const NamedTensor* a, const NamedTensor* b) {
                     return dtype_size(a->view.dtype) > dtype_size(b->view.dtype);
                   });

  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::set<std::string_view> names;
  uint64_t position = 0;
  for (const NamedTensor* tensor : layout.order) {
    uint64_t needed = 0;
    SACT_ASSERT(names.insert(tensor->name).second);
    SACT_ASSERT(bytes_needed(tensor->view.shape, tensor->view.dtype, &needed));
    SACT_ASSERT(needed == tensor->view.bytes.size());
    header[tensor->name] = {{"dtype", dtype_name(tensor->view.dtype)},
                            {"shape", tensor->view.shape},
                            {"data_offsets", {position, position + needed}}};
    position += needed;
  }
  std::string text = dump_json(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the format allows blanks, so that data is aligned
  if (text.size() > kMaxHeaderBytes) fail("{}: too many tensors for one file", path.string());
  const uint64_t header_bytes = text.size();
  layout.header.assign(reinterpret_cast<const char*>(&header_bytes), sizeof header_bytes);
  layout.header += text;
  return layout;
}

void write_layout(AtomicFile& file, const Layout& layout) {
  file.write(layout.header);
  for (const NamedTensor* tensor : layout.order) file.write(tensor->view.bytes);
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const Metadata& metadata) {
  const Layout layout = layout_of(path, tensors, metadata);
  AtomicFile file(path);
  write_layout(file, layout);
  file.commit();
}

void write_summed_safetensors(const std::filesystem::path& path,
                              const std::filesystem::path& previous,
                              std::span<const NamedTensor> tensors, const Metadata& metadata) {
  Metadata summed = metadata;
  summed[std::string(kChecksumKey)] = std::string(kChecksumDigits, '0');
  Layout layout = layout_of(path, tensors, summed);
  uint64_t sum = crc64(std::as_bytes(std::span(layout.header)));
  for (const NamedTensor* tensor : layout.order) sum = crc64(tensor->view.bytes, sum);
  layout.header.replace(checksum_place(layout.header), kChecksumDigits, checksum_text(sum));
  AtomicFile file(path);
  write_layout(file, layout);
  file.commit_keeping(previous);
}

std::vector<float> float_values(const TensorView& view, std::string_view name) {
  std::vector<float> values(static_cast<size_t>(view.elements()));
  switch (view.dtype) {
    case Dtype::kF32:
      convert_all<float>(view.bytes, values, [](float v) { return v; });
      break;
    case Dtype::kF64:
      convert_all<double>(view.bytes, values, [](double v) { return float(v); });
      break;
    case Dtype::kF16:
      convert_all<uint16_t>(view.bytes, values, float_from_f16);
      break;
    case Dtype::kBF16:
      convert_all<uint16_t>(view.bytes, values, float_from_bf16);
      break;
    default:
      fail(
          "tensor '{}' has the type {}, but floating point numbers (F32, F64, F16, BF16) are "
          "needed",
          printable(name), dtype_name(view.dtype));
  }
  return values;
}

std::vector<std::byte> stored_as(std::span<const float> values, Dtype dtype) {
  std::vector<std::byte> bytes(values.size() * dtype_size(dtype));
  if (dtype == Dtype::kF32) {
    const auto given = std::as_bytes(values);
    std::copy(given.begin(), given.end(), bytes.begin());  // also none, which memcpy() must not get
    return bytes;
  }
  SACT_ASSERT(dtype == Dtype::kF16 || dtype == Dtype::kBF16);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t stored =
        dtype == Dtype::kF16 ? f16_from_float(values[i]) : bf16_from_float(values[i]);
    std::memcpy(bytes.data() + i * sizeof stored, &stored, sizeof stored);
  }
  return bytes;
}

}  // namespace sact::io
