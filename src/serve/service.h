// What the server answers: the JSON API, its description, metrics, and the page.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "serve/http.h"
#include "serve/image_job.h"
#include "serve/metrics.h"
#include "serve/models.h"
#include "serve/parameters.h"
#include "serve/queue.h"
#include "serve/runner.h"

namespace sact::serve {

struct ServiceLimits {
  QueueLimits queue;
  RunLimits run;
  int threads = 0;                      // that run networks; 0: all that this process may use
  int seconds = 30;                     // of a request, once it was read
  uint64_t reply_bytes = 256ull << 20;  // of one reply
};

class Service {
 public:
  Service(Models& models, const ServiceLimits& limits);

  /// Any number of threads may ask.
  HttpReply answer(HttpRequest request);
  /// For requests that are turned away before they are read. Without a reason, the usual one.
  HttpReply refuse(int status, const std::string& why = {});
  /// From now on /health says that no more requests should be sent.
  void drain() { draining_ = true; }

 private:
  /// One image on its way.
  struct Item {
    std::string name;
    std::string error;              // where it is none
    std::shared_ptr<ImageJob> job;  // otherwise
    uint64_t reply_bytes = 0;       // that it may take at most
  };

  HttpReply routed(HttpRequest& request);
  HttpReply get(const HttpRequest& request);
  HttpReply run(Task task, HttpRequest& request);
  ServedModel& model_for(Task task, const HttpRequest& request) const;
  Item admitted(HttpFile& file, ServedModel& model, const std::shared_ptr<const Asked>& asked,
                Clock::time_point deadline) const;
  /// The most bytes in which a reply tells of an image.
  uint64_t most_bytes_of(const ImageJob& job) const;
  /// Keeps room for the reply, before there is anything of it; how much.
  uint64_t keep_room(const HttpRequest& request, const std::vector<Item>& items) const;
  void count(const ImageJob& job);

  Models& models_;
  const ServiceLimits limits_;
  const std::vector<Parameter> parameters_;
  Metrics metrics_;
  Runner runner_;
  Queue queue_;
  std::atomic<bool> draining_ = false;
};

/// The API in the words of OpenAPI 3.
io::Json openapi(const Models& models, const std::vector<Parameter>& parameters);
/// The page, whole.
std::string page();
/// What a Content-Security-Policy calls its script.
const char* page_script_hash();

}  // namespace sact::serve
