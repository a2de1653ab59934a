// The models that a server has, loaded and described.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/backends.h"
#include "detect/coco_ids.h"
#include "io/json.h"
#include "serve/sessions.h"

namespace sact::serve {

/// One model, for any number of threads.
class ServedModel {
 public:
  /// Loads it. sact::Error when it cannot be run here.
  ServedModel(const std::string& path, const app::Compute& compute);

  const std::string& name() const { return name_; }  // of the file, without its ending
  const ModelSpec& spec() const { return file_.spec(); }
  const ModelFile& file() const { return file_; }
  bool detects() const { return spec().detection.has_value(); }
  const detect::CocoIds& ids() const { return ids_; }

  // Sessions of so many threads.
  using Session = Sessions<NetworkSession>::Lent;
  using Detector = Sessions<detect::ObjectDetector>::Lent;
  Session session(int threads) { return sessions_.take(threads); }     // of a classifier
  Detector detector(int threads) { return detectors_.take(threads); }  // of a detector
  /// The same weights without halting, loaded when somebody first asks.
  Session dense_session(int threads);
  /// Gives back the memory of those that nobody uses.
  void drop_idle_sessions();

  /// {"name": ..., "kind": "classifier", "adaptive": true, "budgets": [0.4, 1], ...}
  io::Json json() const;

 private:
  /// So that the first request takes no longer than others.
  void warm_up();

  ModelFile file_;
  std::string name_;
  app::Compute compute_;
  detect::CocoIds ids_;
  std::shared_ptr<const LoadedNetwork> network_, dense_network_;
  std::shared_ptr<const LoadedDetector> detector_;
  std::once_flag dense_;
  Sessions<NetworkSession> sessions_, dense_sessions_;
  Sessions<detect::ObjectDetector> detectors_;
};

class Models {
 public:
  /// sact::Error when two have one name.
  Models(const std::vector<std::string>& paths, const app::Compute& compute);

  /// The model of that name; empty: the first. Null: there is none.
  ServedModel* find(const std::string& name) const;
  /// The first that finds objects, or the first that does not.
  ServedModel* first(bool detects) const;
  void drop_idle_sessions();
  const std::vector<std::unique_ptr<ServedModel>>& all() const { return all_; }
  io::Json json() const;

 private:
  std::vector<std::unique_ptr<ServedModel>> all_;
};

}  // namespace sact::serve
