// Fuzz target: any bytes on a connection are requests that keep to the server's limits, or refused,
// and the server closes the connection.
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

#include "base/error.h"
#include "serve/http.h"

namespace {

using namespace sact::serve;

constexpr HttpLimits kLimits{.body_bytes = 8192, .all_body_bytes = 16384, .files = 4};

HttpReply answer(const HttpRequest& request) {
  size_t bytes = 0;
  for (const HttpFile& file : request.files) bytes += file.content.size();
  SACT_ASSERT(request.method == "GET" || request.method == "HEAD" || request.method == "POST");
  SACT_ASSERT(request.files.size() <= size_t(kLimits.files) && bytes <= kLimits.body_bytes);
  SACT_ASSERT(request.files.empty() || request.method == "POST");
  return {200, "text/plain", std::to_string(bytes), {}};
}

HttpReply refuse(int status, const std::string& why) {
  SACT_ASSERT(status >= 400 && status < 600);
  return {status, "text/plain", why, {}};
}

/// Sends everything, and takes all replies.
void ask(int socket, const uint8_t* data, size_t size) {
  for (size_t sent = 0; sent < size;) {
    const ssize_t now = ::send(socket, data + sent, size - sent, MSG_NOSIGNAL);
    if (now <= 0) break;  // the server may have closed it
    sent += size_t(now);
  }
  ::shutdown(socket, SHUT_WR);
  char replies[4096];
  while (::recv(socket, replies, sizeof replies, 0) > 0) continue;
  ::close(socket);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<HttpServer> server(sact_http_server(kLimits, {answer, refuse}));
  int ends[2];
  SACT_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  std::thread client(ask, ends[1], data, size);
  server->serve(ends[0]);
  client.join();
  return 0;
}
