// Opening libsact_torch.so, the part of sact that needs LibTorch; see train/plugin.h.
#pragma once

#include "train/plugin.h"

namespace sact::app {

/// The plugin, or null when this build has none. Throws sact::Error when it is there but cannot be
/// opened (LibTorch missing or of another version).
const train::TorchPlugin* find_torch_plugin();

/// The same, for commands that cannot do without: throws sact::Error when there is none.
const train::TorchPlugin& torch_plugin();

}  // namespace sact::app
