// What the service answers, without sockets.
#include "serve/service.h"

#include <array>
#include <set>
#include <thread>

#include "serve/served.h"

namespace sact::serve {
namespace {

using io::Json;
using test::contents_of, test::kPicture;

class Services : public test::Served {
 protected:
  static ServiceLimits limits() {
    ServiceLimits limits;
    limits.run.max_pixels = 10'000'000;
    limits.threads = 1;
    return limits;
  }
  HttpReply get(const std::string& path) { return service_.answer({"GET", path, {}, {}}); }
  HttpReply post(const std::string& task, const std::vector<HttpFile>& files,
                 const std::multimap<std::string, std::string>& parameters = {}) {
    return service_.answer({"POST", "/v1/" + task, parameters, files});
  }
  static Json json_of(const HttpReply& reply, int status = 200) {
    EXPECT_EQ(reply.status, status) << reply.body;
    return Json::parse(reply.body);
  }
  std::string error_of(const HttpReply& reply, int status) {
    return json_of(reply, status)["error"].get<std::string>();
  }
  static Json printed(const std::vector<std::string>& arguments) {
    const auto run = test::run_sact(arguments);
    EXPECT_EQ(run.status, 0) << run.err;
    return Json::parse(run.out)["images"][0];
  }

  Service service_{*models_, limits()};
  std::string picture_ = contents_of(kPicture);
};

TEST_F(Services, ClassifyingGivesWhatTheProgramGives) {
  const Json right = printed({"predict", path("adaptive.safetensors"), kPicture, "--json",
                              "--no-pictures", "--threads", "1"});
  const Json found = json_of(post("classify", {{"", picture_}}))["images"][0];
  for (const char* key : {"top", "ponder_cost", "blocks", "flops", "dense_flops"}) {
    EXPECT_EQ(found[key], right[key]) << key;
  }
  EXPECT_EQ(found["together"], 1);
  EXPECT_EQ(found["threads"], 1);
  EXPECT_FALSE(found.contains("ponder_map"));
  EXPECT_FALSE(found.contains("dense_ms"));
}

TEST_F(Services, DetectingGivesWhatTheProgramGives) {
  const Json right = printed({"detect", path("finder.safetensors"), kPicture, "--json",
                              "--no-pictures", "--threads", "1"});
  const Json found = json_of(post("detect", {{"a.png", picture_}}, {{"dense", "1"}}))["images"][0];
  for (const char* key :
       {"detections", "ponder_cost", "flops", "dense_flops", "box_flops", "proposals"}) {
    EXPECT_EQ(found[key], right[key]) << key;
  }
  EXPECT_GT(found["detections"].size(), 0u);
  EXPECT_GT(found["dense_ms"].get<double>(), 0);
  EXPECT_EQ(found["path"], "a.png");
}

TEST_F(Services, MapsAndTheDenseRunComeOnDemand) {
  const Json found =
      json_of(post("classify", {{"", picture_}},
                   {{"maps", "1"}, {"dense", "1"}, {"halting_shift", "1"}}))["images"][0];
  EXPECT_EQ(found["ponder_map"]["values"].size(), 256u);
  EXPECT_EQ(found["blocks"][1]["ponder_map"]["height"], 8);
  EXPECT_EQ(found["blocks"][1]["of_units"], 4);
  EXPECT_GT(found["dense_ms"].get<double>(), 0);
  EXPECT_GT(found["crop"]["left"].get<int>(), 0);
  const Json usual = json_of(post("classify", {{"", picture_}}))["images"][0];
  EXPECT_LT(found["flops"], usual["flops"]);
}

TEST_F(Services, SaliencyIsAMap) {
  for (const char* model : {"adaptive", "finder"}) {
    const Json found = json_of(
        post("saliency", {{"", picture_}}, {{"model", model}, {"size", "64"}}))["images"][0];
    EXPECT_EQ(found["map"]["height"], 16);
    EXPECT_EQ(found["map"]["values"].size(), 16 * found["map"]["width"].get<size_t>());
  }
  EXPECT_NE(error_of(post("saliency", {{"", picture_}}, {{"model", "plain"}}), 400)
                .find("same everywhere"),
            std::string::npos);
}

TEST_F(Services, FilesOfOneFormRunTogetherAndFailAlone) {
  const Json json =
      json_of(post("classify", {{"a", picture_}, {"broken", "no picture"}, {"b", picture_}}));
  ASSERT_EQ(json["images"].size(), 3u);
  EXPECT_EQ(json["images"][0]["together"], 2);
  EXPECT_EQ(json["images"][0]["top"], json["images"][2]["top"]);
  EXPECT_NE(json["images"][1]["error"].get<std::string>().find("broken"), std::string::npos);
}

TEST_F(Services, MistakesAreNamedWithTheirStatus) {
  EXPECT_NE(error_of(post("classify", {{"x.jpg", "no picture"}}), 400).find("x.jpg"),
            std::string::npos);
  error_of(post("classify", {}), 400);
  error_of(post("classify", {{"", ""}}), 400);
  EXPECT_NE(error_of(post("classify", {{"", picture_}}, {{"model", "none"}}), 404).find("none"),
            std::string::npos);
  EXPECT_NE(
      error_of(post("classify", {{"", picture_}}, {{"model", "finder"}}), 400).find("/v1/detect"),
      std::string::npos);
  EXPECT_NE(error_of(post("classify", {{"", picture_}}, {{"toop", "1"}}), 400).find("toop"),
            std::string::npos);
  for (const auto& [method, path, allowed] :
       std::vector<std::array<const char*, 3>>{{"GET", "/v1/classify", "POST"},
                                               {"PUT", "/v1/detect", "POST"},
                                               {"POST", "/health", "GET, HEAD"}}) {
    const HttpReply reply = service_.answer({method, path, {}, {}});
    error_of(reply, 405);
    EXPECT_EQ(reply.headers.front().first, "Allow");
    EXPECT_EQ(reply.headers.front().second, allowed);
  }
  for (const char* path :
       {"/etc/passwd", "/../etc/passwd", "/v1/none", "/v1/../health", "//", "/page.html"}) {
    error_of(get(path), 404);
  }
  ServiceLimits small = limits();
  small.run.max_pixels = 100;
  Service strict(*models_, small);
  EXPECT_NE(
      error_of(strict.answer({"POST", "/v1/classify", {}, {{"", picture_}}}), 400).find("100"),
      std::string::npos);
  small = limits();
  small.queue.waiting = 1;
  Service busy(*models_, small);
  EXPECT_NE(
      error_of(busy.answer({"POST", "/v1/classify", {}, {{"", picture_}, {"", picture_}}}), 413)
          .find("2 images"),
      std::string::npos);
}

TEST_F(Services, AFullQueueIsToldOfBeforeImagesAreDecoded) {
  ServiceLimits small = limits();
  small.queue.waiting = 2;
  Service service(*models_, small);
  // Requests of two images of which the first is slow: some find the queue full.
  std::atomic<int> busy = 0, answered = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      const HttpReply reply = service.answer(
          {"POST", "/v1/classify", {{"size", "512"}}, {{"", picture_}, {"", picture_}}});
      const bool later = std::count(reply.headers.begin(), reply.headers.end(),
                                    std::pair<std::string, std::string>("Retry-After", "1")) == 1;
      EXPECT_EQ(reply.status == 503, later) << reply.body;
      ++(later ? busy : answered);
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_GT(busy, 0);
  EXPECT_GT(answered, 0);
}

TEST_F(Services, WhatIsTooLateLeavesNothingBehind) {
  ServiceLimits hasty = limits();
  hasty.seconds = 0;
  Service service(*models_, hasty);
  const std::vector<HttpFile> files(40, {"", picture_});
  EXPECT_EQ(service.answer({"POST", "/v1/classify", {{"size", "512"}}, files}).status, 504);
  EXPECT_NE(service.answer({"GET", "/metrics", {}, {}}).body.find("sact_queue_images 0\n"),
            std::string::npos);
}

TEST_F(Services, DetectorsLookAtAsManyBoxesAsTheProgram) {
  for (const auto& [parameters, options, proposals] :
       {std::tuple(std::multimap<std::string, std::string>{}, std::vector<std::string>{}, 0),
        std::tuple(std::multimap<std::string, std::string>{{"all_boxes", "1"}, {"boxes", "7"}},
                   std::vector<std::string>{"--all-boxes", "--boxes", "7"}, 7)}) {
    std::vector<std::string> arguments = {"detect",
                                          path("choosy.safetensors"),
                                          kPicture,
                                          "--json",
                                          "--no-pictures",
                                          "--threads",
                                          "1",
                                          "--score",
                                          "0.1"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    auto asked = parameters;
    asked.insert({{"model", "choosy"}, {"score", "0.1"}});
    const Json right = printed(arguments);
    const Json found = json_of(post("detect", {{"a.png", picture_}}, asked))["images"][0];
    EXPECT_EQ(found["proposals"], proposals);
    for (const char* key : {"detections", "proposals", "box_flops"}) {
      EXPECT_EQ(found[key], right[key]) << key;
    }
  }
}

TEST_F(Services, ParametersWithoutEffectAreRefused) {
  EXPECT_NE(error_of(post("detect", {{"", picture_}}, {{"top", "3"}}), 400).find("/v1/classify"),
            std::string::npos);
  EXPECT_NE(error_of(post("saliency", {{"", picture_}}, {{"maps", "1"}}), 400).find("maps"),
            std::string::npos);
}

/// Where a value is not as its schema says; empty: nowhere.
std::string misfit(const Json& value, const Json& schema, const std::string& at = "reply") {
  if (schema.contains("oneOf")) {
    std::string all;
    int fitting = 0;
    for (const Json& one : schema["oneOf"]) {
      const std::string wrong = misfit(value, one, at);
      fitting += wrong.empty();
      all += wrong + "; ";
    }
    return fitting == 1 ? "" : all;
  }
  if (value.is_null()) return schema.value("nullable", false) ? "" : at + " is null";
  const std::string type = schema["type"];
  const bool right = type == "object"    ? value.is_object()
                     : type == "array"   ? value.is_array()
                     : type == "string"  ? value.is_string()
                     : type == "boolean" ? value.is_boolean()
                     : type == "integer" ? value.is_number_integer()
                                         : type == "number" && value.is_number();
  if (!right) return at + " is no " + type;
  if (schema.contains("enum") &&
      std::count(schema["enum"].begin(), schema["enum"].end(), value) == 0) {
    return at + " is none of its enum";
  }
  std::string wrong;
  if (type == "array") {
    for (const Json& one : value)
      wrong = wrong.empty() ? misfit(one, schema["items"], at + "[]") : wrong;
  } else if (schema.contains("properties")) {
    for (const Json& name : schema["required"]) {
      if (!value.contains(name.get<std::string>())) return at + " lacks " + name.get<std::string>();
    }
    for (const auto& [name, one] : value.items()) {
      if (!schema["properties"].contains(name)) return at + " has " + name;
      if (wrong.empty()) wrong = misfit(one, schema["properties"][name], at + "." + name);
    }
  }
  return wrong;
}

TEST_F(Services, RepliesAreAsTheDescriptionSays) {
  const Json paths = json_of(get("/openapi.json"))["paths"];
  const auto schema_of = [&](const std::string& path, const char* method, const char* status) {
    return paths[path][method]["responses"][status]["content"]["application/json"]["schema"];
  };
  for (const char* path : {"/health", "/v1/models", "/openapi.json"}) {
    EXPECT_EQ(misfit(json_of(get(path)), schema_of(path, "get", "200")), "") << path;
  }
  for (const auto& [task, parameters] :
       std::vector<std::pair<std::string, std::multimap<std::string, std::string>>>{
           {"classify", {}},
           {"classify", {{"maps", "1"}, {"dense", "1"}}},
           {"detect", {}},
           {"detect", {{"maps", "1"}, {"dense", "1"}}},
           {"saliency", {}},
           {"saliency", {{"model", "finder"}}}}) {
    const Json reply = json_of(post(task, {{"", picture_}, {"", "no picture"}}, parameters));
    EXPECT_EQ(misfit(reply, schema_of("/v1/" + task, "post", "200")), "") << task;
    const Json error = json_of(post(task, {}, parameters), 400);
    EXPECT_EQ(misfit(error, schema_of("/v1/" + task, "post", "400")), "") << task;
    std::set<std::string> statuses;
    for (const auto& [status, what] : paths["/v1/" + task]["post"]["responses"].items())
      statuses.insert(status);
    const std::set<std::string> right = {"200", "400", "403", "404", "405", "408", "411", "413",
                                         "415", "416", "421", "431", "500", "501", "503", "504"};
    EXPECT_EQ(statuses, right);
  }
  EXPECT_NE(
      misfit({{"status", 1}, {"models", 1}, {"waiting", 0}}, schema_of("/health", "get", "200")),
      "");
}

TEST_F(Services, TheDescriptionIsOfWhatThereIs) {
  const Json api = json_of(get("/openapi.json"));
  EXPECT_EQ(api["openapi"], "3.0.3");
  for (const auto& [path, methods] : api["paths"].items()) {
    for (const auto& [method, what] : methods.items()) {
      // Whatever is described is taken, at both ends of its range; and nothing else.
      std::multimap<std::string, std::string> parameters;
      const Json described = what.value("parameters", Json::array());
      std::set<std::string> names;
      for (const Json& parameter : described) {
        const std::string name = parameter["name"];
        names.insert(name);
        if (name == "model" || name == "budget") continue;
        const Json& schema = parameter["schema"];
        const bool low = name == "size" || name == "dense";
        parameters.emplace(name, name == "hard_budget" ? "0.95"
                                 : name == "halting_shift"
                                     ? "0.5"
                                     : schema[low ? "minimum" : "maximum"].dump());
      }
      if (const auto task = task_at(path)) {
        std::set<std::string> taken = {"model"};
        for (const Parameter& one : make_parameters(1024)) {
          if (one.is_of(*task)) taken.insert(one.name);
        }
        EXPECT_EQ(names, taken) << path;
        const Json& form = what["requestBody"]["content"]["multipart/form-data"]["schema"];
        EXPECT_EQ(form["properties"].size(), names.size() + 1) << "and the image";
      }
      const bool posts = method == "post";
      const HttpReply reply = service_.answer(
          {posts ? "POST" : "GET", path, parameters,
           posts ? std::vector<HttpFile>{{"", picture_}} : std::vector<HttpFile>{}});
      EXPECT_EQ(reply.status, 200) << path << reply.body;
    }
  }
  EXPECT_EQ(json_of(get("/v1/models"))["models"].size(), 4u);
}

TEST_F(Services, HealthMetricsAndPage) {
  EXPECT_EQ(json_of(get("/health"))["status"], "ok");
  json_of(post("classify", {{"", picture_}}));
  const std::string metrics = get("/metrics").body;
  for (const char* line :
       {"sact_requests_total{endpoint=\"/v1/classify\",status=\"200\"} 1\n",
        "sact_images_total{model=\"adaptive\"} 1\n", "sact_queue_images 0\n",
        "sact_batch_images_bucket{le=\"1\"} 1\n", "# TYPE sact_request_seconds histogram\n"}) {
    EXPECT_NE(metrics.find(line), std::string::npos) << line << metrics;
  }
  const HttpReply page = get("/");
  EXPECT_EQ(page.type, "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("</html>"), std::string::npos);
  for (const char* elsewhere : {"http://", "https://", "src=\"//", "@import"}) {
    EXPECT_EQ(page.body.find(elsewhere), std::string::npos) << elsewhere;
  }
  const auto policy =
      std::find_if(page.headers.begin(), page.headers.end(),
                   [](const auto& header) { return header.first == "Content-Security-Policy"; });
  ASSERT_NE(policy, page.headers.end());
  EXPECT_NE(policy->second.find("script-src 'sha256-"), std::string::npos) << policy->second;
  service_.drain();
  EXPECT_EQ(get("/health").status, 503);
}

TEST_F(Services, RoomForAReplyIsKeptBeforeItIsThere) {
  const std::string name(500, '\1');
  for (const auto& [task, parameters] :
       std::vector<std::pair<std::string, std::multimap<std::string, std::string>>>{
           {"classify", {}},
           {"classify", {{"maps", "1"}, {"size", "512"}, {"top", "1000"}}},
           {"classify", {{"maps", "1"}, {"whole", "1"}, {"halting_shift", "-30"}}},
           {"detect", {{"maps", "1"}, {"score", "0"}}},
           {"saliency", {{"size", "256"}, {"center_weight", "1000"}}},
           {"saliency", {{"model", "finder"}}}}) {
    uint64_t kept = 0;
    HttpRequest request{
        "POST", "/v1/" + task, parameters, {{name, picture_}, {name, "no picture"}}};
    request.keep = [&](uint64_t bytes) {
      kept = bytes;
      return true;
    };
    const HttpReply reply = service_.answer(request);
    ASSERT_EQ(reply.status, 200) << reply.body;
    EXPECT_LE(reply.body.size(), kept) << task;
    EXPECT_LT(kept, 3 * reply.body.size() + 60'000) << task;

    request.keep = [](uint64_t) { return false; };
    EXPECT_NE(error_of(service_.answer(request), 503).find("replies"), std::string::npos);
  }
  EXPECT_NE(get("/metrics").body.find("sact_images_total{model=\"adaptive\"} 4\n"),
            std::string::npos)
      << "what is refused is not run";
}

TEST_F(Services, RepliesThatCanNeverFitAreTooLarge) {
  ServiceLimits small = limits();
  small.reply_bytes = 1 << 20;
  Service service(*models_, small);
  const std::vector<HttpFile> files(2, {"", picture_});
  const HttpReply reply =
      service.answer({"POST", "/v1/classify", {{"maps", "1"}, {"size", "1024"}}, files});
  EXPECT_NE(error_of(reply, 413).find("maps"), std::string::npos);
  EXPECT_EQ(service.answer({"POST", "/v1/classify", {{"maps", "1"}}, files}).status, 200);
  // What no network is run on is a mistake of its own.
  EXPECT_EQ(service.answer({"POST", "/v1/saliency", {{"size", "1024"}}, {{"", picture_}}}).status,
            400);
}

/// The sum of all values of one metric.
double sum_of(const std::string& metrics, const std::string& name) {
  double sum = 0;
  for (size_t at = metrics.find("\n" + name); at != std::string::npos;
       at = metrics.find("\n" + name, at + 1)) {
    sum += std::stod(metrics.substr(metrics.find(' ', at)));
  }
  return sum;
}

TEST_F(Services, EveryRequestIsCountedOnce) {
  json_of(post("classify", {{"", picture_}}));
  error_of(get("/none"), 404);
  error_of(get("/v1/classify"), 405);
  error_of(post("classify", {{"", "no picture"}}), 400);
  service_.refuse(413);
  const std::string metrics = get("/metrics").body;
  EXPECT_EQ(sum_of(metrics, "sact_requests_total{"), 5);
  EXPECT_EQ(sum_of(metrics, "sact_request_seconds_count"), 4) << "a refusal takes no time";
  EXPECT_NE(metrics.find("{endpoint=\"other\",status=\"404\"} 1\n"), std::string::npos) << metrics;
}

TEST_F(Services, WorkOfDetectorsHasThatOfTheirBoxes) {
  const Json found = json_of(post("detect", {{"", picture_}}))["images"][0];
  const auto sum = [&](const char* one, const char* other) {
    return double(found[one].get<int64_t>() + found[other].get<int64_t>());
  };
  EXPECT_GT(found["box_flops"], 0);
  const std::string metrics = get("/metrics").body;
  EXPECT_EQ(sum_of(metrics, "sact_flops_total{"), sum("flops", "box_flops"));
  EXPECT_EQ(sum_of(metrics, "sact_dense_flops_total{"), sum("dense_flops", "dense_box_flops"));
}

}  // namespace
}  // namespace sact::serve
