#include "cli/backend.h"

#include "api/kernel_choice.h"
#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "cli/torch_plugin.h"
#include "engine/session.h"

namespace sact::cli {
namespace {

std::unique_ptr<Runner> make_engine(const ModelFile& model, int threads) {
  const kernels::Table& table = api::kernel_table();
  log_verbose("the engine runs the {} kernels with {} threads", table.name, threads);
  return std::make_unique<engine::Session>(std::make_shared<engine::Plan>(model, table), threads);
}

}  // namespace

void add_backend_option(CLI::App& command, std::string& backend) {
  command
      .add_option("--backend", backend,
                  "What runs the network: engine, which skips what has halted, or torch "
                  "(default: engine on the CPU, torch on CUDA)")
      ->check(CLI::IsMember({"engine", "torch"}));
}

Backend chosen_backend(const std::string& name, const CommonOptions& options) {
  const bool cuda = options.device == "cuda";
  if (cuda && name == "engine") fail("the engine runs on the CPU: leave out --device cuda");
  return cuda || name == "torch" ? Backend::kTorch : Backend::kEngine;
}

Backend chosen_shared_backend(const std::string& name, const CommonOptions& options) {
  if (!among_several_processes()) return chosen_backend(name, options);
  if (name == "engine") {
    fail(
        "the engine does not share work with other processes: use --backend torch, or start one "
        "process without WORLD_SIZE");
  }
  return Backend::kTorch;
}

bool among_several_processes() {
  const char* size = std::getenv("WORLD_SIZE");
  return size && std::string_view(size) != "1";
}

std::unique_ptr<Runner> make_runner(const ModelFile& model, const CommonOptions& options,
                                    Backend backend) {
  const int threads = thread_count(options.threads);
  return backend == Backend::kTorch ? torch_plugin().make_runner(model, options.device, threads)
                                    : make_engine(model, threads);
}

}  // namespace sact::cli
