#include "data/held_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/stable_hash.h"

namespace sact::data {
namespace {

class Subset : public Dataset {
 public:
  Subset(std::unique_ptr<Dataset> whole, std::vector<int64_t> samples)
      : whole_(std::move(whole)), samples_(std::move(samples)) {}

  int64_t size() const override { return int64_t(samples_.size()); }
  const std::vector<std::string>& class_names() const override { return whole_->class_names(); }
  std::string sample_name(int64_t index) const override {
    return whole_->sample_name(sample(index));
  }
  int label(int64_t index) const override { return whole_->label(sample(index)); }
  Sample load(int64_t index, int min_side) const override {
    return whole_->load(sample(index), min_side);
  }

 private:
  int64_t sample(int64_t index) const { return samples_.at(size_t(index)); }

  std::unique_ptr<Dataset> whole_;
  std::vector<int64_t> samples_;
};

}  // namespace

std::optional<HeldOutPart> held_out_part(const std::string& split) {
  for (const std::string name : {"train:", "val:"}) {
    if (!split.starts_with(name)) continue;
    HeldOutPart part{name == "val:", 0};
    const char* end = split.data() + split.size();
    const auto read = std::from_chars(split.data() + name.size(), end, part.share);
    if (read.ec != std::errc() || read.ptr != end || !(part.share > 0 && part.share < 1)) {
      fail("split '{}': after the colon stands the share that is held out, above 0 and below 1",
           printable(split));
    }
    return part;
  }
  return std::nullopt;
}

std::string split_name(const std::string& split, double share) {
  return share > 0 ? fmt::format("{}:{}", split, share) : split;
}

std::vector<bool> held_out_samples(const std::vector<std::string>& names,
                                   const std::vector<int>& labels, double share) {
  SACT_ASSERT(names.size() == labels.size());
  std::map<int, std::vector<std::pair<uint64_t, size_t>>> classes;
  for (size_t i = 0; i < names.size(); ++i) {
    classes[labels[i]].emplace_back(stable_hash(names[i]), i);
  }
  std::vector<bool> held_out(names.size());
  for (auto& [label, samples] : classes) {
    std::sort(samples.begin(), samples.end());
    const int64_t count = int64_t(samples.size());
    const int64_t wanted = std::max<int64_t>(1, std::llround(share * double(count)));
    for (int64_t i = 0; i < std::min(wanted, count - 1); ++i) {
      held_out[samples[size_t(i)].second] = true;
    }
  }
  return held_out;
}

std::unique_ptr<Dataset> subset(std::unique_ptr<Dataset> whole, std::vector<int64_t> samples) {
  return std::make_unique<Subset>(std::move(whole), std::move(samples));
}

}  // namespace sact::data
