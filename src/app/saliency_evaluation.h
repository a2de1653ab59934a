// Scoring saliency maps over a data set: settings searched on some images, scores of others.
#pragma once

#include <cstddef>
#include <vector>

#include "app/saliency.h"
#include "io/json.h"
#include "saliency/evaluate.h"

namespace sact::app {

/// What the search found, and where.
struct SearchedSettings {
  saliency::PostProcess settings;
  std::vector<saliency::PostProcess> tried;
  std::vector<double> scores;  // of those; empty when there was nothing to choose
  size_t images = 0;
  size_t also_reported = 0;  // of these images
};

/// The best of the settings on the images that the split has for searching; the first where it has
/// none. `maps` are ponder cost maps of all images.
SearchedSettings find_settings(const saliency::Split& split,
                               const std::vector<saliency::Fixations>& fixations,
                               const std::vector<Map>& maps, const Map& center,
                               std::vector<saliency::PostProcess> tried,
                               const saliency::Work& work);

/// Scores of the network's maps and of the centre map alone, on the images to report on.
SaliencyResult scored(const saliency::Split& split,
                      const std::vector<saliency::Fixations>& fixations,
                      const std::vector<Map>& maps, const Center& center,
                      const saliency::PostProcess& settings, const saliency::ScoreOptions& options,
                      const saliency::Work& work);

/// Null where nothing was searched.
io::Json search_json(const SearchedSettings& found);

}  // namespace sact::app
