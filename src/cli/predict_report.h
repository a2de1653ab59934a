// What `sact predict` shows of a result: JSON, a row of a table, a picture, raw tensors.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/image.h"
#include "io/json.h"
#include "model/result.h"
#include "model/spec.h"
#include "report/ponder_sheet.h"

namespace sact::cli {

/// Milliseconds of each stage.
struct StageTimes {
  double load = 0, preprocess = 0, network = 0, postprocess = 0;
};

/// One image that was run.
struct Prediction {
  std::string path;
  Size size;  // of the network's input
  ImageResult result;
  std::vector<ScoredClass> top;
  StageTimes ms;
  std::string map;  // the picture written for it, or empty
};

io::Json prediction_json(const ModelSpec& spec, const Prediction& prediction);

/// The table that people read, one line at a time: a row can be printed as soon as its image was
/// run, because all columns have their width from the start.
class PredictionTable {
 public:
  /// `paths` are those of all images that will be run.
  PredictionTable(const ModelSpec& spec, const std::vector<std::string>& paths);

  /// The names of the columns and the rule under them.
  std::string header() const;
  std::string row(const Prediction& prediction) const;

 private:
  std::string line(const std::vector<std::string>& cells) const;

  const ModelSpec& spec_;
  size_t path_width_, class_width_;
};

io::Image prediction_picture(const ModelSpec& spec, const Prediction& prediction,
                             const io::Image& photo);

/// The overview of all images: where the network spent its layers in each, and its result.
void add_to_overview(const ModelSpec& spec, const Prediction& prediction, const io::Image& photo,
                     report::PonderSheet& overview);
io::Image draw_overview(const report::PonderSheet& overview);

/// Writes logits [N, classes], ponder.S and units.S [N, H, W], and in the metadata "images", a JSON
/// list of the paths in the order of the rows. All images must have been run at one size.
void write_raw(const std::filesystem::path& path, const ModelSpec& spec,
               const std::vector<Prediction>& predictions);

}  // namespace sact::cli
