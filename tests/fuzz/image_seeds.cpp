#include "data/synthetic.h"
#include "fuzz/seeds.h"
#include "io/image.h"

namespace sact::test {

std::vector<std::vector<uint8_t>> fuzz_seeds() {
  data::SyntheticOptions options;
  options.width = 24;
  options.height = 17;
  const io::Image image = data::synthetic_sample(options, 1).image;
  std::vector<std::vector<uint8_t>> seeds;
  for (const auto& file : {io::encode_png(image), io::encode_jpeg(image, 60)}) {
    const auto* data = reinterpret_cast<const uint8_t*>(file.data());
    seeds.emplace_back(data, data + file.size());
  }
  return seeds;
}

}  // namespace sact::test
