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

std::unique_ptr<Runner> make_runner(const ModelFile& model, const CommonOptions& options,
                                    const std::string& backend) {
  const int threads = thread_count(options.threads);
  const bool cuda = options.device == "cuda";
  if (cuda && backend == "engine") fail("the engine runs on the CPU: leave out --device cuda");
  if (cuda || backend == "torch") return torch_plugin().make_runner(model, options.device, threads);
  return make_engine(model, threads);
}

}  // namespace sact::cli
