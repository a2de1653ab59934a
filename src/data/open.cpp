// Telling the kinds of data sets apart.
#include "data/open.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "data/cifar.h"
#include "data/held_out.h"
#include "data/synthetic_dataset.h"

namespace sact::data {
namespace {

namespace fs = std::filesystem;

bool is_synthetic(const std::string& description) {
  return description == "synthetic" || description.starts_with("synthetic:");
}

void refuse_folder_options(const std::string& description, const OpenOptions& options) {
  const bool has_boxes = !options.boxes.empty() && options.boxes != "none";
  if (options.class_names.empty() && !has_boxes) return;
  fail("{}: has its own {}; a file of them can only be given for a folder of images",
       printable(description), has_boxes ? "boxes or none" : "class names");
}

void refuse_other_layouts(const fs::path& directory) {
  std::error_code ignored;
  for (const fs::path& candidate : {directory, directory / "cifar-10-batches-py"}) {
    if (fs::exists(candidate / "batches.meta", ignored)) {
      fail("{}: is the Python version of CIFAR-10; the binary version is read here",
           candidate.string());
    }
  }
}

/// Part of a folder that has training images only.
std::unique_ptr<Dataset> open_held_out(const std::string& description, const HeldOutPart& part,
                                       const OpenOptions& options) {
  const auto splits = dataset_splits(description);
  if (std::find(splits.begin(), splits.end(), "val") != splits.end()) {
    const bool folder = !is_synthetic(description) && find_cifar10(description).empty();
    fail("{}: has a split 'val' of its own; leave val_split, or the share after the colon, out{}",
         printable(description),
         folder
             ? fmt::format(", or name {} as the data", (fs::path(description) / "train").string())
             : "");
  }
  const fs::path folder = splits.empty() ? fs::path(description) : fs::path(description) / "train";
  auto whole = open_dataset(description, splits.empty() ? "" : "train", options);
  std::vector<std::string> names;
  std::vector<int> labels;
  for (int64_t i = 0; i < whole->size(); ++i) {
    names.push_back(fs::path(whole->sample_name(i)).lexically_relative(folder).generic_string());
    labels.push_back(whole->label(i));
  }
  const std::vector<bool> held_out = held_out_samples(names, labels, part.share);
  std::vector<int64_t> samples;
  for (int64_t i = 0; i < whole->size(); ++i) {
    if (held_out[size_t(i)] == part.held_out) samples.push_back(i);
  }
  if (samples.empty()) {
    fail("{}: every class has one image only; nothing can be held out for validation",
         printable(description));
  }
  return subset(std::move(whole), std::move(samples));
}

}  // namespace

std::unique_ptr<Dataset> open_dataset(const std::string& description, const std::string& split,
                                      const OpenOptions& options) {
  if (description.empty()) fail("no data set is named; give a folder of images, or 'synthetic'");
  if (const auto part = held_out_part(split)) return open_held_out(description, *part, options);
  if (is_synthetic(description)) {
    refuse_folder_options(description, options);
    return open_synthetic(description, split);
  }
  if (const fs::path cifar = find_cifar10(description); !cifar.empty()) {
    refuse_folder_options(description, options);
    return open_cifar10(cifar, split);
  }
  refuse_other_layouts(description);
  return open_image_folder(description, split, options);
}

void check_same_classes(const Dataset& train, const Dataset& val, const std::string& description) {
  const auto &trained = train.class_names(), &validated = val.class_names();
  if (trained == validated) return;
  auto lacking = [](const std::vector<std::string>& names, const std::vector<std::string>& others) {
    return std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return std::find(others.begin(), others.end(), name) == others.end();
    });
  };
  std::string difference = "they come in another order";
  if (const auto only = lacking(trained, validated); only != trained.end()) {
    difference = fmt::format("'{}' is in the first only", printable(*only));
  } else if (const auto other = lacking(validated, trained); other != validated.end()) {
    difference = fmt::format("'{}' is in the second only", printable(*other));
  }
  fail(
      "{}: the training set ({} classes) and the validation set ({}) must have the same classes: "
      "{}",
      printable(description), trained.size(), validated.size(), difference);
}

std::vector<std::string> dataset_splits(const std::string& description) {
  if (is_synthetic(description) || !find_cifar10(description).empty()) return {"train", "val"};
  return image_folder_splits(description);
}

}  // namespace sact::data
