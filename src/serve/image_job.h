// One image for one network: what is asked of it, and later what the network says of it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/resize.h"
#include "serve/models.h"
#include "serve/parameters.h"
#include "serve/queue.h"

namespace sact::serve {

class ImageJob : public Job {
 public:
  ServedModel* model = nullptr;
  std::shared_ptr<const Asked> asked;
  std::string name;  // for messages
  std::string file;  // its bytes, until they were decoded
  Size given;        // of the image

  // Of its run.
  io::Crop crop;
  Size size;                                        // of what the network saw
  ImageResult result;                               // of a network
  std::unique_ptr<detect::DetectedImage> detected;  // of a detector
  double load_ms = 0, preprocess_ms = 0;
  double network_ms = 0;           // its share of a run
  std::optional<double> dense_ms;  // of the same without halting
  int together = 0;                // images of the run; 0: it did not come to that
  int threads = 0;                 // that it had

  /// Classifiers run on several images. Whose inputs turn out to be of one size run together.
  bool joins(const Job& other) const override;
};

}  // namespace sact::serve
