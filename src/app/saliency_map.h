// The saliency map of an image beside what people looked at: the job of `sact saliency map`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/inputs.h"
#include "app/saliency.h"

namespace sact::app {

/// An image whose map is wanted.
struct SaliencyInput {
  Input input;
  saliency::Stimulus item;  // without fixations where they are not shown
};

/// With `fixations`, each image has its fixation map: that file, or one below that folder, at the
/// same place and with the same name as the image has below what was given; an image without one
/// gets an error. sact::Error where two images have the same.
std::vector<SaliencyInput> saliency_inputs(const std::vector<Input>& inputs,
                                           const std::filesystem::path& fixations);

/// How maps are made.
struct SaliencyMapOptions {
  saliency::PostProcess settings;
  int side = 0;  // the shorter one of what the network sees; 0: the usual one
  double temperature = 0.2;
  std::string variable;      // of fixation maps in MATLAB's format
  double density_sigma = 0;  // of where people looked, in pixels; 0: one degree
  io::ReadOptions reading = {};
};

struct SaliencyMapResult {
  std::string path;
  PonderMap ponder;
  SaliencyPicture picture;
};

/// Reads an image and runs the network on it.
SaliencyMapResult saliency_map(NetworkSession& session, const ModelSpec& spec, const Center& center,
                               const SaliencyInput& image, const SaliencyMapOptions& options);

/// `map` is where its picture was written.
io::Json saliency_map_json(const SaliencyMapResult& result, const std::string& map);

}  // namespace sact::app
