// The 1000 classes of ImageNet (ILSVRC 2012) in their usual order, that of their WordNet ids.
#pragma once

#include <array>
#include <string_view>

namespace sact::data {

struct ImageNetClass {
  std::string_view wordnet_id;  // "n01440764"
  std::string_view names;       // "tench, Tinca tinca": the first is the usual one
};

constexpr int kImageNetClasses = 1000;

const std::array<ImageNetClass, kImageNetClasses>& imagenet_classes();

}  // namespace sact::data
