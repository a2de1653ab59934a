// A request of every kind, with images of every kind.
#include <string>

#include "fuzz/seeds.h"
#include "support/image_samples.h"

namespace sact::test {

std::vector<std::vector<std::byte>> fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  const Bytes image = io::encode_png(noise_image(19, 13, 3));
  for (const char* head :
       {"GET /health\n", "GET /metrics\n", "GET /openapi.json\n", "GET /v1/models\n", "GET /\n",
        "POST /v1/classify\nfile=\n\n",
        "POST /v1/classify\nmodel=c\ntop=2\nsize=48\nwhole=1\nmaps=1\ndense=1\nfile=a\nfile=b\n\n",
        "POST /v1/classify\nhalting_shift=1.5\nhard_budget=0.7\nfile=a.png\n\n",
        "POST /v1/classify\nbudget=0.5\nfile=a\n\n", "POST /v1/detect\nfile=a.png\n\n",
        "POST /v1/detect\nmodel=d\nscore=0.01\nmost=5\nboxes=9\nall_boxes=1\nmaps=1\nfile=\n\n",
        "POST /v1/detect\ndense=1\nhalting_shift=-2\nfile=\n\n",
        "POST /v1/saliency\nsize=64\nblur=2\ncenter_weight=1.5\ncenter_sigma=0.3\nfile=\n\n",
        "POST /v1/saliency\nmodel=d\nfile=\nfile=\nfile=\nfile=\nfile=\n\n"}) {
    seeds.push_back(joined({bytes_of(head), image}));
  }
  for (const ImageSample& sample : images_of_every_kind()) {
    seeds.push_back(joined({bytes_of("POST /v1/classify\nfile=\n\n"), sample.bytes}));
  }
  return seeds;
}

}  // namespace sact::test
