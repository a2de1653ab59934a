// The numbers that images and classes have in COCO's files.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "detect/coco.h"
#include "model/spec.h"

namespace sact::detect {

class CocoIds {
 public:
  /// Images as they come and classes in the model's order, both from 1.
  explicit CocoIds(const ModelSpec& spec);

  /// As the annotations have them. Classes are found by the name of their category; a model without
  /// labels has as many classes as there are categories, by their ids. sact::Error when no class
  /// can be found.
  CocoIds(const ModelSpec& spec, const CocoInstances& instances);

  /// Of the `number`th image. sact::Error when the annotations do not have its file name, or have
  /// it more than once in ways that the path does not tell apart.
  int64_t image(const std::filesystem::path& path, int64_t number) const;

  /// Nothing for a class that the annotations do not have.
  std::optional<int64_t> category(int label) const { return categories_[size_t(label)]; }
  /// Labels of such classes.
  const std::vector<std::string>& unknown_labels() const { return unknown_labels_; }

 private:
  struct Named {
    std::filesystem::path file;
    int64_t id = 0;
  };
  std::string annotations_;                             // their file, or nothing
  std::multimap<std::filesystem::path, Named> images_;  // by the last part of their file name
  std::vector<std::optional<int64_t>> categories_;
  std::vector<std::string> unknown_labels_;
};

}  // namespace sact::detect
