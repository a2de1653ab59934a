// What `sact saliency` shows of its results: JSON, tables, CSV, a picture.
#pragma once

#include <string>
#include <vector>

#include "io/image.h"
#include "io/json.h"
#include "report/table.h"
#include "sact/types.h"
#include "saliency/dataset.h"
#include "saliency/summary.h"

namespace sact::cli {

/// The images that were scored, the scores of their maps, and those of the centre map that these
/// shall be better than.
struct SaliencyResult {
  std::vector<saliency::Item> items;
  std::vector<saliency::Scores> scores;
  std::vector<saliency::Scores> center;  // empty when `scores` are the centre map's
};

/// Means, standard errors and `per_category`; with a centre map also its means, and the gain over
/// it, which is that of differences image by image.
io::Json saliency_json(const SaliencyResult& result);

/// A row for each category and one for all images; rounded with errors for people, or plain
/// numbers for a file.
report::Table saliency_table(const SaliencyResult& result);
report::Table saliency_numbers(const SaliencyResult& result);

/// A row of plain numbers for each image.
report::Table image_numbers(const SaliencyResult& result);

/// The photograph, where people looked (left out when it is empty), and the saliency map, side by
/// side like in the paper's figure.
io::Image saliency_picture(const io::Image& photo, const Map& human, const Map& saliency,
                           const std::string& name);

}  // namespace sact::cli
