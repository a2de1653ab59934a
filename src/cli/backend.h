// The back end that runs a network for a command.
#pragma once

#include <memory>

#include "cli/command.h"
#include "model/model_file.h"
#include "model/runner.h"

namespace sact::cli {

/// The back end for the chosen device and threads, with the model's weights loaded.
std::unique_ptr<Runner> make_runner(const ModelFile& model, const CommonOptions& options);

}  // namespace sact::cli
