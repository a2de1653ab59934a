// libsact_http.so: HTTP on sockets, by cpp-httplib.
#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "serve/http.h"

namespace sact::serve {
namespace {

/// The calling thread turns its requests away.
thread_local bool turns_away = false;

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
    turns_away = away;
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

class HttplibServer : public HttpServer {
 public:
  HttplibServer(const HttpLimits& limits, HttpHandlers handlers)
      : limits_(limits), handlers_(std::move(handlers)) {
    server_.new_task_queue = [this] { return new Connections(limits_.connections); };
    server_.set_payload_max_length(limits_.body_bytes);
    server_.set_keep_alive_max_count(100000);
    server_.set_keep_alive_timeout(limits_.idle_seconds);
    server_.set_read_timeout(limits_.idle_seconds);
    server_.set_write_timeout(limits_.idle_seconds);
    server_.set_tcp_nodelay(true);
    // Another server at the same port is a mistake: no SO_REUSEPORT, which is httplib's default.
    server_.set_socket_options([this](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
      socket_ = socket;
    });
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          // A body is read even so: closing before that would take the reply from the client.
          if (!turns_away || request.method == "POST")
            return httplib::Server::HandlerResponse::Unhandled;
          fill(response, handlers_.refuse(503));
          response.set_header("Connection", "close");
          return httplib::Server::HandlerResponse::Handled;
        });
    // What httplib refuses itself has no body yet.
    server_.set_error_handler([this](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      const int status = response.status;
      fill(response, handlers_.refuse(status));
      response.status = status;
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
    if (server_.is_running() && !stopped_.exchange(true)) server_.stop();
  }

 private:
  static HttpRequest without_body(const httplib::Request& request) {
    HttpRequest made{request.method, request.path, {}, {}};
    for (const auto& [name, value] : request.params) made.parameters[name] = value;
    return made;
  }

  void post(const httplib::Request& request, httplib::Response& response,
            const httplib::ContentReader& read) {
    HttpRequest made = without_body(request);
    constexpr int kSecondsOfOthers = 2;
    const auto deadline = std::chrono::steady_clock::now() +
                          std::chrono::seconds(turns_away ? kSecondsOfOthers : limits_.seconds);
    int refused = 0;
    uint64_t received = 0;
    const auto in_time = [&](size_t length) {
      received += length;
      if (received > limits_.body_bytes) refused = 413;
      if (std::chrono::steady_clock::now() > deadline) refused = 408;
      return refused == 0;
    };
    const bool complete = request.is_multipart_form_data() ? read_form(read, made, in_time, refused)
                                                           : read_body(read, made, in_time);
    if (!complete) {
      // What httplib found wrong stands in the response.
      const int status = refused != 0 ? refused : response.status >= 400 ? response.status : 400;
      fill(response, handlers_.refuse(status));
      response.set_header("Connection", "close");  // the rest of the body was not read
      return;
    }
    if (turns_away) {
      fill(response, handlers_.refuse(503));
      response.set_header("Connection", "close");
      return;
    }
    fill(response, handlers_.answer(made));
  }

  template <typename InTime>
  static bool read_body(const httplib::ContentReader& read, HttpRequest& made,
                        const InTime& in_time) {
    made.files.push_back({});
    return read([&](const char* data, size_t length) {
      made.files.front().content.append(data, length);
      return in_time(length);
    });
  }

  template <typename InTime>
  bool read_form(const httplib::ContentReader& read, HttpRequest& made, const InTime& in_time,
                 int& refused) const {
    std::string* into = nullptr;
    const size_t most_fields = 64;
    return read(
        [&](const httplib::MultipartFormData& part) {
          if (!part.filename.empty()) {
            made.files.push_back({part.filename, {}});
            into = &made.files.back().content;
          } else {
            into = &made.parameters[part.name];
          }
          if (made.files.size() > size_t(limits_.files) || made.parameters.size() > most_fields) {
            refused = 413;
          }
          return refused == 0;
        },
        [&](const char* data, size_t length) {
          if (into) into->append(data, length);
          return in_time(length);
        });
  }

  HttpLimits limits_;
  HttpHandlers handlers_;
  socket_t socket_ = INVALID_SOCKET;  // that listens
  httplib::Server server_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) HttpServer* sact_http_server(
    const HttpLimits& limits, HttpHandlers&& handlers) {
  return new HttplibServer(limits, std::move(handlers));
}

}  // namespace sact::serve
