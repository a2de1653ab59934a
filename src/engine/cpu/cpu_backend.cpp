#include "engine/cpu/cpu_backend.h"

#include <mutex>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/cpu/detector_session.h"
#include "engine/cpu/kernel_choice.h"
#include "engine/cpu/peak.h"
#include "engine/cpu/session.h"

namespace sact::engine {
namespace {

void log_session(const KernelChoice& choice, int threads) {
  log_verbose("the engine runs the {} kernels in {} with {}: {}", choice.table->name,
              kernels::name_of(choice.type), pluralize(threads, "thread"), choice.why);
}

/// Says so once where the type that was asked for is not what runs.
KernelChoice chosen_for(const LoadOptions& options) {
  KernelChoice choice = kernel_choice(options.precision, options.isa);
  if (choice.type != options.precision) {
    static std::once_flag told;
    std::call_once(told, [&] { log_info("{}", choice.why); });
  }
  return choice;
}

Multiplications multiplications_of(const LoadOptions& options) {
  return options.exact ? Multiplications::kDirect : Multiplications::kFewest;
}

class CpuNetwork : public LoadedNetwork {
 public:
  CpuNetwork(std::shared_ptr<const Plan> plan, KernelChoice choice)
      : plan_(std::move(plan)), choice_(std::move(choice)) {}

  std::unique_ptr<NetworkSession> session(int threads,
                                          const HaltingControl& halting) const override {
    log_session(choice_, threads);
    return std::make_unique<CpuSession>(plan_, threads, halting);
  }
  int64_t bytes_needed(int count, Size size) const override {
    return CpuSession(plan_, 1).bytes_needed(count, size);
  }
  KernelFacts kernels() const override {
    return {choice_.table->name, kernels::name_of(choice_.type), choice_.why};
  }

 private:
  std::shared_ptr<const Plan> plan_;
  KernelChoice choice_;
};

class CpuDetector : public LoadedDetector {
 public:
  CpuDetector(std::shared_ptr<const DetectorPlan> plan, KernelChoice choice)
      : plan_(std::move(plan)), choice_(std::move(choice)) {}

  const ModelSpec& spec() const override { return plan_->spec; }
  std::unique_ptr<DetectorSession> session(int threads,
                                           const HaltingControl& halting) const override {
    log_session(choice_, threads);
    return std::make_unique<CpuDetectorSession>(plan_, threads, halting);
  }
  int64_t bytes_needed(Size scaled) const override {
    return CpuDetectorSession(plan_, 1).bytes_needed(scaled);
  }

 private:
  std::shared_ptr<const DetectorPlan> plan_;
  KernelChoice choice_;
};

class CpuBackend : public Backend {
 public:
  CpuBackend() {
    for (const kernels::OperandType& type : kernels::operand_types()) {
      capabilities_.types.push_back({"cpu", type.type});
    }
    capabilities_.detectors = true;
    capabilities_.prescribes_units = true;
    capabilities_.steers = true;
  }

  std::string name() const override { return "engine"; }
  const Capabilities& capabilities() const override { return capabilities_; }

  std::shared_ptr<const LoadedNetwork> load(const NetworkSource& source,
                                            const LoadOptions& options) const override {
    if (options.precision == Precision::kInt8) {
      expect_input_scales(source.spec, source.input_scales, source.name);
    }
    const KernelChoice choice = chosen_for(options);
    return std::make_shared<CpuNetwork>(
        std::make_shared<Plan>(source.spec, source.weights, *choice.table, choice.type,
                               multiplications_of(options), source.input_scales, source.name),
        choice);
  }

  std::shared_ptr<const LoadedDetector> load_detector(const NetworkSource& source,
                                                      const LoadOptions& options) const override {
    if (options.precision == Precision::kInt8) {
      fail("{}: detectors run in fp32 or bf16, not in int8", printable(source.name));
    }
    const KernelChoice choice = chosen_for(options);
    return std::make_shared<CpuDetector>(
        std::make_shared<DetectorPlan>(source.spec, source.weights, *choice.table, choice.type,
                                       multiplications_of(options)),
        choice);
  }

  std::function<double()> peak(const LoadOptions& options) const override {
    const KernelChoice choice = kernel_choice(options.precision, options.isa);
    const auto peak = std::make_shared<Peak>(*choice.table, choice.type, options.threads);
    return [peak] { return peak->measure(); };
  }

 private:
  Capabilities capabilities_;
};

}  // namespace

std::unique_ptr<const Backend> make_cpu_backend() {
  return std::make_unique<CpuBackend>();
}

}  // namespace sact::engine
