// What stands behind the handles of the public header.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cpu/session.h"
#include "model/result.h"
#include "model/spec.h"
#include "sact/sact.h"

namespace sact::api {

struct ModelState {
  std::shared_ptr<const ModelSpec> spec;  // shared with results, which do not keep the weights
  std::shared_ptr<const engine::Plan> plan;
  std::vector<std::string> remarks;
};

struct ResultState {
  std::shared_ptr<const ModelSpec> spec;
  Size size;  // of the network's input
  ImageResult image;
};

class SessionState {
 public:
  SessionState(std::shared_ptr<const ModelState> model, const SessionOptions& options);

  int batch() const { return batch_; }
  /// Runs all images of one size, `batch()` at a time, and appends what they give.
  void run(std::span<const float> planes, Size size, std::vector<Result>& results);

 private:
  void run_together(std::vector<float> planes, int count, Size size, std::vector<Result>& results);

  std::shared_ptr<const ModelState> model_;
  int batch_;
  engine::Session session_;
};

}  // namespace sact::api
