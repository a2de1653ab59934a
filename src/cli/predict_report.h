// What `sact predict` shows of a result: JSON, a row of a table, a picture, raw tensors.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/streamed_table.h"
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

/// What `blocks` of a result's JSON is.
io::Json blocks_json(const ModelSpec& spec, const ImageResult& result);

/// The table that people read; `paths` are those of all images that will be run.
StreamedTable prediction_table(const ModelSpec& spec, const std::vector<std::string>& paths);
std::vector<std::string> prediction_cells(const ModelSpec& spec, const Prediction& prediction);

io::Image prediction_picture(const ModelSpec& spec, const Prediction& prediction,
                             const io::Image& photo);

/// The overview of all images: where the network spent its layers in each, and its result.
report::PonderSheet::Cell overview_cell(const ModelSpec& spec, const Prediction& prediction,
                                        const io::Image& photo);
io::Image draw_overview(const report::PonderSheet& overview);

/// Writes logits [N, classes], ponder.S and units.S [N, H, W], and in the metadata "images", a JSON
/// list of the paths in the order of the rows. All images must have been run at one size.
void write_raw(const std::filesystem::path& path, const ModelSpec& spec,
               const std::vector<Prediction>& predictions);

}  // namespace sact::cli
