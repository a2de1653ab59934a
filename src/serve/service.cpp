#include "serve/service.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/detection.h"
#include "app/prediction.h"
#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "base/threads.h"
#include "model/detection.h"
#include "model/flops.h"
#include "saliency/postprocess.h"

namespace sact::serve {
namespace {

constexpr char kNothingHere[] = "there is nothing at this address";

constexpr uint64_t kEscaped = 6;  // bytes of JSON for one of a name at most

/// A mistake with the status that tells it.
class HttpError : public Error {
 public:
  HttpError(int status, const std::string& text, const char* allowed = "")
      : Error(text), status_(status), allowed_(allowed) {}
  int status() const { return status_; }
  /// Methods that an address takes; empty where that is no matter.
  const char* allowed() const { return allowed_; }

 private:
  int status_;
  const char* allowed_;
};

HttpReply error_reply(int status, const std::string& text) {
  HttpReply reply{status, "application/json", io::dump_json({{"error", text}}), {}};
  if (status == 503) reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

HttpReply json_reply(const io::Json& json) {
  return {200, "application/json", io::dump_json(json), {}};
}

/// Numbers of maps are for pictures: four digits after the point are enough.
io::Json map_json(const Map& map) {
  io::Json values = io::Json::array();
  for (const float value : map.values) values.push_back(std::round(double(value) * 1e4) / 1e4);
  return {{"height", map.height}, {"width", map.width}, {"values", std::move(values)}};
}

/// The map of an image, and that of every block with the most that it can be.
void add_maps(const ModelSpec& spec, const ImageResult& result, io::Json& json) {
  json["ponder_map"] = map_json(ponder_cost_map(result));
  for (size_t block = 0; block < result.blocks.size(); ++block) {
    json["blocks"][block]["ponder_map"] = map_json(result.blocks[block].ponder_cost);
    json["blocks"][block]["of_units"] = spec.units[block];
  }
}

io::Json crop_json(const io::Crop& crop) {
  return {{"left", crop.left}, {"top", crop.top}, {"right", crop.right}, {"bottom", crop.bottom}};
}

void add_run(const ImageJob& job, io::Json& json) {
  json["ms"]["queue"] = job.queue_ms;
  json["together"] = job.together;
  json["threads"] = job.threads;
  if (job.dense_ms) json["dense_ms"] = *job.dense_ms;
}

std::string endpoint_of(const std::string& path) {
  for (const char* known : {"/", "/health", "/metrics", "/openapi.json", "/v1/models"}) {
    if (path == known) return path;
  }
  if (task_at(path)) return path;
  return "other";  // or anybody could make names without end
}

io::Json classified(const ImageJob& job) {
  const ModelSpec& spec = job.model->spec();
  app::Prediction prediction =
      app::prediction_of(spec, job.result, job.size, job.name, job.asked->top, job.network_ms);
  prediction.ms.load = job.load_ms;
  prediction.ms.preprocess = job.preprocess_ms;
  io::Json json = app::prediction_json(spec, prediction);
  json.erase("map");
  json["height"] = job.given.height;
  json["width"] = job.given.width;
  json["crop"] = crop_json(job.crop);
  add_run(job, json);
  if (job.asked->maps) add_maps(spec, job.result, json);
  return json;
}

io::Json detected(const ImageJob& job) {
  const ServedModel& model = *job.model;
  app::DetectedFile file;
  file.path = job.name;
  file.size = job.given;
  file.result = *job.detected;
  file.load_ms = job.load_ms;
  io::Json json = app::detection_json(model.spec(), model.ids(), file);
  for (const char* key : {"map", "image_id"}) json.erase(key);
  json["crop"] = crop_json(job.crop);
  add_run(job, json);
  if (job.asked->maps) add_maps(extractor_spec(model.spec()), job.detected->extractor, json);
  return json;
}

io::Json salient(const ImageJob& job) {
  const SaliencyOptions& options = job.asked->saliency;
  const Map ponder = ponder_cost_map(job.result);
  const Map center = saliency::center_gaussian({ponder.height, ponder.width}, options.center_sigma);
  io::Json json = {
      {"path", job.name},
      {"height", job.given.height},
      {"width", job.given.width},
      {"scaled_height", job.size.height},
      {"scaled_width", job.size.width},
      {"flops", job.result.flops},
      {"dense_flops", dense_flops(image_network(job.model->spec()), job.size)},
      {"ms",
       {{"load", job.load_ms}, {"preprocess", job.preprocess_ms}, {"network", job.network_ms}}},
      {"map",
       map_json(saliency::saliency_map(ponder, center, {options.blur, options.center_weight}))}};
  add_run(job, json);
  return json;
}

}  // namespace

Service::Service(Models& models, const ServiceLimits& limits)
    : models_(models),
      limits_(limits),
      parameters_(make_parameters(limits.run.max_side)),
      runner_(limits.run, metrics_, [this] { models_.drop_idle_sessions(); }),
      queue_(limits.queue, thread_count(limits.threads),
             [this](const Jobs& jobs, int threads) { runner_.run(jobs, threads); }) {}

HttpReply Service::answer(HttpRequest request) {
  Stopwatch watch;
  HttpReply reply;
  try {
    reply = routed(request);
  } catch (const HttpError& error) {
    reply = error_reply(error.status(), error.what());
    if (*error.allowed()) reply.headers.emplace_back("Allow", error.allowed());
  } catch (const Busy& error) {
    reply = error_reply(503, error.what());
  } catch (const TooLate& error) {
    reply = error_reply(504, error.what());
  } catch (const Error& error) {
    reply = error_reply(400, error.what());
  } catch (const std::bad_alloc&) {
    reply = error_reply(503, "there is not enough memory for this now");
  } catch (const std::exception&) {
    reply = error_reply(500, "the server failed");
  }
  metrics_.request(endpoint_of(request.path), reply.status, watch.lap() / 1000);
  reply.headers.emplace_back("X-Content-Type-Options", "nosniff");
  reply.headers.emplace_back("Cache-Control", "no-store");
  return reply;
}

HttpReply Service::refuse(int status, const std::string& why) {
  metrics_.refusal(status);
  if (!why.empty()) return error_reply(status, why);
  switch (status) {
    case 503:
      return error_reply(503, "too many connections; try again");
    case 413:
      return error_reply(413, "the request is larger than this server takes");
    case 431:
      return error_reply(431, "the headers of the request are larger than this server takes");
    case 408:
      return error_reply(408, "the request came too slowly");
    case 404:
      return error_reply(404, kNothingHere);
    default:
      return error_reply(status, "this is no request that the server understands");
  }
}

HttpReply Service::routed(HttpRequest& request) {
  if (const auto task = task_at(request.path)) {
    if (request.method != "POST") {
      throw HttpError(405, request.path + " takes POST, with an image", "POST");
    }
    return run(*task, request);
  }
  if (endpoint_of(request.path) == "other") throw HttpError(404, kNothingHere);
  if (request.method != "GET" && request.method != "HEAD") {
    throw HttpError(405, request.path + " takes GET", "GET, HEAD");
  }
  return get(request);
}

HttpReply Service::get(const HttpRequest& request) {
  if (request.path == "/") {
    HttpReply reply{200, "text/html; charset=utf-8", page(), {}};
    // Nothing from elsewhere, whatever a label or a file name may say.
    reply.headers.emplace_back(
        "Content-Security-Policy",
        fmt::format("default-src 'none'; script-src '{}'; style-src 'unsafe-inline'; img-src blob: "
                    "data:; media-src blob:; connect-src 'self'; base-uri 'none'; form-action "
                    "'none'; frame-ancestors 'none'",
                    page_script_hash()));
    return reply;
  }
  if (request.path == "/health") {
    if (draining_) return error_reply(503, "the server is ending");
    return json_reply(
        {{"status", "ok"}, {"models", models_.all().size()}, {"waiting", queue_.waiting()}});
  }
  if (request.path == "/metrics") {
    return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_.text(queue_.waiting()), {}};
  }
  if (request.path == "/openapi.json") return json_reply(openapi(models_, parameters_));
  return json_reply({{"models", models_.json()}});
}

ServedModel& Service::model_for(Task task, const HttpRequest& request) const {
  const auto named = request.parameters.find("model");
  const bool any = named == request.parameters.end();
  ServedModel* model = !any                      ? models_.find(named->second)
                       : task == Task::kSaliency ? models_.find("")
                                                 : models_.first(task == Task::kDetect);
  if (!model) {
    throw HttpError(404, any ? fmt::format("no model here can {}", name_of(task))
                             : fmt::format("there is no model '{}'", printable(named->second)));
  }
  if (task == Task::kSaliency) {
    saliency::check_halting(model->spec(), printable(model->name()));
  } else if (model->detects() != (task == Task::kDetect)) {
    fail("'{}' is a {}: use {}", printable(model->name()),
         model->detects() ? "detector" : "classifier",
         path_of(model->detects() ? Task::kDetect : Task::kClassify));
  }
  return *model;
}

/// Only the header of the image is read: it is decoded when its turn has come.
Service::Item Service::admitted(HttpFile& file, ServedModel& model,
                                const std::shared_ptr<const Asked>& asked,
                                Clock::time_point deadline) const {
  Item item;
  item.name = file.name.empty() ? "image" : file.name;
  constexpr uint64_t kOfImage = 2048;  // and what stands around all images
  item.reply_bytes = kOfImage + 2 * kEscaped * item.name.size();  // an error has the name again
  try {
    const io::ImageHeader header =
        io::decode_image_header(std::as_bytes(std::span(file.content)), printable(item.name),
                                {.max_pixels = limits_.run.max_pixels});
    auto job = std::make_shared<ImageJob>();
    job->model = &model;
    job->asked = asked;
    job->name = item.name;
    job->file = std::move(file.content);
    job->given = {header.height, header.width};
    job->deadline = deadline;
    item.reply_bytes += most_bytes_of(*job);
    item.job = std::move(job);
  } catch (const Error& error) {
    item.error = error.what();
  }
  return item;
}

uint64_t Service::most_bytes_of(const ImageJob& job) const {
  constexpr uint64_t kOfValue = 10, kOfEntry = 256, kOfBlock = 512;
  const Asked& asked = *job.asked;
  const ModelSpec spec = image_network(job.model->spec());
  const Size size = size_to_run(job);
  const bool finds = asked.task == Task::kDetect;
  // The runner refuses it, and the reply says so.
  if (!finds && size.positions() > int64_t(limits_.run.max_side) * limits_.run.max_side) return 0;
  const bool salient = asked.task == Task::kSaliency;
  uint64_t values = 0;
  for (int block = 0; block < spec.blocks(); ++block) {
    const auto positions = uint64_t(spec.block_size(block, size).positions());
    if (block == 0 && (salient || asked.maps)) values += positions;  // of the map of all blocks
    if (asked.maps) values += positions;
  }
  const uint64_t entries = salient ? 0 : uint64_t(finds ? asked.wanted.most : asked.top);
  size_t label = 0;
  for (const std::string& one : job.model->spec().labels) label = std::max(label, one.size());
  return values * kOfValue + entries * (kOfEntry + kEscaped * label) +
         uint64_t(spec.blocks()) * kOfBlock;
}

uint64_t Service::keep_room(const HttpRequest& request, const std::vector<Item>& items) const {
  uint64_t bytes = 0;
  for (const Item& item : items) bytes += item.reply_bytes;
  if (bytes > limits_.reply_bytes) {
    throw HttpError(413, fmt::format("the reply to this may have {}, more than the {} of all "
                                     "replies; send fewer images, or ask for smaller maps or none",
                                     format_bytes(bytes), format_bytes(limits_.reply_bytes)));
  }
  if (request.keep && !request.keep(bytes)) throw Busy(kNoRoom);
  return bytes;
}

HttpReply Service::run(Task task, HttpRequest& request) {
  ServedModel& model = model_for(task, request);
  const auto asked = std::make_shared<const Asked>(asked_of(parameters_, task, request, model));
  if (request.files.empty())
    fail("there is no image in this request: send it as the body, or as files of a form");
  if (request.files.size() > size_t(limits_.queue.waiting)) {
    throw HttpError(413, fmt::format("{} images in one request are more than the {} that may wait",
                                     request.files.size(), limits_.queue.waiting));
  }
  const auto deadline = Clock::now() + std::chrono::seconds(limits_.seconds);
  std::vector<Item> items;
  Jobs jobs;
  for (HttpFile& file : request.files) {
    items.push_back(admitted(file, model, asked, deadline));
    if (items.back().job) jobs.push_back(items.back().job);
  }
  const uint64_t most_bytes = keep_room(request, items);
  const Queue::Place place = queue_.put(std::move(jobs));
  // Becomes text image by image: before that the numbers of maps take more.
  HttpReply reply = json_reply({{"schema", 1}, {"model", model.name()}});
  reply.body.reserve(most_bytes);
  reply.body.back() = ',';
  reply.body += "\"images\":";
  char before = '[';
  const auto add = [&](const io::Json& image) {
    reply.body += std::exchange(before, ',');
    reply.body += io::dump_json(image);
  };
  std::string first_error;
  bool any = false;
  for (Item& item : items) {
    try {
      if (!item.error.empty()) fail("{}", item.error);
      queue_.wait(*item.job);
      add(task == Task::kClassify ? classified(*item.job)
          : task == Task::kDetect ? detected(*item.job)
                                  : salient(*item.job));
      any = true;
    } catch (const TooLate&) {
      throw;
    } catch (const Busy&) {
      throw;
    } catch (const Error& error) {
      if (first_error.empty()) first_error = error.what();
      add({{"path", item.name}, {"error", error.what()}});
    }
    if (item.job && item.job->together > 0) count(*item.job);
  }
  if (!any) fail("{}", first_error);
  reply.body += "]}";
  return reply;
}

void Service::count(const ImageJob& job) {
  const auto* found = job.detected.get();
  if (found) {
    metrics_.image(job.model->name(), found->extractor.flops + found->box_flops,
                   found->dense_flops + found->dense_box_flops);
  } else {
    metrics_.image(job.model->name(), job.result.flops,
                   dense_flops(image_network(job.model->spec()), job.size));
  }
}

}  // namespace sact::serve
