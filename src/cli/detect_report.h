// What `sact detect` shows of an image: JSON, a row of a table, a picture.
#pragma once

#include <string>
#include <vector>

#include "cli/streamed_table.h"
#include "detect/coco_ids.h"
#include "detect/detector.h"
#include "io/json.h"

namespace sact::cli {

/// One image that was run.
struct DetectedFile {
  std::string path;
  int64_t image_id = 0;  // in COCO's files
  Size size;
  detect::DetectedImage result;
  double load_ms = 0, picture_ms = 0;
  std::string picture;  // the file written for it, or empty

  double network_ms() const { return load_ms + result.ms.total(); }
};

io::Json detection_json(const ModelSpec& spec, const detect::CocoIds& ids,
                        const DetectedFile& file);

/// The table that people read; `paths` are those of all images that will be run.
StreamedTable detection_table(const ModelSpec& spec, const std::vector<std::string>& paths);
std::vector<std::string> detection_cells(const ModelSpec& spec, const DetectedFile& file);

/// The photograph with all objects of at least `drawn_score`, beside the ponder cost map.
io::Image detection_picture(const ModelSpec& spec, const DetectedFile& file, const io::Image& photo,
                            double drawn_score);

/// Milliseconds of the stages, by name and in their order.
std::vector<std::pair<std::string, double>> stage_times(const DetectedFile& file);

}  // namespace sact::cli
