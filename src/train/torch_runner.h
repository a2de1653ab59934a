// Running a model with LibTorch.
#pragma once

#include <memory>
#include <string>

#include "train/plugin.h"

namespace sact::train {

std::unique_ptr<Runner> make_torch_runner(const ModelFile& file, const std::string& device,
                                          int threads);

TorchFacts torch_facts(int threads);

}  // namespace sact::train
