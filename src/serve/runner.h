// Runs images: decodes them, and takes sessions of the threads that they are given.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "serve/byte_gate.h"
#include "serve/image_job.h"
#include "serve/metrics.h"

namespace sact::serve {

struct RunLimits {
  int64_t max_pixels = 50'000'000;
  int max_side = 1024;                     // of what a network sees
  uint64_t decoded_bytes = 1024ull << 20;  // of all images that are being decoded or looked at
};

/// The size at which a network is to see an image, by what the image's header says. sact::Error
/// where there is none.
Size size_to_run(const ImageJob& job);

/// Any number of threads may run jobs.
class Runner {
 public:
  /// `make_room` is called when there was not enough memory for a run, which then is tried again.
  Runner(const RunLimits& limits, Metrics& metrics, std::function<void()> make_room = {})
      : limits_(limits),
        metrics_(metrics),
        make_room_(std::move(make_room)),
        decoded_(limits.decoded_bytes) {}

  /// The failure of an image is kept in its job.
  void run(const Jobs& jobs, int threads);

 private:
  using Images = std::vector<ImageJob*>;
  struct Prepared {
    ImageJob* job;
    std::vector<float> pixels;
  };
  struct Decoded {
    ByteGate::Held bytes;
    io::RgbImage image;
  };

  void with_room(const std::function<void()>& run) const;
  Decoded decode(ImageJob& job);
  void expect_allowed(const ImageJob& job, Size size) const;
  Prepared prepare(ImageJob& job);
  void run_classifiers(const Jobs& jobs, int threads);
  static void gather(std::span<Prepared> images);
  void run_together(std::span<Prepared> images, int threads);
  void run_detector(ImageJob& job, int threads);
  /// Runs two networks in turns, and gives the fastest run of each.
  void time_both(ImageJob& job, const std::function<double()>& adaptive,
                 const std::function<double()>& dense);

  const RunLimits limits_;
  Metrics& metrics_;
  const std::function<void()> make_room_;
  ByteGate decoded_;
};

}  // namespace sact::serve
