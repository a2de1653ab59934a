// What commands print of an evaluation by the COCO metrics.
#pragma once

#include <string>

#include "detect/coco_eval.h"

namespace sact::app {

/// A table of the categories that have objects to find, and the usual twelve lines.
std::string evaluation_text(const detect::CocoEvaluation& evaluation);

}  // namespace sact::app
