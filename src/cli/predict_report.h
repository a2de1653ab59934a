// What `sact predict` shows of a result: JSON, one line of text, a picture, raw tensors.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/image.h"
#include "io/json.h"
#include "model/result.h"
#include "model/spec.h"

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
std::string prediction_line(const ModelSpec& spec, const Prediction& prediction);
io::Image prediction_picture(const ModelSpec& spec, const Prediction& prediction,
                             const io::Image& photo);

/// One cell of the overview of all images: the map over the photograph, and its caption.
struct OverviewCell {
  io::Image picture;
  std::string caption;
};
OverviewCell overview_cell(const ModelSpec& spec, const Prediction& prediction,
                           const io::Image& photo);
io::Image draw_overview(std::vector<OverviewCell> cells);

/// Writes logits [N, classes], ponder.S and units.S [N, H, W]; all images must have one size.
void write_raw(const std::filesystem::path& path, const ModelSpec& spec,
               const std::vector<Prediction>& predictions);

}  // namespace sact::cli
