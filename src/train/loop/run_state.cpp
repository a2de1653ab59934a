#include "train/loop/run_state.h"

#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace sact::train {

RunState::RunState(ProcessGroup& group, torch::nn::Module& network, Sgd& sgd,
                   RunStateOptions options)
    : group_(group), network_(network), sgd_(sgd), options_(std::move(options)) {}

void RunState::start(const Checkpoint* checkpoint) {
  progression.workers = group_.size();
  if (checkpoint) {
    load_checkpoint(*checkpoint, network_, sgd_);
    progression = checkpoint->progression();
  }
  progression = progression_from_json(group_.broadcast(to_json(progression)), "worker 0");
  if (progression.workers != group_.size()) {
    // Its position in the epoch and its steps count batches of all processes together.
    fail(
        "{}: holds a run of {} process{}, but now there {} {}; resume it with as many, or use "
        "another folder",
        options_.run.string(), progression.workers, progression.workers == 1 ? "" : "es",
        group_.alone() ? "is" : "are", group_.size());
  }
  std::vector<torch::Tensor> tensors;
  for (auto& [name, tensor] : run_tensors(network_, sgd_)) tensors.push_back(tensor.detach());
  group_.broadcast(tensors);
}

void RunState::exchange() {
  const double minutes = std::chrono::duration<double>(Clock::now() - saved_).count() / 60;
  const bool save =
      group_.first() && options_.checkpoint_minutes > 0 && minutes > options_.checkpoint_minutes;
  std::vector<torch::Tensor> tensors;
  if (!group_.alone()) {
    tensors = sgd_.gradients();
    tensors.insert(tensors.end(), options_.averaged.begin(), options_.averaged.end());
  }
  const std::vector<bool> agreed = group_.average(tensors, {interrupted(), save});
  stop_ = agreed[0];
  save_ = agreed[1];
}

void RunState::checkpoint(const std::filesystem::path& path) {
  saved_ = Clock::now();
  if (path.empty()) return;
  save_checkpoint(path, network_, sgd_, progression,
                  {options_.command, options_.settings_json, options_.spec});
}

void RunState::fail_not_finite() const {
  fail(
      "the loss is not finite at epoch {}, step {}; the last checkpoint is kept in {}: try a "
      "smaller rate, a warm-up or clip_norm in a new run folder",
      progression.epoch + 1, progression.step, options_.run.string());
}

ModelSpec agreed_spec(ProcessGroup& group, const Checkpoint* checkpoint,
                      const std::vector<std::string>& classes, const std::string& data,
                      const std::filesystem::path& run, const std::function<ModelSpec()>& make) {
  std::string json;
  if (group.first()) {
    std::optional<ModelSpec> spec = checkpoint ? checkpoint->spec() : std::nullopt;
    if (spec && spec->labels != classes) {
      fail(
          "{}: its classes are not those with which the run in {} was started; put them back, or "
          "use another folder",
          data, run.string());
    }
    json = sact::to_json(spec ? *spec : make());
  }
  return spec_from_json(group.broadcast(json), "the network of worker 0");
}

void expect_same_start(ProcessGroup& group, const std::vector<std::string>& differing) {
  if (!group.any(!differing.empty())) return;
  if (differing.empty()) {
    fail(
        "worker {}: another worker was started with other settings or data than worker 0; its own "
        "message says which",
        group.rank());
  }
  fail(
      "worker {} was started with other settings or data than worker 0 ({}); start all with the "
      "same",
      group.rank(), fmt::join(differing, "; "));
}

}  // namespace sact::train
