// The safetensors format: named tensors and a string table in one file, read when they are asked
// for.
//
// Layout: an 8-byte little-endian header length, a JSON header, then the tensors' bytes one after
// another. Reading makes every check that the format's own implementation makes, before anything
// is used: see parse_safetensors().
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace sact::io {

enum class Dtype {
  kBool,
  kU8,
  kI8,
  kF8E4M3,
  kF8E5M2,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kI64,
  kU64,
  kF64
};

size_t dtype_size(Dtype dtype);
/// The format's name of a type: "F32", "BF16".
std::string_view dtype_name(Dtype dtype);

using Shape = std::vector<int64_t>;
std::string shape_text(const Shape& shape);  // "[64, 3, 7, 7]"

/// The bytes of a tensor, in memory owned by somebody else or in a file that is open. They need not
/// be aligned.
class TensorBytes {
 public:
  TensorBytes() = default;
  template <typename Bytes>
  requires std::convertible_to<const Bytes&, std::span<const std::byte>> TensorBytes(
      const Bytes& memory)
      : memory_(memory), size_(memory_.size()) {}
  TensorBytes(std::shared_ptr<const ReadableFile> file, uint64_t offset, size_t size)
      : file_(std::move(file)), offset_(offset), size_(size) {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Where they begin in the file.
  uint64_t offset() const { return offset_; }
  /// Copies those from `offset` on; sact::Error where the file became shorter.
  void read(size_t offset, std::span<std::byte> target) const;
  /// A copy of all.
  std::vector<std::byte> read() const;
  /// Calls `use` with one piece after another.
  void for_each_piece(const std::function<void(std::span<const std::byte>)>& use) const;

 private:
  std::span<const std::byte> memory_;
  std::shared_ptr<const ReadableFile> file_;
  uint64_t offset_ = 0;
  size_t size_ = 0;
};

/// A tensor whose bytes belong to somebody else.
struct TensorView {
  Dtype dtype = Dtype::kF32;
  Shape shape;
  TensorBytes bytes;

  int64_t elements() const { return int64_t(bytes.size() / dtype_size(dtype)); }
};

using TensorTable = std::map<std::string, TensorView, std::less<>>;
using Metadata = std::map<std::string, std::string, std::less<>>;

struct Safetensors {
  TensorTable tensors;
  Metadata metadata;
};

/// Reads the table of a file in memory; the views point into `bytes`. Throws sact::Error unless:
/// the header is at most 100 MB, lies inside the file, is a JSON object of the expected form with
/// no name twice; shapes and sizes do not overflow; every tensor has exactly the bytes its shape
/// and type need; tensors follow each other from the header's end to the file's end without holes
/// or overlaps. `name` is used in messages.
Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& name);

/// A safetensors file that is open. Its tensors may be read as long as a view of one lives.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const TensorTable& tensors() const { return content_.tensors; }
  const Metadata& metadata() const { return content_.metadata; }
  /// The tensor of that name, or null.
  const TensorView* find(std::string_view name) const;
  std::string name() const { return file_->path().string(); }
  /// Whether the file is what was written, bit by bit; nothing where it was written without a
  /// checksum.
  std::optional<bool> checksum_holds() const;

 private:
  std::shared_ptr<const ReadableFile> file_;
  std::vector<std::byte> start_;  // with the header
  Safetensors content_;
};

struct NamedTensor {
  std::string name;
  TensorView view;
};

/// Writes the file whole or not at all. Names must differ and views must have the size that shape
/// and type say.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const Metadata& metadata);

/// The metadata key of a checksum: 16 hexadecimal digits, the CRC-64 (of ECMA-182, as in xz) of all
/// bytes of the file with zeros for the digits themselves.
inline constexpr std::string_view kChecksumKey = "sact_checksum";

/// Writes it with a checksum. The file that it replaces stays as `previous`.
void write_summed_safetensors(const std::filesystem::path& path,
                              const std::filesystem::path& previous,
                              std::span<const NamedTensor> tensors, const Metadata& metadata);

/// The values of a floating point tensor (F32, F64, F16, BF16) as float; `name` for messages.
std::vector<float> float_values(const TensorView& view, std::string_view name);

/// Floats stored as `dtype` (F32, F16, BF16).
std::vector<std::byte> stored_as(std::span<const float> values, Dtype dtype);

}  // namespace sact::io
