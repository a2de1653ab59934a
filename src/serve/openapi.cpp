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

// ---- the parts of replies

Json of_type(const char* type) {
  return {{"type", type}};
}
Json integer() {
  return of_type("integer");
}
Json number() {
  return of_type("number");
}
Json text() {
  return of_type("string");
}
Json list(Json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}
Json or_null(Json schema) {
  schema["nullable"] = true;
  return schema;
}

/// With all of some keys, and perhaps others; and no more.
Json object(const Json& always, const Json& sometimes = Json::object()) {
  Json properties = always, required = Json::array();
  for (const auto& [name, schema] : always.items()) required.push_back(name);
  properties.update(sometimes);
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

/// So many keys of one schema.
Json object_of(std::initializer_list<const char*> names, const Json& schema) {
  Json properties = Json::object();
  for (const char* name : names) properties[name] = schema;
  return object(properties);
}

Json error_schema() {
  return object({{"error", text()}});
}

Json map_schema() {
  return object({{"height", integer()}, {"width", integer()}, {"values", list(number())}});
}

/// What the replies to all tasks tell of an image, with times of these stages.
Json about_image(std::initializer_list<const char*> stages) {
  return {{"path", text()},        {"height", integer()},      {"width", integer()},
          {"flops", integer()},    {"dense_flops", integer()}, {"ms", object_of(stages, number())},
          {"together", integer()}, {"threads", integer()}};
}

Json image_schema(Task task) {
  const Json scaled = {{"scaled_height", integer()}, {"scaled_width", integer()}};
  if (task == Task::kSaliency) {
    Json always = about_image({"load", "preprocess", "network", "queue"});
    always.update(scaled);
    always["map"] = map_schema();
    return object(always);
  }
  Json always = task == Task::kClassify
                    ? about_image({"load", "preprocess", "network", "postprocess", "queue"})
                    : about_image({"load", "scale", "extractor", "proposals", "crops", "boxes",
                                   "rest", "picture", "queue"});
  always["ponder_cost"] = number();
  always["blocks"] =
      list(object({{"ponder_cost", number()}, {"units", number()}, {"active_fraction", number()}},
                  {{"ponder_map", map_schema()}, {"of_units", integer()}}));
  always["crop"] = object_of({"left", "top", "right", "bottom"}, number());
  if (task == Task::kClassify) {
    always["top"] = list(object({{"class", integer()}, {"label", text()}, {"score", number()}}));
  } else {
    always.update(scaled);
    always["detections"] = list(object({{"category_id", or_null(integer())},
                                        {"label", text()},
                                        {"bbox", list(number())},
                                        {"score", number()}}));
    for (const char* name : {"proposals", "box_flops", "dense_box_flops"}) {
      always[name] = integer();
    }
  }
  return object(always, {{"ponder_map", map_schema()}, {"dense_ms", number()}});
}

Json images_schema(Task task) {
  const Json failed = object({{"path", text()}, {"error", text()}});
  const Json either = {{"oneOf", {image_schema(task), failed}}};
  return object({{"schema", integer()}, {"model", text()}, {"images", list(either)}});
}

Json models_schema() {
  const Json kind = {{"type", "string"}, {"enum", {"detector", "classifier"}}};
  const Json model = object({{"name", text()},
                             {"kind", kind},
                             {"classes", integer()},
                             {"units", list(integer())},
                             {"adaptive", of_type("boolean")},
                             {"saliency", of_type("boolean")},
                             {"input_size", integer()},
                             {"parameters", integer()},
                             {"dtype", text()},
                             {"budgets", or_null(list(number()))}});
  return object({{"models", list(model)}});
}

// ---- what there is

Json answer(const char* about, const Json& schema, const char* type = "application/json") {
  return {{"description", about}, {"content", {{type, {{"schema", schema}}}}}};
}

/// What any request may get. `more` is what else one may.
Json responses(const Json& right, const Json& more = Json::object()) {
  Json all = {{"200", right}};
  const auto add = [&](const char* status, const char* about) {
    all[status] = answer(about, error_schema());
  };
  add("400", "A mistake in the request; `error` says which.");
  add("403", "A page of another site asks.");
  add("405", "This address takes other methods; Allow says which.");
  add("408", "The request came too slowly.");
  add("416", "Its Range is none.");
  add("421", "The server does not go by the name in Host.");
  add("431", "The headers of the request, or of a part of its form, are too long.");
  add("500", "The server failed.");
  add("503", "Too much is waiting, or the server is ending; Retry-After says when to come back.");
  for (const auto& [status, about] : more.items())
    all[status] = answer(about.get<std::string>().c_str(), error_schema());
  return all;
}

Json get(const char* summary, const Json& schema, const char* type = "application/json") {
  return {{"get", {{"summary", summary}, {"responses", responses(answer(summary, schema, type))}}}};
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
            {"responses", responses(answer(reply, images_schema(task)),
                                    {{"404", "There is no such model."},
                                     {"411", "The request does not tell the length of its body."},
                                     {"413", "The request is too large, or its reply would be."},
                                     {"415", "Its body has a Content-Encoding."},
                                     {"501", "Its Transfer-Encoding is another than chunked."},
                                     {"504", "It took longer than a request may."}})}}}};
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
       {{"/", get("A page to try the models with.", text(), "text/html")},
        {"/health",
         get("Whether the server takes requests.",
             object({{"status", text()}, {"models", integer()}, {"waiting", integer()}}))},
        {"/metrics",
         get("What it has done, in the text format of Prometheus.", text(), "text/plain")},
        {"/openapi.json", get("This description.", of_type("object"))},
        {"/v1/models", get("The models: names, kinds, sizes, budgets.", models_schema())},
        {path_of(Task::kClassify),
         post(Task::kClassify, "Classifies images.", "For each image classes, work and times.",
              models, parameters)},
        {path_of(Task::kDetect), post(Task::kDetect, "Finds objects.",
                                      "For each image boxes, work and times.", models, parameters)},
        {path_of(Task::kSaliency), post(Task::kSaliency, "Tells where people will look.",
                                        "For each image a map.", models, parameters)}}}};
}

}  // namespace sact::serve
