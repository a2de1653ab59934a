#include <cmath>

#include "api/state.h"
#include "base/threads.h"
#include "model/halting_request.h"
#include "saliency/postprocess.h"

namespace sact::api {

io::PixelView checked(const ImageView& view) {
  io::check_view(view);
  return view;
}

std::vector<ImageView> views_of(const std::vector<Image>& images) {
  std::vector<ImageView> views;
  for (const Image& image : images) views.push_back(image.view());
  return views;
}

int checked_threads(int asked) {
  if (asked < 0 || asked > kMaxThreads) {
    fail("threads is {}: use 1 to {}, or 0 for all that there are", asked, kMaxThreads);
  }
  return thread_count(asked);
}

HaltingControl checked_halting(const Work& work, const ModelState& model) {
  const HaltingRequest request{work.halting_shift,
                               work.budget,
                               work.hard_budget,
                               {"halting_shift", "budget", "hard_budget"}};
  return halting_control(request, *model.spec, model.dial, printable(model.name));
}

void check_saliency(const SaliencyOptions& options, const ModelState& model) {
  saliency::check_halting(*model.spec, printable(model.name));
  constexpr double kWidestBlur = 1000;
  if (!(options.blur >= 0 && options.blur <= kWidestBlur)) {
    fail("blur must be from 0 to {:g} positions, found {:g}", kWidestBlur, options.blur);
  }
  if (!(options.center_weight >= 0) || !std::isfinite(options.center_weight)) {
    fail("center_weight must be 0 or more, found {:g}", options.center_weight);
  }
  if (!(options.center_sigma > 0) || !std::isfinite(options.center_sigma)) {
    fail("center_sigma must be above 0, found {:g}", options.center_sigma);
  }
}

Map saliency_of(const Map& ponder_cost, const SaliencyOptions& options) {
  const Map center =
      saliency::center_gaussian({ponder_cost.height, ponder_cost.width}, options.center_sigma);
  return saliency::saliency_map(ponder_cost, center, {options.blur, options.center_weight});
}

}  // namespace sact::api
