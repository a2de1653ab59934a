#include "cli/result_tables.h"

#include "base/error.h"
#include "base/text.h"

namespace sact::cli {

StreamedTable prediction_table(const ModelSpec& spec, const std::vector<std::string>& paths) {
  StreamedTable table({{"image", 5, true},
                       {"class", 5, true},
                       {"score", 7},
                       {"ponder cost", 11, false, 3},
                       {"GFLOP", 7, false, 2},
                       {"of dense", 8},
                       {"ms", 7, false, 1}});
  for (const std::string& path : paths) table.widen(0, path_cell(path));
  for (int label = 0; label < spec.classes; ++label) table.widen(1, printable(spec.label(label)));
  return table;
}

std::vector<std::string> prediction_cells(const ModelSpec& spec,
                                          const app::Prediction& prediction) {
  const ScoredClass& best = prediction.top.front();
  return {path_cell(prediction.path),
          printable(spec.label(best.index)),
          fmt::format("{:.1f} %", 100 * best.score),
          fmt::format("{:.2f}", ponder_cost(prediction.result)),
          fmt::format("{:.3f}", double(prediction.result.flops) * 1e-9),
          fmt::format("{:.1f} %", 100 * app::dense_share(prediction)),
          fmt::format("{:.1f}", prediction.ms.network)};
}

StreamedTable detection_table(const ModelSpec& spec, const std::vector<std::string>& paths) {
  StreamedTable table({{"image", 5, true},
                       {"objects", 7},
                       {"best", 4, true},
                       {"GFLOP", 7, false, 2},
                       {"of dense", 8},
                       {"ms", 8, false, 1}});
  for (const std::string& path : paths) table.widen(0, path_cell(path));
  for (int label = 0; label < spec.classes; ++label) {
    table.widen(2, app::object_text(spec, {{}, label, 1}));
  }
  return table;
}

std::vector<std::string> detection_cells(const ModelSpec& spec, const app::DetectedFile& file) {
  const auto& detections = file.result.detections;
  return {path_cell(file.path),
          std::to_string(detections.size()),
          detections.empty() ? "" : app::object_text(spec, detections.front()),
          fmt::format("{:.1f}", double(file.result.extractor.flops) * 1e-9),
          fmt::format("{:.1f} %", 100 * app::dense_share(file.result)),
          fmt::format("{:.1f}", file.network_ms())};
}

}  // namespace sact::cli
