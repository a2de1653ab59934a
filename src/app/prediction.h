// Classifying an image, and what is shown of the result: JSON, a picture, raw tensors.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backend/session.h"
#include "io/image.h"
#include "io/json.h"
#include "model/preprocess.h"
#include "model/result.h"
#include "model/spec.h"
#include "report/ponder_sheet.h"

namespace sact::app {

/// Milliseconds of each stage.
struct StageTimes {
  double load = 0, preprocess = 0, network = 0, postprocess = 0;
};

/// One image that was run.
struct Prediction {
  std::string path;
  Size size;      // of the network's input
  io::Crop crop;  // the part of the image that the network saw
  ImageResult result;
  int64_t dense_flops = 0;  // of the dense network, at that size
  std::vector<ScoredClass> top;
  StageTimes ms;
  std::string map;  // the picture written for it, or empty
};

/// What is asked of a network.
struct ClassifyOptions {
  ViewOptions view;
  int top = 5;  // classes
};

/// Runs one image, and times it; `path` names it in messages.
Prediction classify(NetworkSession& session, const ModelSpec& spec, const io::RgbImage& image,
                    const std::string& path, const ClassifyOptions& options);
/// The same for images that somebody else has prepared; names are those of the images.
std::vector<Prediction> classify(NetworkSession& session, const ModelSpec& spec,
                                 const InputView& images, const std::vector<std::string>& names,
                                 int top);

/// What a network said of one image, with its `top` classes; `network_ms` is the image's share of a
/// run. Throws sact::Error, naming the image, where that is not finite.
Prediction prediction_of(const ModelSpec& spec, ImageResult result, Size size,
                         const std::string& name, int top, double network_ms);

/// The share of the dense network's work that it took.
double dense_share(const Prediction& prediction);

io::Json prediction_json(const ModelSpec& spec, const Prediction& prediction);

/// What `blocks` of a result's JSON is.
io::Json blocks_json(const ModelSpec& spec, const ImageResult& result);

io::RgbImage prediction_picture(const ModelSpec& spec, const Prediction& prediction,
                                const io::RgbImage& photo);

/// The overview of all images: where the network spent its layers in each, and its result.
report::PonderSheet::Cell overview_cell(const ModelSpec& spec, const Prediction& prediction,
                                        const io::RgbImage& photo);
io::RgbImage draw_overview(const report::PonderSheet& overview);

/// Writes logits [N, classes], ponder.S and units.S [N, H, W], and in the metadata "images", a JSON
/// list of the paths in the order of the rows. All images must have been run at one size.
void write_raw(const std::filesystem::path& path, const ModelSpec& spec,
               const std::vector<Prediction>& predictions);

}  // namespace sact::app
