#include "app/evaluation.h"

#include "base/log.h"
#include "base/threads.h"

namespace sact::app {

EvalResult evaluate_model(const ModelFile& model, EvaluationRequest request, const Compute& asked) {
  const Compute compute = compute_for(model, asked);
  BackendRequest wanted = compute.request();
  wanted.evaluation = true;
  wanted.several_processes = !request.alone && among_several_processes();
  const Backend& backend = backends().choose(wanted);
  for (const std::string& remark : model.remarks()) log_warning("{}", remark);
  if (request.sizes.empty()) {
    request.sizes.push_back({model.spec().input.size, model.spec().input.size});
  }
  request.device = compute.device;
  request.threads = compute.threads;
  request.precision = compute.precision;
  request.halting = compute.halting;
  if (const DatasetEvaluator* own = backend.evaluator()) {
    return {model.name(), model.spec(), own->evaluate(model, request)};
  }
  const int threads = thread_count(compute.threads);
  const auto network = backend.load(
      image_network_of(model), {compute.device, compute.precision, threads, {}, compute.exact});
  std::vector<std::unique_ptr<NetworkSession>> owned;
  std::vector<NetworkSession*> sessions;
  for (int i = 0; i < network->sessions_in_turns(); ++i) {
    owned.push_back(network->session(threads, compute.halting));
    sessions.push_back(owned.back().get());
  }
  return {model.name(), model.spec(), evaluation::evaluate(sessions, model.spec(), request)};
}

}  // namespace sact::app
