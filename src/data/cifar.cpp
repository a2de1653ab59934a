// CIFAR-10's binary files, read and checked once.
#include "data/cifar.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "data/fields.h"

namespace sact::data {
namespace {

namespace fs = std::filesystem;

constexpr int kSide = 32, kClasses = 10;
constexpr size_t kPlane = size_t(kSide) * kSide;
constexpr size_t kRecord = 1 + 3 * kPlane;

class Cifar10 : public Dataset {
 public:
  Cifar10(std::vector<WholeFile> files, std::vector<std::string> class_names)
      : files_(std::move(files)), class_names_(std::move(class_names)) {
    for (const WholeFile& file : files_) {
      const auto bytes = file.bytes();
      for (size_t start = 0; start < bytes.size(); start += kRecord) {
        records_.push_back(bytes.data() + start);
      }
    }
  }

  int64_t size() const override { return int64_t(records_.size()); }
  const std::vector<std::string>& class_names() const override { return class_names_; }

  std::string sample_name(int64_t index) const override {
    for (const WholeFile& file : files_) {
      const int64_t count = int64_t(file.bytes().size() / kRecord);
      if (index < count) return fmt::format("{} record {}", file.path().string(), index);
      index -= count;
    }
    return fmt::format("CIFAR-10 record {}", index);
  }

  int label(int64_t index) const override {
    return std::to_integer<int>(records_.at(size_t(index))[0]);
  }

  Sample load(int64_t index, int) const override {
    const std::byte* record = records_.at(size_t(index));
    Sample sample{io::RgbImage(kSide, kSide), label(index)};
    for (size_t c = 0; c < 3; ++c) {
      const std::byte* plane = record + 1 + c * kPlane;
      for (size_t i = 0; i < kPlane; ++i) sample.image.rgb[i * 3 + c] = uint8_t(plane[i]);
    }
    return sample;
  }

 private:
  std::vector<WholeFile> files_;
  std::vector<std::string> class_names_;
  std::vector<const std::byte*> records_;
};

void check_records(const WholeFile& file) {
  const auto bytes = file.bytes();
  if (bytes.empty() || bytes.size() % kRecord != 0) {
    fail("{}: has {} bytes, which is no multiple of the {} bytes of a record; get the file again",
         file.path().string(), bytes.size(), kRecord);
  }
  for (size_t start = 0; start < bytes.size(); start += kRecord) {
    const int label = std::to_integer<int>(bytes[start]);
    if (label < kClasses) continue;
    fail("{}: record {} has the label {}, but only 0 to {} are classes of CIFAR-10",
         file.path().string(), start / kRecord, label, kClasses - 1);
  }
}

std::vector<std::string> cifar_class_names(const fs::path& directory) {
  const fs::path path = directory / "batches.meta.txt";
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    std::vector<std::string> names;
    for (int label = 0; label < kClasses; ++label) names.push_back(std::to_string(label));
    return names;
  }
  std::vector<std::string> names = read_filled_lines(path, 1 << 20);
  if (names.size() != size_t(kClasses)) {
    fail("{}: must name {} classes, one a line, but names {}", path.string(), kClasses,
         names.size());
  }
  return names;
}

}  // namespace

fs::path find_cifar10(const fs::path& directory) {
  std::error_code ignored;
  for (const fs::path& candidate : {directory, directory / "cifar-10-batches-bin"}) {
    for (const char* file : {"data_batch_1.bin", "test_batch.bin"}) {
      if (fs::exists(candidate / file, ignored)) return candidate;
    }
  }
  return {};
}

std::unique_ptr<Dataset> open_cifar10(const fs::path& directory, const std::string& split) {
  std::vector<fs::path> paths;
  if (split == "train") {
    for (int i = 1; i <= 5; ++i) paths.push_back(directory / fmt::format("data_batch_{}.bin", i));
  } else if (split == "val") {
    paths.push_back(directory / "test_batch.bin");
  } else {
    fail("{}: CIFAR-10 has the splits train and val, not '{}'", directory.string(),
         printable(split));
  }
  std::vector<WholeFile> files;
  for (const fs::path& path : paths) check_records(files.emplace_back(path));
  return std::make_unique<Cifar10>(std::move(files), cifar_class_names(directory));
}

}  // namespace sact::data
