#include "api/c_handles.h"

using namespace sact::api;

namespace {

void store_results(const std::vector<sact::Result>& found, sact_result** results) {
  store_handles(found, results, [](const sact::Result& result) {
    return new sact_result{result, result.top(int(result.logits().size()))};
  });
}

}  // namespace

sact_session* sact_session_new(const sact_model* model, const sact_session_options* options,
                               sact_error* error) {
  return handle_of(error, [&] {
    return new sact_session{sact::Session(given(model, "model").model, options_of(options))};
  });
}

void sact_session_free(sact_session* session) {
  delete session;
}

sact_status sact_session_warm_up(sact_session* session, int images, int size, sact_error* error) {
  return guarded(error, [&] {
    given(session, "session").session.warm_up(images, sact::InputOptions{size, false});
  });
}

sact_status sact_session_run(sact_session* session, const sact_image_view* images, int count,
                             const sact_run_options* options, sact_result** results,
                             sact_error* error) {
  return guarded(error, [&] {
    const auto views = views_of(images, count);
    if (count > 0) given(results, "results");
    store_results(given(session, "session").session.run(views, options_of(options)), results);
  });
}

sact_status sact_session_run_tensor(sact_session* session, const float* planes, int count,
                                    int height, int width, const sact_run_options* options,
                                    sact_result** results, sact_error* error) {
  return guarded(error, [&] {
    if (count > 0) given(results, "results");
    store_results(given(session, "session")
                      .session.run_tensor(planes, count, height, width, options_of(options)),
                  results);
  });
}

sact_map* sact_session_saliency_map(sact_session* session, const sact_image_view* image,
                                    const sact_saliency_options* saliency,
                                    const sact_run_options* options, sact_error* error) {
  return handle_of(error, [&] {
    const auto views = views_of(image, 1);
    return new sact_map{
        given(session, "session")
            .session.saliency_map(views.front(), options_of(saliency), options_of(options))};
  });
}

void sact_result_free(sact_result* result) {
  delete result;
}

int sact_result_top(const sact_result* result, int count, sact_class_score* top) {
  if (!result || !top || count < 0) return 0;
  const int stored = std::min(count, int(result->ranked.size()));
  for (int i = 0; i < stored; ++i) {
    const sact::ClassScore& ranked = result->ranked[size_t(i)];
    top[i] = {ranked.index, ranked.label.c_str(), ranked.score};
  }
  return stored;
}

const float* sact_result_logits(const sact_result* result) {
  return result ? result->result.logits().data() : nullptr;
}

int64_t sact_result_flops(const sact_result* result) {
  return result ? result->result.flops() : 0;
}

int64_t sact_result_dense_flops(const sact_result* result) {
  return value_of(result, int64_t(0), [](auto& own) { return own.result.dense_flops(); });
}

double sact_result_ponder_cost(const sact_result* result) {
  return result ? result->result.ponder_cost() : 0;
}

double sact_result_prepare_ms(const sact_result* result) {
  return result ? result->result.ms().prepare : 0;
}

double sact_result_network_ms(const sact_result* result) {
  return result ? result->result.ms().network : 0;
}

sact_map* sact_result_ponder_cost_map(const sact_result* result) {
  return handle_of(nullptr,
                   [&] { return new sact_map{given(result, "result").result.ponder_cost_map()}; });
}

const float* sact_result_block_ponder_cost(const sact_result* result, int block, int* height,
                                           int* width) {
  return result ? ponder_cost_of(block_of(result->result, block), height, width) : nullptr;
}

const int32_t* sact_result_block_units(const sact_result* result, int block) {
  return result ? units_of(block_of(result->result, block)) : nullptr;
}
