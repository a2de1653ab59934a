// The models that a server has, loaded and described.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/backends.h"
#include "detect/coco_ids.h"
#include "io/json.h"

namespace sact::serve {

/// One model. Its sessions belong to the thread that runs networks.
class ServedModel {
 public:
  /// Loads it. sact::Error when it cannot be run here.
  ServedModel(const std::string& path, const app::Compute& compute);

  const std::string& name() const { return name_; }  // of the file, without its ending
  const ModelSpec& spec() const { return file_.spec(); }
  const ModelFile& file() const { return file_; }
  bool detects() const { return spec().detection.has_value(); }
  const detect::CocoIds& ids() const { return ids_; }

  NetworkSession& session() { return *session_; }            // of a classifier
  detect::ObjectDetector& detector() { return *detector_; }  // of a detector
  /// The same weights without halting, loaded when somebody first asks.
  NetworkSession& dense_session();

  /// {"name": ..., "kind": "classifier", "adaptive": true, "budgets": [0.4, 1], ...}
  io::Json json() const;

 private:
  /// So that the first request takes no longer than others.
  void warm_up();

  ModelFile file_;
  std::string name_;
  app::Compute compute_;
  detect::CocoIds ids_;
  std::unique_ptr<NetworkSession> session_, dense_session_;
  std::unique_ptr<detect::ObjectDetector> detector_;
};

class Models {
 public:
  /// sact::Error when two have one name.
  Models(const std::vector<std::string>& paths, const app::Compute& compute);

  /// The model of that name; empty: the first. Null: there is none.
  ServedModel* find(const std::string& name) const;
  /// The first that finds objects, or the first that does not.
  ServedModel* first(bool detects) const;
  const std::vector<std::unique_ptr<ServedModel>>& all() const { return all_; }
  io::Json json() const;

 private:
  std::vector<std::unique_ptr<ServedModel>> all_;
};

}  // namespace sact::serve
