// The rows that people read of images while these are run.
#pragma once

#include <string>
#include <vector>

#include "app/detection.h"
#include "app/prediction.h"
#include "cli/streamed_table.h"

namespace sact::cli {

/// `paths` are those of all images that will be run.
StreamedTable prediction_table(const ModelSpec& spec, const std::vector<std::string>& paths);
std::vector<std::string> prediction_cells(const ModelSpec& spec, const app::Prediction& prediction);

StreamedTable detection_table(const ModelSpec& spec, const std::vector<std::string>& paths);
std::vector<std::string> detection_cells(const ModelSpec& spec, const app::DetectedFile& file);

}  // namespace sact::cli
