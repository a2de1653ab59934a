#include "app/saliency_evaluation.h"

namespace sact::app {
namespace {

template <typename T>
std::vector<T> chosen(const std::vector<T>& all, const std::vector<size_t>& numbers) {
  std::vector<T> some;
  for (const size_t number : numbers) some.push_back(all[number]);
  return some;
}

}  // namespace

SearchedSettings find_settings(const saliency::Split& split,
                               const std::vector<saliency::Fixations>& fixations,
                               const std::vector<Map>& maps, const Map& center,
                               std::vector<saliency::PostProcess> tried,
                               const saliency::Work& work) {
  SearchedSettings found{tried.front(),
                         std::move(tried),
                         {},
                         split.searched.size(),
                         saliency::searched_and_reported(split)};
  if (split.searched.empty()) return found;
  found.scores = saliency::search(chosen(maps, split.searched), chosen(fixations, split.searched),
                                  center, found.tried, work);
  found.settings = found.tried[saliency::best_of(found.scores)];
  return found;
}

SaliencyResult scored(const saliency::Split& split,
                      const std::vector<saliency::Fixations>& all_fixations,
                      const std::vector<Map>& all_maps, const Center& center,
                      const saliency::PostProcess& settings, const saliency::ScoreOptions& options,
                      const saliency::Work& work) {
  const auto fixations = chosen(all_fixations, split.reported);
  const auto maps = chosen(all_maps, split.reported);
  const Map small_center = center.at({maps.front().height, maps.front().width});
  const saliency::MapOf map = [&](size_t i) {
    return saliency::saliency_map(maps[i], small_center, settings);
  };
  const saliency::MapOf alone = [&](size_t i) { return center.at(fixations[i].size); };
  auto scores = saliency::score({map, alone}, fixations, options, work);
  return {chosen(split.items, split.reported), std::move(scores[0]), std::move(scores[1])};
}

io::Json search_json(const SearchedSettings& found) {
  if (found.scores.empty()) return nullptr;
  io::Json settings = io::Json::array();
  for (size_t i = 0; i < found.tried.size(); ++i) {
    settings.push_back({{"blur", found.tried[i].blur},
                        {"center_weight", found.tried[i].center_weight},
                        {"auc_judd", found.scores[i]}});
  }
  return {{"images", found.images},
          {"also_reported", found.also_reported},
          {"settings", std::move(settings)}};
}

}  // namespace sact::app
