// What `sact saliency` shows of its results: JSON, tables, CSV, a picture.
#pragma once

#include <string>
#include <vector>

#include "io/image.h"
#include "io/json.h"
#include "report/table.h"
#include "sact/types.h"
#include "saliency/dataset.h"
#include "saliency/postprocess.h"
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

/// What the picture of an image shows; maps that are empty are left out.
struct SaliencyPicture {
  io::Image photo;
  std::string name;
  Map people;            // how densely they looked
  Map ponder, combined;  // the blurred ponder cost map alone, and with the centre map
  saliency::PostProcess settings;
};

/// Photograph and maps side by side like in the paper's figure; four of them in two rows.
io::Image draw_saliency_picture(const SaliencyPicture& picture);

}  // namespace sact::cli
