// Checkpoints: everything a run needs to go on as if it had not been interrupted.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "train/loop/checkpoint_file.h"
#include "train/loop/sgd.h"

namespace sact::train {

/// All tensors of a run by name: weights, moving averages and momentum.
std::vector<std::pair<std::string, torch::Tensor>> run_tensors(const torch::nn::Module& network,
                                                               const Sgd& sgd);

/// Writes them, as write_checkpoint() does.
void save_checkpoint(const std::filesystem::path& path, const torch::nn::Module& network,
                     const Sgd& sgd, const Progression& progression, const RunIdentity& run);

/// Puts weights and momentum in place; they must be those of such a network.
void load_checkpoint(const Checkpoint& checkpoint, const torch::nn::Module& network,
                     const Sgd& sgd);

}  // namespace sact::train
