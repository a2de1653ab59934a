// What stands behind the handles of the public header.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "model/dial.h"
#include "model/preprocess.h"
#include "model/result.h"
#include "model/spec.h"
#include "sact/sact.h"

namespace sact::api {

/// The back ends of the library.
const BackendRegistry& backends();

struct ModelState {
  std::shared_ptr<const ModelSpec> spec;  // shared with results, which do not keep the weights
  std::shared_ptr<const LoadedNetwork> network;
  std::string name;  // of the file
  std::optional<Dial> dial;
  std::vector<std::string> remarks;
};

/// What a network sees of a picture.
View view_of(const ModelSpec& spec, const io::RgbImage& image, const InputOptions& options);

struct ResultState {
  std::shared_ptr<const ModelSpec> spec;
  Size size;  // of the network's input
  ImageResult image;
};

class SessionState {
 public:
  SessionState(std::shared_ptr<const ModelState> model, const SessionOptions& options);

  int batch() const { return batch_; }
  /// Runs all images, `batch()` at a time, and appends what they give.
  void run(const InputView& images, std::vector<Result>& results);

 private:
  void run_together(const InputView& images, std::vector<Result>& results);

  std::shared_ptr<const ModelState> model_;
  int batch_;
  std::unique_ptr<NetworkSession> session_;
};

}  // namespace sact::api
