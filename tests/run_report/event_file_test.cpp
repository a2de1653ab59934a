// Tests of TensorBoard event files, with a reader that shares no code with the writer.
#include "report/event_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/file.h"
#include "io/image.h"
#include "support/protobuf.h"
#include "support/temporary.h"

namespace sact::report {
namespace {

using test::Fields;
using test::number;
using test::parse_message;
using test::take;

/// CRC32C bit by bit, from its definition.
uint32_t slow_crc32c(std::string_view bytes) {
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= uint8_t(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
  }
  return crc ^ 0xffffffff;
}

void expect_masked_crc(std::string_view stored, std::string_view data) {
  const uint32_t unshifted = number<uint32_t>(stored) - 0xa282ead8u;
  EXPECT_EQ(unshifted << 15 | unshifted >> 17, slow_crc32c(data));
}

/// The events of a file, all checksums checked.
std::vector<Fields> events_of(const std::filesystem::path& path) {
  const std::vector<std::byte> file = read_file(path, 1 << 24);
  std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  std::vector<Fields> events;
  while (!bytes.empty() && !testing::Test::HasFailure()) {
    const std::string_view length = take(bytes, 8);
    expect_masked_crc(take(bytes, 4), length);
    const std::string_view data = take(bytes, number<uint64_t>(length));
    expect_masked_crc(take(bytes, 4), data);
    events.push_back(parse_message(data));
  }
  return events;
}

Fields value_of(const Fields& event) {
  return parse_message(parse_message(event.at(5).at(0)).at(1).at(0));
}

double noon() {
  return 1500000000.25;
}

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);  // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(EventFile, StartsWithItsVersionAndTheStartOfASession) {
  test::TemporaryDirectory directory;
  EventWriter writer(directory.path(), 500, noon);
  EXPECT_TRUE(writer.path().filename().string().starts_with("events.out.tfevents.1500000000."));
  const std::vector<Fields> events = events_of(writer.path());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].at(3).at(0), "brain.Event:2");
  EXPECT_EQ(number<double>(events[0].at(1).at(0)), 1500000000.25);
  EXPECT_EQ(number<int64_t>(events[1].at(2).at(0)), 500);
  const Fields session = parse_message(events[1].at(7).at(0));
  EXPECT_EQ(number<int64_t>(session.at(1).at(0)), 1);
}

TEST(EventFile, ScalarsKeepTagValueStepAndTime) {
  test::TemporaryDirectory directory;
  double now = 100;
  EventWriter writer(directory.path(), 0, [&now] { return now; });
  now = 101.5;
  writer.add_scalar("train/loss", 0.1, 300'000'000'000);
  writer.add_scalar("τ", std::nan(""), 1);
  writer.flush();
  const std::vector<Fields> events = events_of(writer.path());
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(number<double>(events[2].at(1).at(0)), 101.5);
  EXPECT_EQ(number<int64_t>(events[2].at(2).at(0)), 300'000'000'000);
  EXPECT_EQ(value_of(events[2]).at(1).at(0), "train/loss");
  EXPECT_EQ(number<float>(value_of(events[2]).at(2).at(0)), 0.1f);
  EXPECT_EQ(value_of(events[3]).at(1).at(0), "τ");
  EXPECT_TRUE(std::isnan(number<float>(value_of(events[3]).at(2).at(0))));
}

TEST(EventFile, ImagesArePngWithTheirSize) {
  test::TemporaryDirectory directory;
  io::RgbImage image(3, 2);
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = uint8_t(i * 13);
  EventWriter writer(directory.path(), 0, noon);
  writer.add_image("maps/0", image, 7);
  writer.flush();
  const Fields value = value_of(events_of(writer.path()).at(2));
  EXPECT_EQ(value.at(1).at(0), "maps/0");
  const Fields picture = parse_message(value.at(4).at(0));
  EXPECT_EQ(number<int64_t>(picture.at(1).at(0)), 2);
  EXPECT_EQ(number<int64_t>(picture.at(2).at(0)), 3);
  EXPECT_EQ(number<int64_t>(picture.at(3).at(0)), 3);
  const std::string& png = picture.at(4).at(0);
  EXPECT_EQ(io::decode_image(std::as_bytes(std::span(png)), "png").rgb, image.rgb);
}

TEST(EventFile, EveryStartMakesALaterNameEvenWhenTheClockGoesBack) {
  test::TemporaryDirectory directory;
  std::vector<std::string> names;
  for (const double now : {1500000000.0, 1500000000.5, 1400000000.0, 1500000100.0}) {
    EventWriter writer(directory.path(), 0, [now] { return now; });
    names.push_back(writer.path().filename().string());
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 4u);
  EXPECT_TRUE(names[3].starts_with("events.out.tfevents.1500000100."));
}

TEST(EventFile, OtherFilesOfTheFolderDoNotMatter) {
  test::TemporaryDirectory directory;
  for (const char* name : {"events.out.tfevents.", "events.out.tfevents.99999999999999999999",
                           "events.out.tfevents.not-a-time.host", "log.csv"}) {
    write_file_atomically(directory / name, "");
  }
  const EventWriter writer(directory.path(), 0, noon);
  EXPECT_TRUE(writer.path().filename().string().starts_with("events.out.tfevents.1500000000."));
}

TEST(EventFile, WhatWasNotFlushedIsWrittenAtTheEnd) {
  test::TemporaryDirectory directory;
  std::filesystem::path path;
  {
    EventWriter writer(directory / "new/folder", 0, noon);
    path = writer.path();
    for (int step = 0; step < 20'000; ++step) writer.add_scalar("x", step, step);
    EXPECT_GT(std::filesystem::file_size(path), 200'000u) << "kept everything in memory";
  }
  const std::vector<Fields> events = events_of(path);
  ASSERT_EQ(events.size(), 20'002u);
  EXPECT_EQ(number<int64_t>(events.back().at(2).at(0)), 19'999);
}

}  // namespace
}  // namespace sact::report
