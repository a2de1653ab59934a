#include "engine/cpu/cpu_backend.h"

#include "base/log.h"
#include "base/text.h"
#include "engine/cpu/detector_session.h"
#include "engine/cpu/kernel_choice.h"
#include "engine/cpu/peak.h"
#include "engine/cpu/session.h"

namespace sact::engine {
namespace {

void log_session(const Plan& plan, int threads) {
  log_verbose("the engine runs the {} kernels in {} with {}", plan.table.name,
              kernels::name_of(plan.type), pluralize(threads, "thread"));
}

class CpuNetwork : public LoadedNetwork {
 public:
  explicit CpuNetwork(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}

  std::unique_ptr<NetworkSession> session(int threads,
                                          const HaltingControl& halting) const override {
    log_session(*plan_, threads);
    return std::make_unique<CpuSession>(plan_, threads, halting);
  }
  int64_t bytes_needed(int count, Size size) const override {
    return CpuSession(plan_, 1).bytes_needed(count, size);
  }
  std::string kernels() const override { return std::string(plan_->table.name); }

 private:
  std::shared_ptr<const Plan> plan_;
};

class CpuDetector : public LoadedDetector {
 public:
  explicit CpuDetector(std::shared_ptr<const DetectorPlan> plan) : plan_(std::move(plan)) {}

  const ModelSpec& spec() const override { return plan_->spec; }
  std::unique_ptr<DetectorSession> session(int threads,
                                           const HaltingControl& halting) const override {
    log_session(*plan_->extractor, threads);
    return std::make_unique<CpuDetectorSession>(plan_, threads, halting);
  }
  int64_t bytes_needed(Size scaled) const override {
    return CpuDetectorSession(plan_, 1).bytes_needed(scaled);
  }

 private:
  std::shared_ptr<const DetectorPlan> plan_;
};

class CpuBackend : public Backend {
 public:
  CpuBackend() {
    for (const kernels::OperandType& type : kernels::operand_types()) {
      capabilities_.types.push_back({"cpu", type.type});
    }
    capabilities_.detectors = true;
    capabilities_.prescribes_units = true;
  }

  std::string name() const override { return "engine"; }
  const Capabilities& capabilities() const override { return capabilities_; }

  std::shared_ptr<const LoadedNetwork> load(const NetworkSource& source,
                                            const LoadOptions& options) const override {
    return std::make_shared<CpuNetwork>(std::make_shared<Plan>(
        source.spec, source.weights, kernel_table(options.isa), options.precision));
  }

  std::shared_ptr<const LoadedDetector> load_detector(const NetworkSource& source,
                                                      const LoadOptions& options) const override {
    return std::make_shared<CpuDetector>(std::make_shared<DetectorPlan>(
        source.spec, source.weights, kernel_table(options.isa), options.precision));
  }

  std::function<double()> peak(const LoadOptions& options) const override {
    const auto peak =
        std::make_shared<Peak>(kernel_table(options.isa), options.precision, options.threads);
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
