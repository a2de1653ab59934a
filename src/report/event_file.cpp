// The record format and the few protobuf messages that TensorBoard's scalars and images need.
//
// A file is a sequence of records: the length of the data (8 bytes), a masked CRC of these 8 bytes,
// the data, a masked CRC of the data; all numbers little-endian. The data are Event messages:
//
//   Event   { 1: double wall_time; 2: int64 step; 3: string file_version; 5: Summary summary;
//             7: SessionLog session_log }
//   Summary { 1: repeated Value { 1: string tag; 2: float simple_value; 4: Image image } }
//   Image   { 1: int32 height; 2: int32 width; 3: int32 colorspace; 4: bytes encoded_image_string }
//   SessionLog { 1: enum status }
#include "report/event_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "base/unicode.h"
#include "io/protobuf.h"

namespace sact::report {
namespace {

constexpr std::string_view kNamePrefix = "events.out.tfevents.";
constexpr int64_t kLargestSeconds = 9'999'999'999;  // ten digits: one more would sort before them
constexpr size_t kFlushBytes = size_t(1) << 18;
constexpr int kSessionStart = 1;
constexpr int kColorspaceRgb = 3;

constexpr std::array<uint32_t, 256> make_crc_table() {
  constexpr uint32_t kReversedCastagnoli = 0x82f63b78;
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) {
      table[i] = table[i] >> 1 ^ (table[i] & 1 ? kReversedCastagnoli : 0);
    }
  }
  return table;
}

/// Rotated and shifted, since a CRC of data that hold their own CRC says little.
uint32_t masked_crc(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

void append_record(std::string& out, std::string_view data) {
  std::string length;
  io::append_little_endian(length, data.size(), 8);
  out += length;
  io::append_little_endian(out, masked_crc(length), 4);
  out += data;
  io::append_little_endian(out, masked_crc(data), 4);
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  std::string clean;
  for (const char c : std::string_view(name)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    clean += plain || c == '-' ? c : '_';
  }
  return clean.empty() ? "localhost" : clean;
}

/// The seconds in the name of an event file; 0 for other files.
int64_t seconds_in_name(const std::string& name) {
  if (!name.starts_with(kNamePrefix)) return 0;
  int64_t seconds = 0;
  const char *first = name.data() + kNamePrefix.size(), *end = name.data() + name.size();
  const auto result = std::from_chars(first, end, seconds);
  return result.ptr == first + 10 && result.ptr != end && *result.ptr == '.' ? seconds : 0;
}

/// A name that sorts after those of the event files in the directory.
std::filesystem::path next_path(const std::filesystem::path& directory, double now) {
  int64_t seconds = std::clamp<int64_t>(std::llround(std::floor(now)), 0, kLargestSeconds);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    seconds = std::max(seconds, seconds_in_name(entry.path().filename().string()) + 1);
  }
  if (error) fail("{}: cannot be read: {}", directory.string(), error.message());
  if (seconds > kLargestSeconds) {
    fail("{}: has an event file whose name no later one can follow; remove it", directory.string());
  }
  return directory / fmt::format("{}{:010}.{}", kNamePrefix, seconds, host_name());
}

AppendFile create_file(const std::filesystem::path& directory, double now) {
  make_directories(directory);
  return AppendFile(next_path(directory, now), AppendFile::Mode::kCreate);
}

/// Protobuf readers refuse strings that are not UTF-8.
std::string clean_tag(std::string_view tag) {
  return single_line(tag);
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = make_crc_table();
  uint32_t crc = ~uint32_t(0);
  for (const char c : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

double EventWriter::system_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

EventWriter::EventWriter(const std::filesystem::path& directory, int64_t first_step, Clock clock)
    : clock_(std::move(clock)), file_(create_file(directory, clock_())) {
  io::ProtobufMessage version;
  version.float64(1, clock_()).bytes(3, "brain.Event:2");
  append_record(pending_, version.encoded());
  // In a first file too: TensorBoard takes only a second start for a restart.
  io::ProtobufMessage session, start;
  session.integer(1, kSessionStart);
  start.bytes(7, session.encoded());
  add_event(first_step, start.encoded());
  flush();
}

EventWriter::~EventWriter() {
  try {
    flush();
  } catch (const Error&) {
    // A destructor has nobody to tell.
  }
}

void EventWriter::add_scalar(std::string_view tag, double value, int64_t step) {
  io::ProtobufMessage point;
  point.bytes(1, clean_tag(tag)).float32(2, float(value));
  add_summary(step, point.encoded());
}

void EventWriter::add_image(std::string_view tag, const io::RgbImage& image, int64_t step) {
  const std::vector<std::byte> png = io::encode_png(image);
  io::ProtobufMessage picture;
  picture.integer(1, image.height).integer(2, image.width).integer(3, kColorspaceRgb);
  picture.bytes(4, {reinterpret_cast<const char*>(png.data()), png.size()});
  io::ProtobufMessage value;
  value.bytes(1, clean_tag(tag)).bytes(4, picture.encoded());
  add_summary(step, value.encoded());
}

void EventWriter::add_summary(int64_t step, std::string_view value) {
  io::ProtobufMessage summary, event;
  summary.bytes(1, value);
  event.bytes(5, summary.encoded());
  add_event(step, event.encoded());
}

void EventWriter::add_event(int64_t step, std::string_view content) {
  io::ProtobufMessage event;
  event.float64(1, clock_()).integer(2, step);
  append_record(pending_, event.encoded() + std::string(content));
  if (pending_.size() >= kFlushBytes) flush();
}

void EventWriter::flush() {
  if (pending_.empty()) return;
  file_.append(pending_);
  pending_.clear();
}

}  // namespace sact::report
