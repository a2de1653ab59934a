// The parameters of a request: numbers in their ranges, and none that is not known.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sact/detector.h"
#include "sact/options.h"
#include "serve/http.h"
#include "serve/models.h"

namespace sact::serve {

/// What a request asks of a model.
struct Asked {
  int top = 5;
  InputOptions input;
  DetectOptions wanted;
  SaliencyOptions saliency;
  HaltingControl halting;
  bool maps = false;   // of all blocks
  bool dense = false;  // the same without halting besides
};

/// sact::Error, naming the parameter, for what makes no sense.
Asked asked_of(const HttpRequest& request, const ServedModel& model, int max_side);

}  // namespace sact::serve
