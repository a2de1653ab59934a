#include "serve/service.h"

#include <cmath>

#include "app/detection.h"
#include "app/prediction.h"
#include "base/error.h"
#include "base/stopwatch.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/preprocess.h"
#include "saliency/postprocess.h"

namespace sact::serve {
namespace {

/// A mistake with the status that tells it.
class HttpError : public Error {
 public:
  HttpError(int status, const std::string& text) : Error(text), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
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

void add_run(const Job& job, io::Json& json) {
  json["ms"]["queue"] = job.queue_ms;
  json["together"] = job.together;
  const Job* dense = job.rival.get();
  if (!dense) return;
  const bool detects = dense->kind == Job::Kind::kDetect;
  json["dense_ms"] = detects ? dense->detected.ms.total() : dense->network_ms;
}

std::string endpoint_of(const std::string& path) {
  for (const char* known : {"/", "/health", "/metrics", "/openapi.json", "/v1/models",
                            "/v1/classify", "/v1/detect", "/v1/saliency"}) {
    if (path == known) return path;
  }
  return "other";  // or anybody could make names without end
}

}  // namespace

Service::Service(Models& models, const ServiceLimits& limits)
    : models_(models),
      limits_(limits),
      queue_(limits.queue, [this](int images, double ms) { metrics_.run(images, ms); }) {}

HttpReply Service::answer(const HttpRequest& request) {
  Stopwatch watch;
  HttpReply reply;
  try {
    reply = routed(request);
  } catch (const HttpError& error) {
    reply = error_reply(error.status(), error.what());
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

HttpReply Service::refuse(int status) {
  metrics_.request("refused", status, 0);
  switch (status) {
    case 503:
      return error_reply(503, "too many connections; try again");
    case 413:
      return error_reply(413, "the request is larger than this server takes");
    case 408:
      return error_reply(408, "the request came too slowly");
    case 404:
      return error_reply(404, "there is nothing at this address");
    default:
      return error_reply(status, "this is no request that the server understands");
  }
}

HttpReply Service::routed(const HttpRequest& request) {
  if (request.path.rfind("/v1/", 0) == 0 && request.path != "/v1/models") {
    if (endpoint_of(request.path) == "other") return refuse(404);
    if (request.method != "POST") throw HttpError(405, request.path + " takes POST, with an image");
    return run(request);
  }
  if (endpoint_of(request.path) == "other") return refuse(404);
  if (request.method != "GET" && request.method != "HEAD") {
    throw HttpError(405, request.path + " takes GET");
  }
  return get(request);
}

HttpReply Service::get(const HttpRequest& request) {
  if (request.path == "/") {
    HttpReply reply{200, "text/html; charset=utf-8", page(), {}};
    // Nothing from elsewhere, whatever a label or a file name may say.
    reply.headers.emplace_back(
        "Content-Security-Policy",
        "default-src 'none'; script-src 'unsafe-inline'; style-src "
        "'unsafe-inline'; img-src blob: data:; media-src blob:; connect-src "
        "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
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
  if (request.path == "/openapi.json") return json_reply(openapi(models_));
  return json_reply({{"models", models_.json()}});
}

Service::Item Service::prepared(const HttpFile& file, ServedModel& model, const Asked& asked,
                                const std::string& task) const {
  Item item;
  item.name = file.name.empty() ? "image" : file.name;
  Stopwatch watch;
  try {
    const auto photo = std::make_shared<io::RgbImage>(
        io::decode_image(std::as_bytes(std::span(file.content)), printable(item.name),
                         {.max_pixels = limits_.max_pixels}));
    item.given = {photo->height, photo->width};
    item.load_ms = watch.lap();
    auto job = std::make_shared<Job>();
    job->model = &model;
    job->halting = asked.halting;
    job->deadline = Clock::now() + std::chrono::seconds(limits_.seconds);
    const bool salient = task == "saliency";
    const int side =
        asked.saliency.size > 0 ? asked.saliency.size : saliency::usual_size(model.spec()).height;
    if (model.detects()) {
      job->kind = salient ? Job::Kind::kExtract : Job::Kind::kDetect;
      job->photo = photo;
      job->wanted = asked.wanted;
      job->side = side;
      item.crop = io::whole(*photo);
      if (asked.dense && model.spec().adaptive() && !salient) {
        job->rival = std::make_shared<Job>(*job);
        job->rival->halting = {-kMostHaltingShift, 0};  // nothing halts
      }
    } else {
      const bool whole = salient || asked.input.whole;
      const int size = salient ? side : asked.input.size;
      const View view =
          view_of(*photo, model.spec().input,
                  {whole ? Framing::kKeepAspect : Framing::kCentralCrop, {size, size}});
      const int64_t most = int64_t(limits_.max_side) * limits_.max_side;
      if (view.size.positions() > most) {
        fail(
            "{}: would be {}x{} for the network, more than the {} pixels that are run here; use a "
            "smaller size",
            printable(item.name), view.size.height, view.size.width, most);
      }
      item.crop = view.crop;
      job->size = view.size;
      job->pixels = network_pixels(*photo, view, model.spec().input);
      if (asked.dense && model.spec().adaptive() && !salient) {
        job->rival = std::make_shared<Job>(*job);
        job->rival->kind = Job::Kind::kDenseNetwork;
        job->rival->halting = {};
      }
    }
    item.preprocess_ms = watch.lap();
    item.job = std::move(job);
  } catch (const Error& error) {
    item.error = error.what();
  }
  return item;
}

HttpReply Service::run(const HttpRequest& request) {
  const std::string task = request.path.substr(4);
  const auto named = request.parameters.find("model");
  ServedModel* model = named != request.parameters.end() ? models_.find(named->second)
                       : task == "saliency"              ? models_.find("")
                                                         : models_.first(task == "detect");
  if (!model) {
    throw HttpError(404, named != request.parameters.end()
                             ? fmt::format("there is no model '{}'", printable(named->second))
                             : fmt::format("no model here can {}", task));
  }
  if (task == "saliency") {
    saliency::check_halting(model->spec(), printable(model->name()));
  } else if (model->detects() != (task == "detect")) {
    fail("'{}' is a {}: use /v1/{}", printable(model->name()),
         model->detects() ? "detector" : "classifier", model->detects() ? "detect" : "classify");
  }
  const Asked asked = asked_of(request, *model, limits_.max_side);
  if (request.files.empty())
    fail("there is no image in this request: send it as the body, or as files of a form");

  std::vector<Item> items;
  std::vector<std::shared_ptr<Job>> jobs;
  for (const HttpFile& file : request.files) {
    items.push_back(prepared(file, *model, asked, task));
    if (items.back().job) jobs.push_back(items.back().job);
  }
  queue_.put(jobs);
  io::Json images = io::Json::array();
  std::string first_error;
  bool any = false;
  for (Item& item : items) {
    try {
      if (!item.error.empty()) fail("{}", item.error);
      queue_.wait(*item.job);
      images.push_back(task == "classify" ? classified(item, asked)
                       : task == "detect" ? detected(item, asked)
                                          : saliency(item, asked));
      any = true;
    } catch (const TooLate&) {
      throw;
    } catch (const Busy&) {
      throw;
    } catch (const Error& error) {
      if (first_error.empty()) first_error = error.what();
      images.push_back({{"path", item.name}, {"error", error.what()}});
    }
    if (item.job && item.job->together > 0) count(item);
  }
  if (!any) fail("{}", first_error);
  return json_reply({{"schema", 1}, {"model", model->name()}, {"images", std::move(images)}});
}

void Service::count(const Item& item) {
  const Job& job = *item.job;
  const bool detects = job.kind == Job::Kind::kDetect;
  const int64_t flops = detects ? job.detected.extractor.flops : job.result.flops;
  const int64_t dense =
      detects ? job.detected.dense_flops : dense_flops(image_network(job.model->spec()), job.size);
  metrics_.image(job.model->name(), flops, dense);
}

io::Json Service::classified(const Item& item, const Asked& asked) const {
  const ModelSpec& spec = item.job->model->spec();
  app::Prediction prediction = app::prediction_of(spec, item.job->result, item.job->size, item.name,
                                                  asked.top, item.job->network_ms);
  prediction.ms.load = item.load_ms;
  prediction.ms.preprocess = item.preprocess_ms;
  io::Json json = app::prediction_json(spec, prediction);
  json.erase("map");
  json["height"] = item.given.height;
  json["width"] = item.given.width;
  json["crop"] = crop_json(item.crop);
  add_run(*item.job, json);
  if (asked.maps) add_maps(spec, item.job->result, json);
  return json;
}

io::Json Service::detected(const Item& item, const Asked& asked) const {
  const ServedModel& model = *item.job->model;
  app::DetectedFile file;
  file.path = item.name;
  file.size = item.given;
  file.result = item.job->detected;
  file.load_ms = item.load_ms;
  io::Json json = app::detection_json(model.spec(), model.ids(), file);
  for (const char* key : {"map", "image_id"}) json.erase(key);
  json["crop"] = crop_json(item.crop);
  add_run(*item.job, json);
  if (asked.maps) add_maps(extractor_spec(model.spec()), item.job->detected.extractor, json);
  return json;
}

io::Json Service::saliency(const Item& item, const Asked& asked) const {
  const Job& job = *item.job;
  const Map ponder = ponder_cost_map(job.result);
  const Map center =
      saliency::center_gaussian({ponder.height, ponder.width}, asked.saliency.center_sigma);
  io::Json json = {
      {"path", item.name},
      {"height", item.given.height},
      {"width", item.given.width},
      {"scaled_height", job.size.height},
      {"scaled_width", job.size.width},
      {"flops", job.result.flops},
      {"dense_flops", dense_flops(image_network(job.model->spec()), job.size)},
      {"ms",
       {{"load", item.load_ms}, {"preprocess", item.preprocess_ms}, {"network", job.network_ms}}},
      {"map", map_json(saliency::saliency_map(
                  ponder, center, {asked.saliency.blur, asked.saliency.center_weight}))}};
  add_run(job, json);
  return json;
}

}  // namespace sact::serve
