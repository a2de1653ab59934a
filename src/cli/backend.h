// The back end that runs a network for a command.
#pragma once

#include <memory>

#include "cli/command.h"
#include "model/model_file.h"
#include "model/runner.h"

namespace sact::cli {

enum class Backend { kEngine, kTorch };

/// Adds --backend to the command.
void add_backend_option(CLI::App& command, std::string& backend);

/// `name` is what the option gave: "engine", "torch", or empty, which means the engine on the CPU
/// and LibTorch on CUDA. Throws sact::Error for the engine on CUDA.
Backend chosen_backend(const std::string& name, const CommonOptions& options);

/// The same for work that several processes can share, as only LibTorch's can: it is chosen where
/// the environment names several.
Backend chosen_shared_backend(const std::string& name, const CommonOptions& options);

/// Whether the environment (WORLD_SIZE) names other processes that work on the same job.
bool among_several_processes();

/// The back end for the chosen device and threads, with the model's weights loaded.
std::unique_ptr<Runner> make_runner(const ModelFile& model, const CommonOptions& options,
                                    Backend backend);

}  // namespace sact::cli
