// Commands that go on with the next image when one fails.
#pragma once

#include <functional>
#include <string>

#include "cli/inputs.h"

namespace sact::cli {

/// Calls `work` for an input that gave an image. What goes wrong with this image alone is printed
/// in one line and returned; nothing: all went well. That standard output cannot be written is
/// thrown on: the next image would not fare better.
std::string failure_of(const Input& input, const std::function<void()>& work);

}  // namespace sact::cli
