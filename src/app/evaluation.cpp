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
  const std::unique_ptr<NetworkSession> session =
      backend
          .load(image_network_of(model),
                {compute.device, compute.precision, threads, {}, compute.exact})
          ->session(threads, compute.halting);
  return {model.name(), model.spec(), evaluation::evaluate(*session, model.spec(), request)};
}

}  // namespace sact::app
