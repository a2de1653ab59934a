// The back end that runs a network for a command.
#pragma once

#include <memory>

#include "cli/command.h"
#include "kernels/cpu/kernels.h"
#include "model/model_file.h"
#include "model/runner.h"

namespace sact::cli {

/// Adds --backend to the command.
void add_backend_option(CLI::App& command, std::string& backend);

/// The kernels of the engine: the fastest, or what the environment variable SACT_ISA asks for.
const kernels::Table& engine_table();

/// The back end for the chosen device and threads, with the model's weights loaded. `backend` is
/// "engine", "torch", or empty: the engine on the CPU, LibTorch on CUDA.
std::unique_ptr<Runner> make_runner(const ModelFile& model, const CommonOptions& options,
                                    const std::string& backend);

}  // namespace sact::cli
