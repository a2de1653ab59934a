// HTTP as the service sees it: requests in, replies out. What speaks it on sockets (cpp-httplib)
// stands behind libsact_http.so, which only `sact serve` opens: it brings OpenSSL along, and the
// program shall start without.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sact::serve {

struct HttpFile {
  std::string name;  // as the client calls it
  std::string content;
};

struct HttpRequest {
  std::string method, path;
  std::multimap<std::string, std::string> parameters;  // of the query, and fields of a form
  std::vector<HttpFile> files;  // of a form; a raw body is one without a name
  /// Keeps room for a reply of so many bytes; false where there is none now.
  std::function<bool(uint64_t bytes)> keep = {};
};

/// Why there is none.
inline constexpr char kNoRoom[] =
    "the requests that are here already, and their replies, are too large for more; try again";

struct HttpReply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// What is refused before a request reaches the service.
struct HttpLimits {
  uint64_t body_bytes = 32 << 20;  // of one request
  // Of all that are being read or answered, and of their replies; others get 503.
  uint64_t all_body_bytes = 256ull << 20;
  int connections = 128;   // that are served at a time; others get 503
  int seconds = 30;        // that a client may take to send a request, and to take its reply
  int idle_seconds = 5;    // until a connection that says nothing is closed
  int ending_seconds = 2;  // for both, once the server ends
  int files = 64;          // of one form
  std::vector<std::string> hosts =
      {};  // names that requests may call the server by, besides its own
};

struct HttpHandlers {
  std::function<HttpReply(HttpRequest)> answer;  // called by many threads
  /// What a request gets that is refused with this status before it reaches `answer`; `why` may be
  /// empty.
  std::function<HttpReply(int status, const std::string& why)> refuse;
};

class HttpServer {
 public:
  virtual ~HttpServer() = default;
  /// The port that it listens at; 0 asked for any. sact::Error when that cannot be.
  virtual int bind(const std::string& host, int port) = 0;
  /// Serves until stop(). Returns when the requests that had come by then are answered, for which
  /// clients that are slow get no more than `ending_seconds`.
  virtual void run() = 0;
  /// Serves a connection that is there already, on the calling thread, and closes it.
  virtual void serve(int socket) = 0;
  /// May be called by another thread.
  virtual void stop() = 0;
};

/// sact::Error where this build has no HTTP.
std::unique_ptr<HttpServer> open_http_server(const HttpLimits& limits, HttpHandlers handlers);

/// What libsact_http.so gives.
extern "C" HttpServer* sact_http_server(const HttpLimits& limits, HttpHandlers&& handlers);

}  // namespace sact::serve
