// libsact_http.so: HTTP on sockets, by cpp-httplib.
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "serve/http.h"
#include "serve/http_stream.h"

namespace sact::serve {
namespace {

/// What a thread that serves connections does now.
struct Serving {
  bool turns_away = false;       // its requests
  HttpStream* stream = nullptr;  // of its connection
  bool closes = false;           // the connection, after the reply
  bool unread = false;           // more of its request may come
};
thread_local Serving serving;

/// A thread for each connection that is served. Connections beyond them are told to come back by
/// two more threads; where even these are behind, accepting waits.
class Connections : public httplib::TaskQueue {
 public:
  explicit Connections(int served) : free_(served) {
    for (int i = 0; i < served; ++i) threads_.emplace_back([this] { work(served_, false); });
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { work(others_, true); });
  }

  void enqueue(std::function<void()> connection) override {
    constexpr size_t kMostOthers = 32;
    std::unique_lock lock(mutex_);
    if (free_ > 0) {
      --free_;
      served_.push_back(std::move(connection));
    } else {
      changed_.wait(lock, [&] { return others_.size() < kMostOthers || ended_; });
      others_.push_back(std::move(connection));
    }
    changed_.notify_all();
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  using Queue = std::deque<std::function<void()>>;

  void work(Queue& queue, bool away) {
    serving.turns_away = away;
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return !queue.empty() || ended_; });
      if (queue.empty()) return;
      const std::function<void()> connection = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      connection();
      lock.lock();
      if (!away) ++free_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Queue served_, others_;
  int free_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

void fill(httplib::Response& response, const HttpReply& reply) {
  response.status = reply.status;
  for (const auto& [name, value] : reply.headers) response.set_header(name, value);
  response.set_content(reply.body, reply.type);
}

/// httplib's server on streams that have limits.
class LimitedServer : public httplib::Server {
 public:
  explicit LimitedServer(const HttpLimits& limits) : limits_(limits) {}
  /// Connections that wait for a request close; requests that are being read have to hurry.
  void end() { end_.give(); }

 private:
  bool process_and_close_socket(socket_t socket) override {
    {
      HttpStream stream(socket, limits_, end_, held_);
      serving.stream = &stream;
      serving.closes = serving.unread = false;
      const int seconds = serving.turns_away ? limits_.ending_seconds : limits_.seconds;
      bool open = true;
      while (open && stream.wait_for_request()) {
        stream.start_request(seconds);
        bool closes = false;
        open = process_request(stream, end_.given(), closes, nullptr);
        open = stream.reply() && open && !closes && !serving.closes && !end_.given();
        stream.end_request();
      }
      stream.end(serving.unread);
      serving.stream = nullptr;
    }
    ::close(socket);
    return true;
  }

  const HttpLimits& limits_;
  EndSignal end_;
  std::atomic<uint64_t> held_ = 0;
};

class HttplibServer : public HttpServer {
 public:
  HttplibServer(const HttpLimits& limits, HttpHandlers handlers)
      : limits_(limits), handlers_(std::move(handlers)), server_(limits_) {
    server_.new_task_queue = [this] { return new Connections(limits_.connections); };
    server_.set_payload_max_length(limits_.body_bytes);
    server_.set_tcp_nodelay(true);
    // Another server at the same port is a mistake: no SO_REUSEPORT, which is httplib's default.
    server_.set_socket_options([this](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
      socket_ = socket;
    });
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          return refused_at_once(request, response) ? httplib::Server::HandlerResponse::Handled
                                                    : httplib::Server::HandlerResponse::Unhandled;
        });
    // What httplib refuses itself has no body yet.
    server_.set_error_handler([this](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty()) refuse(response, response.status);
    });
    server_.Get(".*", [this](const httplib::Request& request, httplib::Response& response) {
      fill(response, handlers_.answer(without_body(request)));
    });
    server_.Post(".*",
                 [this](const httplib::Request& request, httplib::Response& response,
                        const httplib::ContentReader& read) { post(request, response, read); });
  }

  int bind(const std::string& host, int port) override {
    const int bound = port == 0                          ? server_.bind_to_any_port(host)
                      : server_.bind_to_port(host, port) ? port
                                                         : -1;
    if (bound < 0) {
      fail(
          "cannot listen at {} port {}: is another server there, or is that no address of this "
          "machine?",
          printable(host), port);
    }
    // httplib lets five connections wait to be accepted; of more that come at once, some would be
    // lost and tried again after seconds.
    constexpr int kBacklog = 512;
    ::listen(socket_, kBacklog);
    return bound;
  }
  void run() override { server_.listen_after_bind(); }
  /// Before it listens, httplib cannot be stopped; and it may be told only once.
  void stop() override {
    if (!server_.is_running() || stopped_.exchange(true)) return;
    server_.end();
    server_.stop();
  }

 private:
  /// Refuses a request, of which there may be more to come.
  void refuse(httplib::Response& response, int status, const std::string& why = {}) {
    // Why no more was read says more than what httplib made of that.
    const int unread = serving.stream->refused();
    if (unread == 0) {
      fill(response, handlers_.refuse(status, why));
    } else if (unread == 503) {
      fill(response, handlers_.refuse(503,
                                      "the requests that are here already are too large for "
                                      "more; try again"));
    } else {
      fill(response, handlers_.refuse(unread, {}));
    }
    close_after(response, true);
  }
  static void close_after(httplib::Response& response, bool unread) {
    response.set_header("Connection", "close");
    serving.closes = true;
    serving.unread = unread;
  }

  bool refused_at_once(const httplib::Request& request, httplib::Response& response) {
    const bool posts = request.method == "POST";
    const auto length = request.get_header_value<uint64_t>("Content-Length");
    const bool has_body = length > 0 || request.has_header("Transfer-Encoding");
    if (!posts && request.method != "GET" && request.method != "HEAD") {
      refuse(response, 405, "only GET, HEAD and POST are known here");
    } else if (std::any_of(request.path.begin(), request.path.end(),
                           [](unsigned char c) { return c < ' '; })) {
      refuse(response, 404);
    } else if (posts && length > limits_.body_bytes) {
      refuse(response, 413);
    } else if (serving.turns_away && !posts) {
      refuse(response, 503);
      serving.unread = has_body;
    } else {
      // A body that nobody wants would be taken for the next request.
      if (!posts && has_body) close_after(response, true);
      return false;
    }
    return true;
  }

  static HttpRequest without_body(const httplib::Request& request) {
    HttpRequest made{request.method, request.path, {}, {}};
    for (const auto& [name, value] : request.params) made.parameters.emplace(name, value);
    return made;
  }

  void post(const httplib::Request& request, httplib::Response& response,
            const httplib::ContentReader& read) {
    HttpRequest made = without_body(request);
    int refused = 0;
    const bool complete =
        request.is_multipart_form_data() ? read_form(read, made, refused) : read_body(read, made);
    if (!complete) {
      // What httplib found wrong stands in the response.
      refuse(response, refused != 0 ? refused : response.status >= 400 ? response.status : 400);
    } else if (serving.turns_away) {
      // The body was read even so: closing before that would take the reply from the client.
      fill(response, handlers_.refuse(503, {}));
      close_after(response, false);
    } else {
      fill(response, handlers_.answer(std::move(made)));
    }
  }

  static bool read_body(const httplib::ContentReader& read, HttpRequest& made) {
    made.files.push_back({});
    return read([&](const char* data, size_t length) {
      if (!serving.turns_away) made.files.front().content.append(data, length);
      return true;
    });
  }

  bool read_form(const httplib::ContentReader& read, HttpRequest& made, int& refused) const {
    std::string* into = nullptr;
    const size_t most_fields = 64;
    return read(
        [&](const httplib::MultipartFormData& part) {
          if (!part.filename.empty()) {
            made.files.push_back({part.filename, {}});
            into = &made.files.back().content;
          } else {
            into = &made.parameters.emplace(part.name, std::string())->second;
          }
          if (made.files.size() > size_t(limits_.files) || made.parameters.size() > most_fields) {
            refused = 413;
          }
          return refused == 0;
        },
        [&](const char* data, size_t length) {
          if (into && !serving.turns_away) into->append(data, length);
          return true;
        });
  }

  HttpLimits limits_;
  HttpHandlers handlers_;
  socket_t socket_ = INVALID_SOCKET;  // that listens
  LimitedServer server_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) HttpServer* sact_http_server(
    const HttpLimits& limits, HttpHandlers&& handlers) {
  return new HttplibServer(limits, std::move(handlers));
}

}  // namespace sact::serve
