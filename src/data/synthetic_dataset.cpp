// The built-in pictures as a data set, and reading their description.
#include "data/synthetic_dataset.h"

#include <string_view>
#include <utility>

#include "base/error.h"
#include "data/fields.h"
#include "data/plan.h"

namespace sact::data {
namespace {

class SyntheticDataset : public Dataset {
 public:
  SyntheticDataset(const SyntheticOptions& options, int64_t first, int64_t count, std::string name)
      : options_(options), first_(first), count_(count), name_(std::move(name)) {
    for (std::string_view class_name : synthetic_class_names()) {
      class_names_.emplace_back(class_name);
    }
  }

  int64_t size() const override { return count_; }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  std::string sample_name(int64_t index) const override {
    return fmt::format("{} picture {}", name_, index);
  }

  int label(int64_t index) const override { return int((first_ + index) % kSyntheticClasses); }

  Sample load(int64_t index, int) const override {
    SACT_ASSERT(index >= 0 && index < count_);
    SyntheticSample sample = synthetic_sample(options_, first_ + index);
    const float width = float(options_.width), height = float(options_.height);
    const Box& box = sample.box;
    return {std::move(sample.image),
            sample.label,
            {{box.x0 / width, box.y0 / height, box.x1 / width, box.y1 / height}}};
  }

 private:
  SyntheticOptions options_;
  int64_t first_, count_;
  std::string name_;
  std::vector<std::string> class_names_;
};

int64_t whole_number(std::string_view key, std::string_view text, int64_t low, int64_t high) {
  const auto value = parse_integer(text);
  if (!value || *value < low || *value > high) {
    fail("synthetic data: {} must be a whole number from {} to {}, not '{}'", key, low, high,
         printable(text, 40));
  }
  return *value;
}

void set_size(std::string_view text, SyntheticOptions& options) {
  constexpr int kMaxSide = 8192;
  const size_t cross = text.find('x');
  const std::string_view height = text.substr(0, cross);
  const std::string_view width = cross == std::string_view::npos ? text : text.substr(cross + 1);
  options.height = int(whole_number("size", height, 1, kMaxSide));
  options.width = int(whole_number("size", width, 1, kMaxSide));
}

void set_value(std::string_view key, std::string_view value, SyntheticDescription& description) {
  if (key == "size") {
    set_size(value, description.pictures);
  } else if (key == "count") {
    description.train_count = whole_number(key, value, 1, kMaxSyntheticCount);
  } else if (key == "val") {
    description.val_count = whole_number(key, value, 1, kMaxSyntheticCount);
  } else if (key == "seed") {
    description.pictures.seed = uint64_t(whole_number(key, value, 0, INT64_MAX));
  } else {
    fail("synthetic data: '{}' is not known; give {}, as in synthetic:size=64,count=5000",
         printable(key, 40), one_of({"size", "count", "val", "seed"}));
  }
}

}  // namespace

SyntheticDescription parse_synthetic(const std::string& description) {
  SyntheticDescription result;
  const size_t colon = description.find(':');
  std::string_view rest(description);
  rest.remove_prefix(colon == std::string::npos ? description.size() : colon + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) {
      fail("synthetic data: '{}' has no value; write key=value, as in synthetic:size=64,count=5000",
           printable(pair, 40));
    }
    set_value(trimmed(pair.substr(0, equals)), trimmed(pair.substr(equals + 1)), result);
  }
  plan_shapes(result.pictures, 0, 1, 1);  // refuses what could not be painted later
  return result;
}

std::unique_ptr<Dataset> open_synthetic(const std::string& description, const std::string& split) {
  const SyntheticDescription parsed = parse_synthetic(description);
  if (split != "train" && split != "val") {
    fail("synthetic data: there are the splits train and val, not '{}'", printable(split));
  }
  const bool is_train = split == "train";
  return std::make_unique<SyntheticDataset>(parsed.pictures, is_train ? 0 : kFirstSyntheticVal,
                                            is_train ? parsed.train_count : parsed.val_count,
                                            "synthetic " + split);
}

}  // namespace sact::data
