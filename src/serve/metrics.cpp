#include "serve/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace sact::serve {
namespace {

void describe(std::string& text, const std::string& name, const char* type,
              const std::string& help) {
  text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

/// The value of a label, with what the format cannot hold escaped.
std::string quoted(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
    } else {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text + '"';
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * double(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void Histogram::add(double value) {
  for (size_t i = 0; i < bounds_.size(); ++i) counts_[i] += value <= bounds_[i];
  ++count_;
  sum_ += value;
}

void Histogram::write(std::string& text, const std::string& name, const std::string& help) const {
  describe(text, name, "histogram", help);
  for (size_t i = 0; i < bounds_.size(); ++i) {
    text += fmt::format("{}_bucket{{le=\"{:g}\"}} {}\n", name, bounds_[i], counts_[i]);
  }
  text += fmt::format("{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_sum {2}\n{0}_count {1}\n", name, count_,
                      sum_);
}

void Metrics::request(const std::string& endpoint, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{endpoint, status}];
  seconds_.add(seconds);
}

void Metrics::refusal(int status) {
  const std::lock_guard lock(mutex_);
  ++requests_[{"refused", status}];
}

void Metrics::image(const std::string& model, int64_t flops, int64_t dense_flops) {
  const std::lock_guard lock(mutex_);
  Work& work = work_[model];
  ++work.images;
  work.flops += double(flops);
  work.dense_flops += double(dense_flops);
}

void Metrics::run(int images, double ms) {
  const std::lock_guard lock(mutex_);
  together_.add(images);
  network_seconds_ += ms / 1000;
}

std::string Metrics::text(int waiting) const {
  const std::lock_guard lock(mutex_);
  std::string text;
  describe(text, "sact_requests_total", "counter", "Requests, by endpoint and status.");
  for (const auto& [key, count] : requests_) {
    text += fmt::format("sact_requests_total{{endpoint={},status=\"{}\"}} {}\n", quoted(key.first),
                        key.second, count);
  }
  seconds_.write(text, "sact_request_seconds", "Time from a whole request to its reply.");
  together_.write(text, "sact_batch_images", "Images of one run of a network.");
  const auto by_model = [&](const char* name, const char* help, auto value) {
    describe(text, name, "counter", help);
    for (const auto& [model, work] : work_) {
      text += fmt::format("{}{{model={}}} {}\n", name, quoted(model), value(work));
    }
  };
  by_model("sact_images_total", "Images that were run.",
           [](const Work& w) { return double(w.images); });
  by_model("sact_flops_total", "Floating point operations that were spent.",
           [](const Work& w) { return w.flops; });
  by_model("sact_dense_flops_total", "Those of the same networks without halting.",
           [](const Work& w) { return w.dense_flops; });
  describe(text, "sact_network_seconds_total", "counter", "Time in which networks ran.");
  text += fmt::format("sact_network_seconds_total {}\n", network_seconds_);
  describe(text, "sact_queue_images", "gauge", "Images that wait.");
  text += fmt::format("sact_queue_images {}\n", waiting);
  describe(text, "process_resident_memory_bytes", "gauge", "Memory of this process.");
  text += fmt::format("process_resident_memory_bytes {}\n", resident_bytes());
  return text;
}

}  // namespace sact::serve
