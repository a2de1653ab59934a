#include "io/mat_check.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "base/file.h"
#include "io/mat_damage.h"

namespace sact::io {
namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t kHeaderBytes = 128, kTagBytes = 8;
constexpr uint32_t kMatrix = 14, kCompressed = 15;

/// What stands in front of an element.
struct Tag {
  uint32_t type = 0, length = 0;
};

Tag tag_at(const std::byte* bytes, bool little) {
  const auto number = [&](size_t first) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) {
      value |= uint32_t(bytes[first + i]) << 8 * (little ? i : 3 - i);
    }
    return value;
  };
  return {number(0), number(4)};
}

/// Inflates a zlib stream piece by piece.
class Inflater {
 public:
  explicit Inflater(Bytes compressed) : rest_(compressed) {
    if (inflateInit(&stream_) != Z_OK) fail("there is not enough memory to inflate a MATLAB file");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// The next piece, which is empty at the end; nothing where the data are damaged or end too
  /// early.
  std::optional<Bytes> next() {
    stream_.next_out = reinterpret_cast<Bytef*>(piece_.data());
    stream_.avail_out = uInt(piece_.size());
    while (!ended_ && stream_.avail_out > 0) {
      if (stream_.avail_in == 0) feed();
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END) return std::nullopt;
      ended_ = status == Z_STREAM_END;
    }
    return Bytes(piece_).first(piece_.size() - stream_.avail_out);
  }

  /// At the end: whether the stream was all there was.
  bool used_all() const { return rest_.empty() && stream_.avail_in == 0; }

 private:
  void feed() {
    const Bytes part = rest_.first(std::min(rest_.size(), size_t{1} << 20));
    rest_ = rest_.subspan(part.size());
    // zlib does not write here; its older interface only does not say so.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(part.data()));
    stream_.avail_in = uInt(part.size());
  }

  Bytes rest_;
  z_stream stream_{};
  std::vector<std::byte> piece_ = std::vector<std::byte>(size_t{1} << 16);
  bool ended_ = false;
};

/// Whether compressed data are, up to their checksum, one matrix of the length that it states.
bool inflates_to_a_matrix(Bytes compressed, bool little) {
  Inflater inflater(compressed);
  std::optional<Bytes> piece = inflater.next();
  if (!piece || piece->size() < kTagBytes) return false;
  const Tag tag = tag_at(piece->data(), little);
  if (tag.type != kMatrix) return false;
  const uint64_t stated = kTagBytes + uint64_t(tag.length);
  uint64_t found = 0;
  while (piece && !piece->empty() && found <= stated) {
    found += piece->size();
    piece = inflater.next();
  }
  return piece && found == stated && inflater.used_all();
}

/// Whether the elements after the header, each with its length in front, are whole matrices that
/// fill the file.
bool elements_are_whole(Bytes file, bool little) {
  Bytes rest = file.subspan(kHeaderBytes);
  if (rest.empty()) return false;
  while (!rest.empty()) {
    if (rest.size() < kTagBytes) return false;
    const Tag tag = tag_at(rest.data(), little);
    rest = rest.subspan(kTagBytes);
    if (tag.length > rest.size()) return false;
    if (tag.type != kMatrix && tag.type != kCompressed) return false;
    if (tag.type == kCompressed && !inflates_to_a_matrix(rest.first(tag.length), little)) {
      return false;
    }
    rest = rest.subspan(tag.length);
  }
  return true;
}

}  // namespace

void check_mat(const std::filesystem::path& path) {
  const WholeFile read(path);
  const Bytes file = read.bytes();
  const auto byte = [&](size_t i) { return char(file[i]); };
  if (file.size() < kHeaderBytes || std::memcmp(file.data(), "MATLAB", 6) != 0) {
    fail("{}: is not a MATLAB 5 or 7.3 file; save it in MATLAB with '-v7' or '-v7.3'",
         path.string());
  }
  const bool little = byte(126) == 'I' && byte(127) == 'M';
  const int version = byte(little ? 125 : 124);
  constexpr int kMat5 = 1, kMat73 = 2;
  if (version == kMat73) return;
  if (version != kMat5 || !elements_are_whole(file, little)) fail_for_mat_damage(path);
}

}  // namespace sact::io
