// Saliency maps of images, and what is shown of them and of their scores: JSON, tables, a picture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/session.h"
#include "io/image.h"
#include "io/json.h"
#include "report/table.h"
#include "sact/types.h"
#include "saliency/dataset.h"
#include "saliency/postprocess.h"
#include "saliency/summary.h"

namespace sact::app {

/// Where a centre map comes from.
struct CenterOptions {
  std::string file, variable = "center";
  double sigma = saliency::kCenterSigma;
};

/// The centre map: a file, or a Gaussian of any size.
class Center {
 public:
  explicit Center(const CenterOptions& options);
  Map at(Size size) const;

 private:
  std::optional<Map> map_;
  double sigma_;
};

/// The ponder cost map of a photograph, and what it took.
struct PonderMap {
  Map map;
  Size size;  // of what the network saw
  int64_t flops = 0, dense_flops = 0;
};

/// Runs a network on a whole photograph, its shorter side scaled to `side`; `name` is used in
/// messages.
PonderMap ponder_map(NetworkSession& session, const ModelSpec& spec, const io::RgbImage& photo,
                     int side, const std::string& name);

/// The images that were scored, the scores of their maps, and those of the centre map that these
/// shall be better than.
struct SaliencyResult {
  std::vector<saliency::Stimulus> items;
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
  io::RgbImage photo;
  std::string name;
  Map people;            // how densely they looked
  Map ponder, combined;  // the blurred ponder cost map alone, and with the centre map
  saliency::PostProcess settings;
};

/// Fills `ponder` and `combined` (unless the centre has no weight), as the picture's settings say,
/// through a softmax of this temperature.
void add_maps(const Map& ponder_cost, const Center& center, double temperature,
              SaliencyPicture& picture);

/// Photograph and maps side by side like in the paper's figure; four of them in two rows.
io::RgbImage draw_saliency_picture(const SaliencyPicture& picture);

}  // namespace sact::app
