#include "data/class_matching.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "data/fields.h"
#include "data/imagenet_classes.h"

namespace sact::data {
namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<int>;
using NumbersByName = std::map<std::string, Numbers, std::less<>>;

/// In lower case, with single spaces for hyphens, underscores and runs of spaces.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool space = c == ' ' || c == '_' || c == '-' || c == '\t';
    if (!space) {
      text += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  if (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// The class whose WordNet id the text is or begins with, as in "n02085620-Chihuahua".
std::optional<int> class_of_id(std::string_view text) {
  constexpr size_t kIdLength = 9;
  if (text.size() < kIdLength) return std::nullopt;
  const bool ends = text.size() == kIdLength || text[kIdLength] < '0' || text[kIdLength] > '9';
  const std::string_view id = text.substr(0, kIdLength);
  const auto& classes = imagenet_classes();
  const auto found =
      std::lower_bound(classes.begin(), classes.end(), id,
                       [](const ImageNetClass& a, std::string_view b) { return a.wordnet_id < b; });
  if (!ends || found == classes.end() || found->wordnet_id != id) return std::nullopt;
  return int(found - classes.begin());
}

/// Which classes of ImageNet a text may mean.
class ImageNetNames {
 public:
  ImageNetNames() {
    for (int number = 0; number < kImageNetClasses; ++number) {
      std::string_view rest = imagenet_classes()[size_t(number)].names;
      add(usual_, rest, number);
      for (bool first = true; !rest.empty(); first = false) {
        const size_t end = std::min(rest.find(", "), rest.size());
        add(first ? usual_ : other_, rest.substr(0, end), number);
        rest.remove_prefix(std::min(end + 2, rest.size()));
      }
    }
  }

  Numbers meanings(std::string_view text) const {
    if (const auto number = class_of_id(text)) return {*number};
    const std::string name = plain(text);
    for (const NumbersByName* names : {&usual_, &other_}) {
      if (const auto found = names->find(name); found != names->end()) return found->second;
    }
    const size_t comma = text.find(',');
    return comma == text.npos ? Numbers() : meanings(text.substr(0, comma));
  }

 private:
  static void add(NumbersByName& names, std::string_view name, int number) {
    Numbers& numbers = names[plain(name)];
    if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
  }

  NumbersByName usual_, other_;
};

/// Two classes of ImageNet are called "crane", and two "maillot": in a list of all 1000, or of 1001
/// with the background, the place tells which one is meant.
Numbers meanings_at(const ImageNetNames& imagenet, const Names& names, size_t place) {
  Numbers meanings = imagenet.meanings(names[place]);
  for (const int background : {0, 1}) {
    const int number = int(place) - background;
    if (names.size() != size_t(kImageNetClasses + background)) continue;
    if (std::count(meanings.begin(), meanings.end(), number)) return {number};
  }
  return meanings;
}

constexpr size_t kNamed = 5;  // in a message, of each side

/// The labels of a network by all that may name them.
class Labels {
 public:
  explicit Labels(const Names& labels) : labels_(labels) {
    for (size_t i = 0; i < labels.size(); ++i) {
      exact_[labels[i]].push_back(int(i));
      plain_[plain(labels[i])].push_back(int(i));
      for (const int meaning : meanings_at(imagenet_, labels, i)) {
        meant_[meaning].push_back(int(i));
      }
    }
  }

  /// All that names[place] may be.
  Numbers candidates(const Names& names, size_t place) const {
    const std::string& name = names[place];
    if (const auto found = exact_.find(name); found != exact_.end()) return found->second;
    if (const auto found = plain_.find(plain(name)); found != plain_.end()) return found->second;
    Numbers candidates;
    for (const int meaning : meanings_at(imagenet_, names, place)) {
      const auto found = meant_.find(meaning);
      if (found == meant_.end()) continue;
      candidates.insert(candidates.end(), found->second.begin(), found->second.end());
    }
    return candidates;
  }

  Names called(const Numbers& numbers) const {
    Names names;
    for (const int number : numbers) names.push_back(labels_[size_t(number)]);
    return names;
  }

 private:
  const Names& labels_;
  ImageNetNames imagenet_;
  NumbersByName exact_, plain_;
  std::map<int, Numbers> meant_;
};

ClassMatch match_by_name(const Names& names, const Names& labels) {
  ClassMatch match;
  if (names == labels) {
    for (size_t i = 0; i < names.size(); ++i) match.classes.push_back(int(i));
    return match;
  }
  const Labels known(labels);
  Names strangers;
  std::map<int, size_t> taken;
  for (size_t i = 0; i < names.size(); ++i) {
    const Numbers found = known.candidates(names, i);
    if (found.empty()) {
      strangers.push_back(names[i]);
      continue;
    }
    if (found.size() > 1) {
      match.problem =
          fmt::format("its class '{}' may be any of the network's {} ({})", printable(names[i]),
                      found.size(), listed(known.called(found), kNamed));
      return match;
    }
    const auto [other, first] = taken.emplace(found.front(), i);
    if (!first) {
      match.problem = fmt::format("its classes '{}' and '{}' are both the network's class '{}'",
                                  printable(names[other->second]), printable(names[i]),
                                  printable(labels[size_t(found.front())]));
      return match;
    }
    match.classes.push_back(found.front());
  }
  if (!strangers.empty()) {
    match.problem =
        fmt::format("{} of its {} ({}) {} none of the network's {} ({})", strangers.size(),
                    pluralize(int64_t(names.size()), "class", "classes"), listed(strangers, kNamed),
                    strangers.size() == 1 ? "is" : "are", labels.size(), listed(labels, kNamed));
  }
  return match;
}

ClassMatch match_by_number(const Names& names, int network_classes) {
  ClassMatch match;
  const int background = network_classes - kImageNetClasses;
  const bool imagenet = (background == 0 || background == 1) &&
                        std::all_of(names.begin(), names.end(), [](const std::string& name) {
                          return class_of_id(name).has_value();
                        });
  if (!imagenet && int(names.size()) != network_classes) {
    match.problem = fmt::format(
        "it has {}, but the network has {} and no labels, so that they cannot be matched",
        pluralize(int64_t(names.size()), "class", "classes"), network_classes);
    return match;
  }
  match.order = imagenet ? "ImageNet" : "the data's classes";
  for (size_t i = 0; i < names.size(); ++i) {
    match.classes.push_back(imagenet ? *class_of_id(names[i]) + background : int(i));
  }
  return match;
}

/// A data set under the labels of a network.
class RelabelledSet : public Dataset {
 public:
  RelabelledSet(std::unique_ptr<Dataset> dataset, Numbers classes, Names names)
      : dataset_(std::move(dataset)), classes_(std::move(classes)), names_(std::move(names)) {}

  int64_t size() const override { return dataset_->size(); }
  const Names& class_names() const override { return names_; }
  std::string sample_name(int64_t index) const override { return dataset_->sample_name(index); }
  int label(int64_t index) const override { return relabelled(dataset_->label(index)); }

  Sample load(int64_t index, int min_side) const override {
    Sample sample = dataset_->load(index, min_side);
    sample.label = relabelled(sample.label);
    return sample;
  }

 private:
  int relabelled(int label) const { return classes_.at(size_t(label)); }

  std::unique_ptr<Dataset> dataset_;
  Numbers classes_;
  Names names_;
};

}  // namespace

ClassMatch match_classes(const Names& names, const Names& labels, int network_classes) {
  return labels.empty() ? match_by_number(names, network_classes) : match_by_name(names, labels);
}

std::unique_ptr<Dataset> with_network_labels(std::unique_ptr<Dataset> dataset,
                                             std::vector<int> classes, Names labels,
                                             int network_classes) {
  if (labels.empty()) {  // names for messages: of the data set where it has one
    labels.resize(size_t(network_classes));
    for (size_t i = 0; i < classes.size(); ++i) {
      labels[size_t(classes[i])] = dataset->class_names()[i];
    }
  }
  return std::make_unique<RelabelledSet>(std::move(dataset), std::move(classes), std::move(labels));
}

}  // namespace sact::data
