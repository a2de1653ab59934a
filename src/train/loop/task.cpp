#include "train/loop/task.h"

#include "train/loop/start_weights.h"

namespace sact::train {

LoopSettings loop_settings(const CommonSettings& settings, const std::string& data) {
  LoopSettings loop;
  loop.data = data;
  loop.init = settings.init;
  loop.initial.seed = uint64_t(settings.seed);
  loop.initial.halting_bias = settings.halting_bias;
  loop.initial.halting_scale = settings.halting_scale;
  loop.precision = settings.precision;
  loop.epochs = settings.epochs;
  loop.batch = settings.batch;
  loop.log_every = settings.log_every;
  loop.eval_every = settings.eval_every;
  loop.samples = settings.samples;
  loop.workers = settings.workers;
  loop.checkpoint_minutes = settings.checkpoint_minutes;
  loop.sgd.momentum = settings.momentum;
  loop.sgd.weight_decay = settings.weight_decay;
  loop.sgd.decay_norms = settings.decay_norms;
  loop.sgd.clip_norm = settings.clip_norm;
  return loop;
}

LoopSettings loop_settings(const CommonSettings& settings, const NewNetworkSettings& network) {
  LoopSettings loop = loop_settings(settings, network.data);
  loop.initial.residual_scale = network.residual_scale;
  return loop;
}

std::string Task::start_from(const ModelSpec& spec, const ModelFile& init) {
  return train::start_from(tensors(), spec, init);
}

}  // namespace sact::train
