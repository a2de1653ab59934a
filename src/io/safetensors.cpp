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
void convert_all(const TensorBytes& bytes, std::vector<float>& values, Convert convert) {
  float* value = values.data();
  bytes.for_each_piece([&](std::span<const std::byte> piece) {  // of whole numbers of any type
    for (size_t at = 0; at + sizeof(Stored) <= piece.size(); at += sizeof(Stored)) {
      Stored stored;
      std::memcpy(&stored, piece.data() + at, sizeof stored);
      *value++ = convert(stored);
    }
  });
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

namespace {

/// Where tensors begin, and how many bytes the start of a file must have to know that.
struct Table {
  Header header;
  uint64_t data = 0;
};

/// `start` must hold the header, as far as the file has one.
Table parse_table(std::span<const std::byte> start, uint64_t size, const std::string& name) {
  if (start.size() < kLengthBytes) {
    fail("{}: is not a safetensors file: it has only {}", name, pluralize(int64_t(size), "byte"));
  }
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, start.data(), kLengthBytes);
  const uint64_t rest = size - kLengthBytes;
  if (header_bytes > kMaxHeaderBytes && begins_like_image(start)) {
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
  SACT_ASSERT(start.size() - kLengthBytes >= header_bytes);
  const char* text = reinterpret_cast<const char*>(start.data()) + kLengthBytes;
  if (header_bytes == 0 || text[0] != '{') {
    fail("{}: is not a safetensors file: its header does not start with '{{'", name);
  }
  Table table{parse_header({text, size_t(header_bytes)}, name), kLengthBytes + header_bytes};
  check_layout(table.header.entries, size - table.data, name);
  return table;
}

/// With what gives the bytes from an offset on.
Safetensors content_of(Table table,
                       const std::function<TensorBytes(uint64_t offset, size_t size)>& bytes) {
  Safetensors result;
  result.metadata = std::move(table.header.metadata);
  for (HeaderEntry& entry : table.header.entries) {
    TensorView view{entry.dtype, std::move(entry.shape),
                    bytes(table.data + entry.begin, size_t(entry.end - entry.begin))};
    result.tensors.emplace(std::move(entry.name), std::move(view));
  }
  return result;
}

/// What of a file must be read to know its tensors, and to tell a picture.
std::vector<std::byte> start_of(const ReadableFile& file) {
  constexpr uint64_t kLeast = 4096;
  std::vector<std::byte> start(size_t(std::min(file.size(), kLeast)));
  file.read(0, start);
  uint64_t header_bytes = 0;
  if (start.size() < kLengthBytes) return start;
  std::memcpy(&header_bytes, start.data(), kLengthBytes);
  if (header_bytes > kMaxHeaderBytes || header_bytes > file.size() - kLengthBytes) return start;
  const size_t there = start.size(), needed = size_t(kLengthBytes + header_bytes);
  if (needed <= there) return start;
  start.resize(needed);
  file.read(there, std::span(start).subspan(there));
  return start;
}

constexpr size_t kPiece = 64 << 10;  // stays in a cache between being read and being used

}  // namespace

void TensorBytes::read(size_t offset, std::span<std::byte> target) const {
  SACT_ASSERT(offset <= size_ && target.size() <= size_ - offset);
  if (file_) {
    file_->read(offset_ + offset, target);
  } else if (!target.empty()) {
    std::memcpy(target.data(), memory_.data() + offset, target.size());
  }
}

std::vector<std::byte> TensorBytes::read() const {
  std::vector<std::byte> bytes(size_);
  read(0, bytes);
  return bytes;
}

void TensorBytes::for_each_piece(const std::function<void(std::span<const std::byte>)>& use) const {
  if (!file_) return use(memory_);
  std::vector<std::byte> piece(std::min(size_, kPiece));
  for (size_t at = 0; at < size_; at += piece.size()) {
    const auto part = std::span(piece).first(std::min(piece.size(), size_ - at));
    read(at, part);
    use(part);
  }
}

Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& name) {
  return content_of(parse_table(bytes, bytes.size(), name), [&](uint64_t offset, size_t size) {
    return TensorBytes(bytes.subspan(size_t(offset), size));
  });
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(std::make_shared<ReadableFile>(path)),
      start_(start_of(*file_)),
      content_(content_of(
          parse_table(start_, file_->size(), path.string()),
          [&](uint64_t offset, size_t size) { return TensorBytes(file_, offset, size); })) {}

const TensorView* SafetensorsFile::find(std::string_view name) const {
  const auto found = content_.tensors.find(name);
  return found == content_.tensors.end() ? nullptr : &found->second;
}

std::optional<bool> SafetensorsFile::checksum_holds() const {
  if (!metadata().contains(kChecksumKey)) return std::nullopt;
  const std::span<const std::byte> start = start_;
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  const size_t digits = checksum_place(text);
  if (digits == text.npos) return false;
  const std::string zeros(kChecksumDigits, '0');
  uint64_t sum = crc64(start.first(digits));
  sum = crc64(std::as_bytes(std::span(zeros)), sum);
  sum = crc64(start.subspan(digits + kChecksumDigits), sum);
  const TensorBytes rest(file_, start.size(), size_t(file_->size() - start.size()));
  rest.for_each_piece([&](std::span<const std::byte> piece) { sum = crc64(piece, sum); });
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
  for (const NamedTensor* tensor : layout.order) {
    tensor->view.bytes.for_each_piece([&](std::span<const std::byte> piece) { file.write(piece); });
  }
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
  for (const NamedTensor* tensor : layout.order) {
    tensor->view.bytes.for_each_piece(
        [&](std::span<const std::byte> piece) { sum = crc64(piece, sum); });
  }
  layout.header.replace(checksum_place(layout.header), kChecksumDigits, checksum_text(sum));
  AtomicFile file(path);
  write_layout(file, layout);
  file.commit_keeping(previous);
}

std::vector<float> float_values(const TensorView& view, std::string_view name) {
  std::vector<float> values(static_cast<size_t>(view.elements()));
  switch (view.dtype) {
    case Dtype::kF32:
      view.bytes.read(0, std::as_writable_bytes(std::span(values)));
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
