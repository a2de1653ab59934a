#include "app/saliency_map.h"

#include "base/error.h"
#include "saliency/evaluate.h"

namespace sact::app {
namespace {

void find_fixations(std::vector<SaliencyInput>& images, const std::filesystem::path& fixations) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(fixations, ignored);
  std::vector<saliency::Stimulus> found;
  for (SaliencyInput& image : images) {
    if (!image.input.error.empty()) continue;
    try {
      image.item.fixations = is_folder ? saliency::find_fixation_map(
                                             image.item.image, fixations / image.input.relative)
                                       : fixations;
      found.push_back(image.item);
    } catch (const Error& error) {
      image.input.error = error.what();
    }
  }
  saliency::check_own_fixation_maps(found);
}

/// Where people looked; empty where that is not shown.
Map human_density(const saliency::Stimulus& item, const SaliencyMapOptions& options) {
  if (item.fixations.empty()) return {};
  const saliency::Fixations fixations = saliency::read_fixations(item, options.variable);
  const double sigma = options.density_sigma > 0 ? options.density_sigma
                                                 : saliency::kOneDegree * fixations.size.width;
  return saliency::density(fixations, sigma);
}

}  // namespace

std::vector<SaliencyInput> saliency_inputs(const std::vector<Input>& inputs,
                                           const std::filesystem::path& fixations) {
  std::vector<SaliencyInput> images;
  for (const Input& input : inputs) images.push_back({input, {{}, input.path, {}}});
  if (!fixations.empty()) find_fixations(images, fixations);
  return images;
}

SaliencyMapResult saliency_map(NetworkSession& session, const ModelSpec& spec, const Center& center,
                               const SaliencyInput& image, const SaliencyMapOptions& options) {
  SaliencyMapResult result;
  result.path = image.item.image.string();
  SaliencyPicture& picture = result.picture;
  picture.photo = read_input(image.input, options.reading);
  picture.name = image.item.image.filename().string();
  picture.people = human_density(image.item, options);
  picture.settings = options.settings;
  const int side = options.side > 0 ? options.side : saliency::usual_size(spec).height;
  result.ponder = ponder_map(session, spec, picture.photo, side, result.path);
  add_maps(result.ponder.map, center, options.temperature, picture);
  return result;
}

io::Json saliency_map_json(const SaliencyMapResult& result, const std::string& map) {
  const PonderMap& ponder = result.ponder;
  return {{"path", result.path},
          {"height", result.picture.photo.height},
          {"width", result.picture.photo.width},
          {"scaled_height", ponder.size.height},
          {"scaled_width", ponder.size.width},
          {"flops", ponder.flops},
          {"dense_flops", ponder.dense_flops},
          {"map", map}};
}

}  // namespace sact::app
