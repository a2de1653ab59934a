#include "serve/service.h"

namespace sact::serve {
namespace {

using io::Json;

Json parameter(const char* name, const char* type, const char* about, const Json& usual = nullptr) {
  Json schema = {{"type", type}};
  if (!usual.is_null()) schema["default"] = usual;
  return {{"name", name}, {"in", "query"}, {"description", about}, {"schema", std::move(schema)}};
}

Json answer(const char* about) {
  return {{"description", about},
          {"content", {{"application/json", {{"schema", {{"type", "object"}}}}}}}};
}

Json get(const char* summary) {
  return {{"get", {{"summary", summary}, {"responses", {{"200", {{"description", summary}}}}}}}};
}

Json post(const char* summary, const char* reply, Json parameters, const Models& models) {
  Json names = Json::array();
  for (const auto& model : models.all()) names.push_back(model->name());
  Json model = parameter("model", "string", "Which model; the first that can do it by default.");
  model["schema"]["enum"] = std::move(names);
  parameters.insert(parameters.begin(), std::move(model));
  const Json binary = {{"type", "string"}, {"format", "binary"}};
  const Json form = {{"type", "object"},
                     {"properties", {{"image", {{"type", "array"}, {"items", binary}}}}}};
  return {{"post",
           {{"summary", summary},
            {"parameters", std::move(parameters)},
            {"requestBody",
             {{"required", true},
              {"content",
               {{"image/*", {{"schema", binary}}}, {"multipart/form-data", {{"schema", form}}}}}}},
            {"responses",
             {{"200", answer(reply)},
              {"400", answer("A mistake in the request; `error` says which.")},
              {"404", answer("There is no such model.")},
              {"408", answer("The request came too slowly.")},
              {"413", answer("The request is too large.")},
              {"503", answer("Too much is waiting; Retry-After says when to come back.")},
              {"504", answer("It took longer than a request may.")}}}}}};
}

Json with(Json all, const Json& more) {
  for (const Json& one : more) all.push_back(one);
  return all;
}

}  // namespace

Json openapi(const Models& models) {
  const Json work = {
      parameter("halting_shift", "number", "Added to halting scores; above 0 less work is done.",
                0),
      parameter("hard_budget", "number",
                "Share of the dense network's work that no image may exceed."),
      parameter("maps", "integer", "1: with the ponder cost maps of all blocks.", 0)};
  const Json size = {
      parameter("size", "integer", "Side of what the network sees, or its shorter side.")};
  const Json classify = {
      parameter("top", "integer", "How many classes.", 5),
      parameter("whole", "integer", "1: the whole image instead of its central crop.", 0),
      parameter("budget", "number",
                "Share of the dense network's work on average, by the model's curve."),
      parameter("dense", "integer", "1: run the network without halting besides, for its time.",
                0)};
  const Json detect = {parameter("score", "number", "Objects of at least this score.", 0.05),
                       parameter("most", "integer", "The most objects.", 100)};
  const Json saliency = {
      parameter("blur", "number", "Standard deviation of the Gaussian, in positions.", 10),
      parameter("center_weight", "number", "Of the centred Gaussian that is added.", 0.005),
      parameter("center_sigma", "number", "Its standard deviation, as a share of each side.",
                0.25)};
  return {{"openapi", "3.0.3"},
          {"info",
           {{"title", "sact"},
            {"version", SACT_VERSION},
            {"description",
             "Residual networks that decide, position by position, how many layers each part of an "
             "image needs."}}},
          {"paths",
           {{"/", get("A page to try the models with.")},
            {"/health", get("Whether the server takes requests.")},
            {"/metrics", get("What it has done, in the text format of Prometheus.")},
            {"/openapi.json", get("This description.")},
            {"/v1/models", get("The models: names, kinds, sizes, budgets.")},
            {"/v1/classify", post("Classifies images.", "For each image classes, work and times.",
                                  with(with(classify, size), work), models)},
            {"/v1/detect", post("Finds objects.", "For each image boxes, work and times.",
                                with(detect, work), models)},
            {"/v1/saliency", post("Tells where people will look.", "For each image a map.",
                                  with(saliency, size), models)}}}};
}

}  // namespace sact::serve
