#include "serve/service.h"

namespace sact::serve {
namespace {

using io::Json;

/// The schema of a parameter's numbers.
Json schema_of(const Parameter& parameter) {
  const bool whole = parameter.kind != Parameter::Kind::kNumber;
  const auto number = [&](double value) { return whole ? Json(int64_t(value)) : Json(value); };
  Json schema = {{"type", whole ? "integer" : "number"},
                 {"minimum", number(parameter.least)},
                 {"maximum", number(parameter.most)}};
  if (const auto usual = parameter.usual()) schema["default"] = number(*usual);
  return schema;
}

Json answer(const char* about) {
  return {{"description", about},
          {"content", {{"application/json", {{"schema", {{"type", "object"}}}}}}}};
}

Json get(const char* summary) {
  return {{"get", {{"summary", summary}, {"responses", {{"200", {{"description", summary}}}}}}}};
}

Json post(Task task, const char* summary, const char* reply, const Models& models,
          const std::vector<Parameter>& all) {
  Json names = Json::array();
  for (const auto& model : models.all()) names.push_back(model->name());
  const Json binary = {{"type", "string"}, {"format", "binary"}};
  Json in_query = Json::array();
  Json of_form = {{"image", {{"type", "array"}, {"items", binary}}}};
  const auto add = [&](const std::string& name, const std::string& about, const Json& schema) {
    in_query.push_back(
        {{"name", name}, {"in", "query"}, {"description", about}, {"schema", schema}});
    of_form[name] = schema;
  };
  add("model", "Which model; the first that can do it by default.",
      {{"type", "string"}, {"enum", std::move(names)}});
  for (const Parameter& one : all) {
    if (one.is_of(task)) add(one.name, one.about, schema_of(one));
  }
  const Json form = {{"type", "object"}, {"properties", std::move(of_form)}};
  return {{"post",
           {{"summary", summary},
            {"parameters", std::move(in_query)},
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

}  // namespace

Json openapi(const Models& models, const std::vector<Parameter>& parameters) {
  return {
      {"openapi", "3.0.3"},
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
        {path_of(Task::kClassify),
         post(Task::kClassify, "Classifies images.", "For each image classes, work and times.",
              models, parameters)},
        {path_of(Task::kDetect), post(Task::kDetect, "Finds objects.",
                                      "For each image boxes, work and times.", models, parameters)},
        {path_of(Task::kSaliency), post(Task::kSaliency, "Tells where people will look.",
                                        "For each image a map.", models, parameters)}}}};
}

}  // namespace sact::serve
