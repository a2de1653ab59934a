// How somebody asks for more or less work of an adaptive network, and the control that gives it.
#pragma once

#include <optional>
#include <string>

#include "halting/control.h"
#include "model/dial.h"

namespace sact {

/// What messages call the parts of a request: whoever has options for them puts their names here.
struct HaltingTerms {
  std::string shift = "halting shift", budget = "budget", hard_budget = "hard budget";
};

struct HaltingRequest {
  double shift = 0;
  double budget = 0;       // share of the dense network's FLOPs, reached on average; 0: none
  double hard_budget = 0;  // the same as a limit to every image; 0: none
  HaltingTerms terms = {};

  bool asks() const { return shift != 0 || budget != 0 || hard_budget != 0; }
};

/// The control that does what was asked of a network, whose dial is needed for a budget. Throws
/// sact::Error, calling the network `name`, for what it cannot do.
HaltingControl halting_control(const HaltingRequest& request, const ModelSpec& spec,
                               const std::optional<Dial>& dial, const std::string& name);

/// {"shift": 0.4, "budget": 0.6}: the request and the shift it came to; `flops_share` is what was
/// reached, where it is known.
io::Json dial_json(const HaltingRequest& request, const HaltingControl& control,
                   std::optional<double> flops_share);
/// The same for people, without what was reached.
std::string dial_text(const HaltingRequest& request, const HaltingControl& control);

}  // namespace sact
