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
  Subset(std::unique_ptr<Dataset> whole, std::vector<int64_t> items)
      : whole_(std::move(whole)), items_(std::move(items)) {}

  int64_t size() const override { return int64_t(items_.size()); }
  const std::vector<std::string>& class_names() const override { return whole_->class_names(); }
  std::string item_name(int64_t index) const override { return whole_->item_name(item(index)); }
  int label(int64_t index) const override { return whole_->label(item(index)); }
  Item load(int64_t index, int min_side) const override {
    return whole_->load(item(index), min_side);
  }

 private:
  int64_t item(int64_t index) const { return items_.at(size_t(index)); }

  std::unique_ptr<Dataset> whole_;
  std::vector<int64_t> items_;
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

std::vector<bool> held_out_items(const std::vector<std::string>& names,
                                 const std::vector<int>& labels, double share) {
  SACT_ASSERT(names.size() == labels.size());
  std::map<int, std::vector<std::pair<uint64_t, size_t>>> classes;
  for (size_t i = 0; i < names.size(); ++i) {
    classes[labels[i]].emplace_back(stable_hash(names[i]), i);
  }
  std::vector<bool> held_out(names.size());
  for (auto& [label, items] : classes) {
    std::sort(items.begin(), items.end());
    const int64_t count = int64_t(items.size());
    const int64_t wanted = std::max<int64_t>(1, std::llround(share * double(count)));
    for (int64_t i = 0; i < std::min(wanted, count - 1); ++i) {
      held_out[items[size_t(i)].second] = true;
    }
  }
  return held_out;
}

std::unique_ptr<Dataset> subset(std::unique_ptr<Dataset> whole, std::vector<int64_t> items) {
  return std::make_unique<Subset>(std::move(whole), std::move(items));
}

}  // namespace sact::data
