// Photographs that somebody named, as a data set without labels.
#pragma once

#include <vector>

#include "app/inputs.h"
#include "data/dataset.h"

namespace sact::app {

/// All are of one class.
class Photographs : public data::Dataset {
 public:
  /// They must outlive this.
  explicit Photographs(const std::vector<Input>& inputs) : inputs_(inputs) {}

  int64_t size() const override { return int64_t(inputs_.size()); }
  const std::vector<std::string>& class_names() const override { return names_; }
  std::string sample_name(int64_t index) const override { return at(index).path.string(); }
  int label(int64_t) const override { return 0; }
  data::Sample load(int64_t index, int) const override;

 private:
  const Input& at(int64_t index) const { return inputs_[size_t(index)]; }

  const std::vector<Input>& inputs_;
  std::vector<std::string> names_ = {"photograph"};
};

/// `count` of the samples at most, at even distances.
std::vector<int64_t> evenly(int64_t samples, int64_t count);

}  // namespace sact::app
