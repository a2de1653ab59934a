#include "fuzz/seeds.h"
#include "support/more_image_samples.h"

namespace sact::test {

std::vector<std::vector<std::byte>> fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  for (ImageSample& sample : images_of_every_kind()) seeds.push_back(std::move(sample.bytes));
  for (ImageSample& sample : more_images_of_every_kind()) seeds.push_back(std::move(sample.bytes));
  return seeds;
}

}  // namespace sact::test
