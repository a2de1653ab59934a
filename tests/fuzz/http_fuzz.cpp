// Fuzz target: any bytes on a connection are requests that keep to the server's limits, or refused,
// and the server closes the connection.
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "serve/http.h"

namespace {

using namespace sact::serve;

constexpr HttpLimits kLimits{.body_bytes = 8192, .all_body_bytes = 16384, .files = 4};

int client = -1;  // its end of the connection

/// Takes what the server has sent so far, so that it need not wait for that.
void take_replies() {
  char replies[4096];
  while (::recv(client, replies, sizeof replies, MSG_DONTWAIT) > 0) continue;
}

HttpReply answer(const HttpRequest& request) {
  take_replies();
  size_t bytes = 0;
  for (const HttpFile& file : request.files) bytes += file.content.size();
  SACT_ASSERT(request.files.size() <= size_t(kLimits.files) && bytes <= kLimits.body_bytes);
  SACT_ASSERT(request.files.empty() || request.method == "POST");
  return {200, "text/plain", std::to_string(bytes), {}};
}

HttpReply refuse(int status, const std::string& why) {
  take_replies();
  SACT_ASSERT(status >= 400 && status < 600);
  return {status, "text/plain", why, {}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<HttpServer> server(sact_http_server(kLimits, {answer, refuse}));
  int ends[2];
  SACT_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  client = ends[1];
  // As much as the system keeps for a connection, which is more than a target is given.
  static_cast<void>(::send(client, data, size, MSG_NOSIGNAL | MSG_DONTWAIT));
  ::shutdown(client, SHUT_WR);
  server->serve(ends[0]);
  ::close(client);
  return 0;
}
