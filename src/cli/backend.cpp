#include "cli/backend.h"

#include <algorithm>
#include <mutex>

#include "api/kernel_choice.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "base/threads.h"
#include "cli/image_loop.h"
#include "cli/torch_plugin.h"
#include "engine/cpu/session.h"

namespace sact::cli {
namespace {

std::shared_ptr<const engine::Plan> make_plan(const ModelFile& model, int threads,
                                              Precision precision) {
  const kernels::Table& table = api::kernel_table();
  log_verbose("the engine runs the {} kernels in {} with {}", table.name,
              kernels::name_of(precision), counted(threads, "thread"));
  return std::make_shared<engine::Plan>(model, table, precision);
}

/// A back end that serves several threads, one at a time.
class SharedRunner : public Runner {
 public:
  explicit SharedRunner(std::unique_ptr<Runner> runner) : runner_(std::move(runner)) {}

  std::vector<ImageResult> run(const std::vector<float>& planes, int count, Size size) override {
    const std::lock_guard lock(mutex_);
    return runner_->run(planes, count, size);
  }
  void expect_memory(int count, Size size) const override { runner_->expect_memory(count, size); }

 private:
  std::mutex mutex_;
  std::unique_ptr<Runner> runner_;
};

Backend checked(Backend backend, const BackendOptions& wanted, const CommonOptions& options) {
  if (backend == Backend::kTorch && options.device != "cuda" &&
      precision_from_name(wanted.dtype) != Precision::kFloat32) {
    fail("--dtype {}: LibTorch has it on CUDA only; use --backend engine or --device cuda",
         wanted.dtype);
  }
  return backend;
}

}  // namespace

Precision precision_from_name(const std::string& name) {
  return name == "bf16" ? Precision::kBFloat16 : Precision::kFloat32;
}

void add_backend_options(CLI::App& command, BackendOptions& options) {
  command
      .add_option("--backend", options.name,
                  "What runs the network: engine, which skips what has halted, or torch "
                  "(default: engine on the CPU, torch on CUDA)")
      ->check(CLI::IsMember({"engine", "torch"}));
  command
      .add_option("--dtype", options.dtype,
                  "Type of the operands of products: fp32, or bf16 for speed")
      ->check(CLI::IsMember({"fp32", "bf16"}))
      ->capture_default_str();
}

Backend chosen_backend(const BackendOptions& wanted, const CommonOptions& options) {
  const bool cuda = options.device == "cuda";
  if (cuda && wanted.name == "engine") fail("the engine runs on the CPU: leave out --device cuda");
  return checked(cuda || wanted.name == "torch" ? Backend::kTorch : Backend::kEngine, wanted,
                 options);
}

Backend chosen_shared_backend(const BackendOptions& wanted, const CommonOptions& options) {
  if (!among_several_processes()) return chosen_backend(wanted, options);
  if (wanted.name == "engine") {
    fail(
        "the engine does not share work with other processes: use --backend torch, or start one "
        "process without WORLD_SIZE");
  }
  return checked(Backend::kTorch, wanted, options);
}

bool among_several_processes() {
  const char* size = std::getenv("WORLD_SIZE");
  return size && std::string_view(size) != "1";
}

std::unique_ptr<Runner> make_runner(const ModelFile& model, const CommonOptions& options,
                                    Backend backend, Precision precision) {
  const int threads = thread_count(options.threads);
  if (backend == Backend::kEngine) {
    return std::make_unique<engine::Session>(make_plan(model, threads, precision), threads);
  }
  if (precision != Precision::kFloat32) {
    fail("--dtype {}: on CUDA only evaluations have it; leave it out, or leave out --device",
         kernels::name_of(precision));
  }
  return torch_plugin().make_runner(model, options.device, threads);
}

std::vector<std::shared_ptr<Runner>> make_runners(const ModelFile& model,
                                                  const CommonOptions& options, Backend backend,
                                                  Precision precision, size_t images, Size size) {
  std::vector<std::shared_ptr<Runner>> runners;
  const int threads = thread_count(options.threads);
  if (backend == Backend::kTorch) {
    const auto shared =
        std::make_shared<SharedRunner>(make_runner(model, options, backend, precision));
    runners.assign(size_t(images_at_a_time(images, threads, 0)), shared);
    return runners;
  }
  const auto plan = make_plan(model, threads, precision);
  const int64_t bytes = engine::Session(plan, 1).bytes_needed(1, size);
  const int count = images_at_a_time(images, threads, bytes);
  for (int i = 0; i < count; ++i) {
    runners.push_back(std::make_shared<engine::Session>(plan, std::max(1, threads / count)));
  }
  return runners;
}

}  // namespace sact::cli
