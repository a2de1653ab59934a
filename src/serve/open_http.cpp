#include "base/component.h"
#include "base/error.h"
#include "serve/http.h"

namespace sact::serve {

std::unique_ptr<HttpServer> open_http_server(const HttpLimits& limits, HttpHandlers handlers) {
  constexpr char kFile[] = "libsact_http.so";
  const std::filesystem::path path = find_part(kFile);
  if (path.empty()) {
    fail("this build of sact has no HTTP server ({}); install libcpp-httplib-dev and build again",
         why_no_part(kFile));
  }
  const auto entry = reinterpret_cast<decltype(&sact_http_server)>(
      open_component(path, "the HTTP server", "sact_http_server"));
  return std::unique_ptr<HttpServer>(entry(limits, std::move(handlers)));
}

}  // namespace sact::serve
