#include "train/plugin.h"

#include "train/torch_runner.h"

namespace sact::train {

const TorchPlugin* sact_torch_plugin() {
  static const TorchPlugin plugin = {make_torch_runner, torch_facts};
  return &plugin;
}

}  // namespace sact::train
