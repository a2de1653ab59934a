#include <dlfcn.h>

#include "base/error.h"
#include "base/program.h"
#include "serve/http.h"

namespace sact::serve {

std::unique_ptr<HttpServer> open_http_server(const HttpLimits& limits, HttpHandlers handlers) {
  const std::filesystem::path path = part_of_program("libsact_http.so");
  if (path.empty()) {
    fail(
        "this build of sact has no HTTP server (libsact_http.so is not beside the program); "
        "install "
        "libcpp-httplib-dev and build again");
  }
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail("the HTTP server cannot be loaded: {}", printable(::dlerror(), 300));
  auto* entry = reinterpret_cast<decltype(&sact_http_server)>(::dlsym(library, "sact_http_server"));
  if (!entry) fail("{}: does not belong to this build of sact", path.string());
  return std::unique_ptr<HttpServer>(entry(limits, std::move(handlers)));
}

}  // namespace sact::serve
