// Saliency over a data set: reading, running the network, searching the settings, scoring.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backend/session.h"
#include "base/size.h"
#include "saliency/dataset.h"
#include "saliency/fixations.h"
#include "saliency/postprocess.h"
#include "saliency/summary.h"

namespace sact::saliency {

/// How the work is done. Results do not depend on it.
struct Work {
  int threads = 0;                         // 0: all
  std::function<bool()> interrupted = {};  // asked now and then; true gives the work up
};

/// Reads the fixations of all items, and of their images the size, which must fit.
std::vector<Fixations> load_fixations(const std::vector<Stimulus>& items,
                                      const std::string& variable, const Work& work);

/// The ponder cost maps of images, and the work that they took.
struct PonderMaps {
  std::vector<Map> maps;
  double flops = 0, dense_flops = 0;
};

/// The ponder cost maps of whole images at `size`; of a detector those of its extractor.
PonderMaps ponder_maps(NetworkSession& session, const ModelSpec& spec,
                       const std::vector<Stimulus>& items, Size size, const Work& work);

/// The mean AUC-Judd of each setting; those of one blur stand side by side. `center` has the size
/// of the maps.
std::vector<double> search(const std::vector<Map>& ponder_cost,
                           const std::vector<Fixations>& fixations, const Map& center,
                           const std::vector<PostProcess>& settings, const Work& work);

struct ScoreOptions {
  double density_sigma = 0;  // pixels of the fixation map; 0: kOneDegree
  uint64_t seed = 0;         // of AUC-Borji, shuffled AUC and jitter
  bool jitter = false;       // for AUC-Judd
};

/// The saliency map of an image, at any size.
using MapOf = std::function<Map(size_t image)>;

/// The images whose fixations are the others of an image's shuffled AUC: ten of `count` images,
/// drawn for each image, or all others where there are no more. Never the image itself.
std::vector<size_t> other_images(size_t image, size_t count, uint64_t seed);

/// Scores of each predictor for all images. Shuffled AUC is NaN for a single image.
std::vector<std::vector<Scores>> score(const std::vector<MapOf>& predictors,
                                       const std::vector<Fixations>& fixations,
                                       const ScoreOptions& options, const Work& work);

}  // namespace sact::saliency
