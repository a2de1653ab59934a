// What the server has done, in the text format of Prometheus.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace sact::serve {

/// Counts how many values are at most each bound.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds)
      : bounds_(std::move(bounds)), counts_(bounds_.size()) {}
  void add(double value);
  void write(std::string& text, const std::string& name, const std::string& help) const;

 private:
  std::vector<double> bounds_;
  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  double sum_ = 0;
};

/// All threads may call.
class Metrics {
 public:
  void request(const std::string& endpoint, int status, double seconds);
  /// A request that was turned away before all of it was read: that took no time of an answer.
  void refusal(int status);
  void image(const std::string& model, int64_t flops, int64_t dense_flops);
  void run(int images, double ms);
  std::string text(int waiting) const;

 private:
  struct Work {
    uint64_t images = 0;
    double flops = 0, dense_flops = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> requests_;
  std::map<std::string, Work> work_;  // by model
  Histogram seconds_{{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}};
  Histogram together_{{1, 2, 4, 8, 16, 32}};
  double network_seconds_ = 0;
};

}  // namespace sact::serve
