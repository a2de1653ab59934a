// Running a model with LibTorch.
#pragma once

#include <memory>
#include <string>

#include "train/plugin.h"
#include "train/torch/network.h"

namespace sact::train {

/// A network for LibTorch, in 32 bits. Its sessions share it and wait for each other.
std::shared_ptr<const LoadedNetwork> load_with_torch(const NetworkSource& source,
                                                     const LoadOptions& options);

/// Throws sact::Error when a batch needs memory on the CPU that is not there, by an estimate of
/// what LibTorch takes beside weights.
void expect_forward_memory(const ModelSpec& spec, int count, Size size);

/// What the network gave, image by image, as every back end reports it.
std::vector<ImageResult> results_of(const ModelSpec& spec, const NetworkOutput& output, Size size);

TorchFacts torch_facts(int threads);

}  // namespace sact::train
