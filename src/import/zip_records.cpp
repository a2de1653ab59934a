#include "import/zip_records.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace sact::importing {
namespace {

constexpr uint32_t kLocalMagic = 0x04034b50, kCentralMagic = 0x02014b50, kEndMagic = 0x06054b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;
constexpr size_t kMaxComment = 0xffff;

/// Numbers out of a file, every access checked.
class Bytes {
 public:
  Bytes(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  uint64_t size() const { return bytes_.size(); }

  std::span<const std::byte> part(uint64_t begin, uint64_t count) const {
    if (begin > size() || count > size() - begin) {
      fail(
          "{}: its ZIP archive has a record at bytes {} to {}, but the file has {}; it was "
          "probably "
          "cut short",
          name_, begin, begin + count, size());
    }
    return bytes_.subspan(size_t(begin), size_t(count));
  }
  template <typename T>
  T number(uint64_t position) const {
    T value;
    std::memcpy(&value, part(position, sizeof value).data(), sizeof value);
    return value;
  }
  std::string text(uint64_t begin, uint64_t count) const {
    const auto bytes = part(begin, count);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
};

/// The end record is the last thing in an archive, but for a comment.
uint64_t find_end(const Bytes& bytes, const std::string& name) {
  const uint64_t size = bytes.size();
  for (uint64_t back = kEndBytes; back <= std::min<uint64_t>(size, kEndBytes + kMaxComment);
       ++back) {
    if (bytes.number<uint32_t>(size - back) == kEndMagic) return size - back;
  }
  fail("{}: its ZIP archive has no end; it was probably cut short", name);
}

}  // namespace

bool is_zip(std::span<const std::byte> bytes) {
  uint32_t magic = 0;
  if (bytes.size() < sizeof magic) return false;
  std::memcpy(&magic, bytes.data(), sizeof magic);
  return magic == kLocalMagic;
}

ZipRecords zip_records(std::span<const std::byte> file, const std::string& name) {
  const Bytes bytes(file, name);
  const uint64_t end = find_end(bytes, name);
  const int count = bytes.number<uint16_t>(end + 10);
  uint64_t position = bytes.number<uint32_t>(end + 16);
  ZipRecords records;
  for (int i = 0; i < count; ++i) {
    if (bytes.number<uint32_t>(position) != kCentralMagic) {
      fail("{}: its ZIP archive is damaged: record {} of {} is not where its table says", name,
           i + 1, count);
    }
    const auto method = bytes.number<uint16_t>(position + 10);
    const auto stored = bytes.number<uint32_t>(position + 20);
    const auto name_bytes = bytes.number<uint16_t>(position + 28);
    const auto extra_bytes = bytes.number<uint16_t>(position + 30);
    const auto comment_bytes = bytes.number<uint16_t>(position + 32);
    const auto local = bytes.number<uint32_t>(position + 42);
    std::string record = bytes.text(position + kCentralBytes, name_bytes);
    if (method != 0) {
      fail("{}: its record '{}' is compressed; torch.save() does not do that", name,
           printable(record));
    }
    if (bytes.number<uint32_t>(local) != kLocalMagic) {
      fail("{}: its ZIP archive is damaged: '{}' is not where its table says", name,
           printable(record));
    }
    const uint64_t data = uint64_t(local) + kLocalBytes + bytes.number<uint16_t>(local + 26) +
                          bytes.number<uint16_t>(local + 28);
    const auto [place, is_new] = records.emplace(std::move(record), bytes.part(data, stored));
    if (!is_new) fail("{}: its ZIP archive has '{}' twice", name, printable(place->first));
    position += kCentralBytes + name_bytes + extra_bytes + comment_bytes;
  }
  return records;
}

}  // namespace sact::importing
