// The back end that runs a network for a command.
#pragma once

#include <memory>
#include <vector>

#include "cli/command.h"
#include "model/model_file.h"
#include "model/runner.h"

namespace sact::cli {

enum class Backend { kEngine, kTorch };

/// What --backend and --dtype gave.
struct BackendOptions {
  std::string name;  // "engine", "torch", or empty: the engine on the CPU and LibTorch on CUDA
  std::string dtype = "fp32";
};

/// "fp32" or "bf16", which the option's check has made sure of.
Precision precision_from_name(const std::string& name);

/// Adds --backend and --dtype to the command.
void add_backend_options(CLI::App& command, BackendOptions& options);

/// Throws sact::Error for what no back end does: the engine on CUDA, bfloat16 in LibTorch on the
/// CPU.
Backend chosen_backend(const BackendOptions& wanted, const CommonOptions& options);

/// The same for work that several processes can share, as only LibTorch's can: it is chosen where
/// the environment names several.
Backend chosen_shared_backend(const BackendOptions& wanted, const CommonOptions& options);

/// Whether the environment (WORLD_SIZE) names other processes that work on the same job.
bool among_several_processes();

/// One back end for each of the threads that run images at the same time, as many as pay and as
/// have memory for images of about `size`. Those of the engine share the weights, and all threads
/// out among them; LibTorch's is one, which the threads take turns with.
std::vector<std::shared_ptr<Runner>> make_runners(const ModelFile& model,
                                                  const CommonOptions& options, Backend backend,
                                                  Precision precision, size_t images, Size size);

/// The back end for the chosen device and threads, with the weights of what runs on images loaded:
/// a detector's extractor, or the whole network. bfloat16 is the engine's.
std::unique_ptr<Runner> make_runner(const ModelFile& model, const CommonOptions& options,
                                    Backend backend, Precision precision = Precision::kFloat32);

}  // namespace sact::cli
