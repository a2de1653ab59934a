// libsact_http.so: HTTP on sockets, by cpp-httplib.
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/start.h"
#include "serve/form.h"
#include "serve/hosts.h"
#include "serve/http.h"
#include "serve/http_stream.h"
#include "serve/words.h"

namespace sact::serve {
namespace {

/// What a thread that serves connections does now.
struct Serving {
  bool turns_away = false;       // its requests
  HttpStream* stream = nullptr;  // of its connection
  bool closes = false;           // the connection, after the reply
  bool unread = false;           // more of its request may come
  std::string content_type;      // of its request
};
thread_local Serving serving;

/// A thread for each connection that is served. Connections beyond them are told to come back by
/// two more threads; where even these are behind, accepting waits.
class Connections : public httplib::TaskQueue {
 public:
  explicit Connections(int served) : free_(served) {
    // Connections are accepted even when there is no memory for more.
    served_.reserve(size_t(served));
    others_.reserve(kMostOthers);
    try {
      for (int i = 0; i < served; ++i) start(served_, false);
      for (int i = 0; i < 2; ++i) start(others_, true);
    } catch (...) {
      shutdown();
      throw;
    }
  }
  ~Connections() override { shutdown(); }

  void enqueue(std::function<void()> connection) override {
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
    threads_.clear();
  }

 private:
  using Queue = std::vector<std::function<void()>>;
  static constexpr size_t kMostOthers = 32;

  void start(Queue& queue, bool away) {
    start_thread(
        threads_, [this, &queue, away] { work(queue, away); }, "--connections");
  }

  void work(Queue& queue, bool away) {
    serving.turns_away = away;
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return !queue.empty() || ended_; });
      if (queue.empty()) return;
      const std::function<void()> connection = std::move(queue.front());
      queue.erase(queue.begin());
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

void fill(httplib::Response& response, HttpReply reply) {
  response.status = reply.status;
  for (const auto& [name, value] : reply.headers) response.set_header(name, value);
  response.set_content(std::string(), reply.type);
  response.body = std::move(reply.body);
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Another server before this one must see the same bodies, or a part of one would be a request.
bool is_ambiguous(const httplib::Request& request) {
  const size_t lengths = request.get_header_value_count("Content-Length");
  if (lengths > 1 || (lengths == 1 && (request.has_header("Transfer-Encoding") ||
                                       !is_number(request.get_header_value("Content-Length"))))) {
    return true;
  }
  return std::any_of(request.headers.begin(), request.headers.end(), [](const auto& header) {
    return header.first.find_first_of(" \t") != std::string::npos;
  });
}

/// Whether a request has such a header for which `is_it` is true.
template <typename Is>
bool any_header(const httplib::Request& request, const char* name, const Is& is_it) {
  const auto [first, last] = request.headers.equal_range(name);
  return std::any_of(first, last, [&](const auto& header) { return is_it(header.second); });
}

/// httplib would unpack bodies, which nothing here limits.
bool is_packed(const httplib::Request& request) {
  return any_header(request, "Content-Encoding",
                    [](const std::string& coding) { return !same_word(coding, "identity"); });
}

/// Whether a page of another site has made the browser ask.
bool is_from_elsewhere(const httplib::Request& request, const std::string& host) {
  return any_header(request, "Origin",
                    [&](const std::string& origin) { return !is_own_page(origin, host); }) ||
         any_header(request, "Sec-Fetch-Site",
                    [](const std::string& site) { return same_word(site, "cross-site"); });
}

/// Whether only this machine can reach what listens here.
bool is_loopback(socket_t socket) {
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } address = {};
  socklen_t size = sizeof address;
  if (::getsockname(socket, &address.any, &size) != 0) return false;
  if (address.any.sa_family == AF_INET6) {
    const in6_addr& v6 = address.v6.sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
  }
  return address.any.sa_family == AF_INET && ntohl(address.v4.sin_addr.s_addr) >> 24 == 127;
}

/// httplib's server on streams that have limits.
class LimitedServer : public httplib::Server {
 public:
  using Refuse = std::function<HttpReply(int status)>;
  LimitedServer(const HttpLimits& limits, Refuse refuse)
      : limits_(limits), refuse_(std::move(refuse)) {}
  /// Connections that wait for a request close; requests that are being read have to hurry.
  void end() { end_.give(); }

  bool process_and_close_socket(socket_t socket) override {
    // Who is to be told to come back needs not hear it from a server that ends.
    if (!serving.turns_away || !end_.given()) {
      try {
        serve(socket);
      } catch (...) {
        // There is no memory even for a refusal: that ends this connection and no other.
      }
    }
    serving.stream = nullptr;
    ::close(socket);
    return true;
  }

 private:
  void serve(socket_t socket) {
    HttpStream stream(socket, limits_, end_, held_);
    serving.stream = &stream;
    serving.closes = serving.unread = false;
    const int seconds = serving.turns_away ? limits_.ending_seconds : limits_.seconds;
    bool open = true;
    while (open && stream.wait_for_request()) {
      stream.start_request(seconds);
      bool closes = false;
      open = process_request(stream, end_.given(), closes, nullptr);
      // httplib says nothing to a request whose first line does not come.
      if (!stream.has_reply() && stream.refused() != 0) refuse(stream);
      open = stream.reply() && open && !closes && !serving.closes && !end_.given();
      stream.end_request();
    }
    stream.end(serving.unread);
  }

  void refuse(HttpStream& stream) {
    const HttpReply reply = refuse_(stream.refused());
    const std::string text = fmt::format(
        "HTTP/1.1 {} Refused\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: "
        "close\r\n\r\n{}",
        reply.status, reply.type, reply.body.size(), reply.body);
    stream.write(text.data(), text.size());
    serving.closes = serving.unread = true;
  }

  const HttpLimits& limits_;
  const Refuse refuse_;
  EndSignal end_;
  std::atomic<uint64_t> held_ = 0;
};

class HttplibServer : public HttpServer {
 public:
  HttplibServer(const HttpLimits& limits, HttpHandlers handlers)
      : limits_(limits),
        handlers_(std::move(handlers)),
        hosts_(limits.hosts),
        server_(limits_, [this](int status) { return handlers_.refuse(status, {}); }) {
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
          serving.stream->end_head();
          // Ranges may overlap, and a short header ask for a reply of any length: all of it is
          // sent, as HTTP allows.
          auto& changed = const_cast<httplib::Request&>(request);
          changed.ranges.clear();
          // httplib would read forms itself, with regular expressions that take any time.
          serving.content_type = request.get_header_value("Content-Type");
          changed.headers.erase("Content-Type");
          return refused_at_once(request, response) ? httplib::Server::HandlerResponse::Handled
                                                    : httplib::Server::HandlerResponse::Unhandled;
        });
    // What httplib refuses itself has no body yet.
    server_.set_error_handler([this](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty()) refuse(response, response.status);
    });
    server_.Get(".*", [this](const httplib::Request& request, httplib::Response& response) {
      answer(without_body(request), response);
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
    hosts_.listens_at(host, is_loopback(socket_));
    return bound;
  }
  void run() override { server_.listen_after_bind(); }
  void serve(int socket) override { server_.process_and_close_socket(socket); }
  /// Before it listens, httplib cannot be stopped; and it may be told only once.
  void stop() override {
    if (!server_.is_running() || stopped_.exchange(true)) return;
    server_.end();
    server_.stop();
  }

 private:
  void answer(HttpRequest&& request, httplib::Response& response) {
    HttpStream& stream = *serving.stream;
    request.keep = [&stream](uint64_t bytes) { return stream.keep_reply(bytes); };
    HttpReply reply = handlers_.answer(std::move(request));
    stream.end_request();  // its bytes are gone, and what was kept for a reply is known
    stream.keep(reply.body.size());
    fill(response, std::move(reply));
  }

  /// Refuses a request, of which there may be more to come.
  void refuse(httplib::Response& response, int status, const std::string& why = {}) {
    // Why no more was read says more than what httplib made of that.
    const int unread = serving.stream->refused();
    if (unread == 0) {
      fill(response, handlers_.refuse(status, why));
    } else if (unread == 503) {
      fill(response, handlers_.refuse(503, kNoRoom));
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
    const bool chunked = request.has_header("Transfer-Encoding");
    const auto length = request.get_header_value<uint64_t>("Content-Length");
    const bool has_body = length > 0 || chunked;
    const size_t hosts = request.get_header_value_count("Host");
    const std::string host = request.get_header_value("Host");
    if (hosts > 1 || (hosts == 0 && request.version != "HTTP/1.0")) {
      refuse(response, 400, "a request has to say once which host it is for");
    } else if (hosts == 1 && !hosts_.allow(host)) {
      refuse(response, 421,
             "this server does not go by that name; --allow-host gives it more names");
    } else if (is_from_elsewhere(request, host)) {
      refuse(response, 403, "pages of other sites may not use this server");
    } else if (std::any_of(request.path.begin(), request.path.end(),
                           [](unsigned char c) { return c < ' '; })) {
      refuse(response, 404);
    } else if (!posts && request.method != "GET" && request.method != "HEAD") {
      // Which the address takes instead the service knows, and need not see the body for it.
      fill(response, handlers_.answer({request.method, request.path, {}, {}}));
      close_after(response, true);
    } else if (is_ambiguous(request)) {
      refuse(response, 400, "where the body of this request ends is not clear");
    } else if (chunked && !(request.get_header_value_count("Transfer-Encoding") == 1 &&
                            same_word(request.get_header_value("Transfer-Encoding"), "chunked"))) {
      refuse(response, 501, "of the transfer encodings only 'chunked' is known here");
    } else if (posts && !chunked && !request.has_header("Content-Length")) {
      refuse(response, 411, "a request with a body has to tell its length");
    } else if (is_packed(request)) {
      refuse(response, 415,
             "bodies with a Content-Encoding are not taken; send the image as it is");
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
    std::optional<FormReader> form;
    try {
      if (const auto boundary = boundary_of_form(serving.content_type)) {
        form.emplace(*boundary, size_t(limits_.files), made);
      } else {
        made.files.push_back({});
      }
    } catch (const Error& error) {
      return refuse(response, 400, error.what());
    }
    // Whatever httplib makes of what came, no more of it is kept than may come.
    uint64_t bytes = 0;
    bool too_large = false;
    const bool complete = read([&](const char* data, size_t length) {
      bytes += length;
      too_large = bytes > limits_.body_bytes;
      if (too_large || serving.turns_away) return !too_large;
      if (form) return form->take({data, length});
      made.files.front().content.append(data, length);
      return true;
    });
    if (too_large) {
      refuse(response, 413);
    } else if (form && form->status() != 0) {
      refuse(response, form->status(), form->why());
    } else if (!complete) {
      // What httplib found wrong stands in the response.
      refuse(response, response.status >= 400 ? response.status : 400);
    } else if (serving.turns_away) {
      // The body was read even so: closing before that would take the reply from the client.
      fill(response, handlers_.refuse(503, {}));
      close_after(response, false);
    } else if (form && !form->end()) {
      fill(response, handlers_.refuse(form->status(), form->why()));
    } else {
      answer(std::move(made), response);
    }
  }

  HttpLimits limits_;
  HttpHandlers handlers_;
  Hosts hosts_;
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
