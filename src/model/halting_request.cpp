#include "model/halting_request.h"

#include <cmath>

#include "base/error.h"

namespace sact {
namespace {

double shift_of_budget(const HaltingRequest& request, const ModelSpec& spec,
                       const std::optional<Dial>& dial, const std::string& name) {
  const std::string& term = request.terms.budget;
  if (spec.detection) {
    fail("{}: {} is a detector, and curves are measured for classifiers only; use {} or {}", term,
         name, request.terms.shift, request.terms.hard_budget);
  }
  if (!dial) {
    fail(
        "{} {:g}: {} has no curve that says which shift gives it; 'sact calibrate {} --images DIR "
        "--out FILE' writes a file that has",
        term, request.budget, name, name);
  }
  if (!(request.budget >= dial->least_share() && request.budget <= dial->largest_share())) {
    fail("{} {:g}: the curve of {} goes from {} of the dense network's FLOPs", term, request.budget,
         name, dial->range());
  }
  return dial->shift_for(request.budget);
}

}  // namespace

HaltingControl halting_control(const HaltingRequest& request, const ModelSpec& spec,
                               const std::optional<Dial>& dial, const std::string& name) {
  if (!request.asks()) return {};
  const HaltingTerms& terms = request.terms;
  if (!spec.adaptive()) {
    fail("{}: {} is a plain network, which never halts",
         request.shift != 0    ? terms.shift
         : request.budget != 0 ? terms.budget
                               : terms.hard_budget,
         name);
  }
  if (!(std::abs(request.shift) <= kMostHaltingShift)) {
    fail("{} must be from {} to {}, found {}", terms.shift, -kMostHaltingShift, kMostHaltingShift,
         request.shift);
  }
  for (const auto& [term, share] : {std::pair(terms.budget, request.budget),
                                    std::pair(terms.hard_budget, request.hard_budget)}) {
    if (!(share >= 0 && std::isfinite(share))) {
      fail("{} must be a share of the dense network's FLOPs, such as 0.6, found {}", term, share);
    }
  }
  if (request.shift != 0 && request.budget != 0) {
    fail("give {} or {}, not both: a budget chooses the shift", terms.shift, terms.budget);
  }
  return {request.budget != 0 ? shift_of_budget(request, spec, dial, name) : request.shift,
          request.hard_budget};
}

io::Json dial_json(const HaltingRequest& request, const HaltingControl& control,
                   std::optional<double> flops_share) {
  io::Json json = {{"shift", control.shift}};
  if (request.budget != 0) json["budget"] = request.budget;
  if (request.hard_budget != 0) json["hard_budget"] = request.hard_budget;
  if (flops_share) json["flops_share"] = *flops_share;
  return json;
}

std::string dial_text(const HaltingRequest& request, const HaltingControl& control) {
  std::string text = fmt::format("halting shift {:+.3f}", control.shift);
  if (request.budget != 0) text += fmt::format(" for a budget of {:g}", request.budget);
  if (request.hard_budget != 0) {
    text += fmt::format(", no image above {:g} of the dense network's work", request.hard_budget);
  }
  return text;
}

}  // namespace sact
