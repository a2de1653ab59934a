// What the server answers: the JSON API, its description, metrics, and the page.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "io/resize.h"
#include "serve/http.h"
#include "serve/metrics.h"
#include "serve/models.h"
#include "serve/parameters.h"
#include "serve/queue.h"

namespace sact::serve {

struct ServiceLimits {
  QueueLimits queue;
  int64_t max_pixels = 50'000'000;
  int max_side = 1024;  // of what a network sees
  int seconds = 30;     // of a request, once it was read
};

class Service {
 public:
  Service(Models& models, const ServiceLimits& limits);

  /// Any number of threads may ask.
  HttpReply answer(const HttpRequest& request);
  /// For requests that are turned away before they are read.
  HttpReply refuse(int status);
  /// From now on /health says that no more requests should be sent.
  void drain() { draining_ = true; }

 private:
  /// One image on its way.
  struct Item {
    std::string name;
    std::string error;
    double load_ms = 0, preprocess_ms = 0;
    Size given;
    io::Crop crop;
    std::shared_ptr<Job> job;
  };

  HttpReply routed(const HttpRequest& request);
  HttpReply get(const HttpRequest& request);
  HttpReply run(const HttpRequest& request);
  Item prepared(const HttpFile& file, ServedModel& model, const Asked& asked,
                const std::string& task) const;
  io::Json classified(const Item& item, const Asked& asked) const;
  io::Json detected(const Item& item, const Asked& asked) const;
  io::Json saliency(const Item& item, const Asked& asked) const;
  void count(const Item& item);

  Models& models_;
  ServiceLimits limits_;
  Metrics metrics_;
  Queue queue_;
  std::atomic<bool> draining_ = false;
};

/// The API in the words of OpenAPI 3.
io::Json openapi(const Models& models);
/// The page, whole.
std::string page();

}  // namespace sact::serve
