// What the tests of this layer share: image folders on disk, a data set in memory that fails on
// demand, and short names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "data/batch_loader.h"
#include "data/dataset.h"
#include "io/image.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact::test {

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;
using Names = std::vector<std::string>;
using Order = std::vector<int64_t>;

inline bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// An image of one colour, so that a test can tell which one it was given.
inline io::RgbImage plain_image(int width, int height, int value) {
  io::RgbImage image(width, height);
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = uint8_t(value + int(i % 3));
  return image;
}

inline void write_plain(const std::filesystem::path& path, int width, int height, int value) {
  std::filesystem::create_directories(path.parent_path());
  io::write_image(path, plain_image(width, height, value));
}

/// Small images made from their index. Indices in `corrupt` throw sact::Error, those in `broken`
/// something that is not about the sample.
class FakeDataset : public data::Dataset {
 public:
  explicit FakeDataset(int64_t size, std::set<int64_t> corrupt = {}, std::set<int64_t> broken = {})
      : size_(size), corrupt_(std::move(corrupt)), broken_(std::move(broken)) {}

  int64_t size() const override { return size_; }
  const std::vector<std::string>& class_names() const override { return names_; }
  std::string sample_name(int64_t index) const override { return "fake " + std::to_string(index); }

  int label(int64_t index) const override { return int(index % 3); }

  data::Sample load(int64_t index, int) const override {
    if (corrupt_.contains(index)) fail("fake {}: is damaged", index);
    if (broken_.contains(index)) throw std::runtime_error("the machine is on fire");
    io::RgbImage image(5 + int(index % 3), 6);
    for (size_t i = 0; i < image.rgb.size(); ++i) {
      image.rgb[i] = uint8_t(uint64_t(index) * 31 + i * 7);
    }
    data::Sample sample{std::move(image), label(index)};
    if (index % 2 == 0) {
      sample.boxes = {{0, 0, 0.5f, 0.25f}, {0.25f, 0.5f, 1, float(index % 5 + 5) / 10}};
    }
    return sample;
  }

 private:
  int64_t size_;
  std::set<int64_t> corrupt_, broken_;
  std::vector<std::string> names_ = {"zero", "one", "two"};
};

/// Batches of FakeDataset's images at 6 x 6 pixels.
inline data::LoaderOptions small_batches(int batch_size, int threads = 2) {
  data::LoaderOptions options;
  options.batch_size = batch_size;
  options.size = {6, 6};
  options.threads = threads;
  return options;
}

}  // namespace sact::test
