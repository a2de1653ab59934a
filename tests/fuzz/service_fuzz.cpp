// Fuzz target: any request to the service, as HTTP hands it on, has an answer that says whose fault
// it is when there is none. The first line is "METHOD PATH"; then come parameters as NAME=VALUE,
// files as "file=NAME", an empty line, and the bytes of the first file, of which the n-th has the
// n-th part.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "serve/service.h"
#include "support/random_model.h"
#include "support/small_detector.h"
#include "support/temporary.h"

namespace {

using namespace sact;

std::string_view line_of(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

serve::HttpRequest request_of(std::string_view text) {
  serve::HttpRequest request;
  const std::string_view first = line_of(text);
  const size_t blank = std::min(first.find(' '), first.size());
  request.method = first.substr(0, blank);
  request.path = first.substr(std::min(blank + 1, first.size()));
  for (std::string_view line = line_of(text); !line.empty(); line = line_of(text)) {
    const size_t sign = std::min(line.find('='), line.size());
    const std::string name(line.substr(0, sign));
    const std::string value(line.substr(std::min(sign + 1, line.size())));
    if (name == "file") {
      request.files.push_back({value, {}});
    } else {
      request.parameters.emplace(name, value);
    }
  }
  for (size_t i = 0; i < request.files.size(); ++i) {
    request.files[i].content = text.substr(0, text.size() / (i + 1));
  }
  return request;
}

/// A service of a small classifier and a small detector.
class Server {
 public:
  Server() : models_({classifier(), detector()}, {.threads = 1}), service_(models_, limits()) {}
  serve::HttpReply answer(serve::HttpRequest request) {
    return service_.answer(std::move(request));
  }

 private:
  std::string written(const char* name, const ModelSpec& spec) {
    const auto path = directory_ / name;
    write_model(path, spec, test::random_weights(spec, 1));
    return path.string();
  }
  std::string classifier() {
    ModelSpec spec = test::tiny_spec(Halting::kSact, {1, 2});
    spec.stem = Stem::kSmall;
    spec.input.size = 32;
    return written("c.safetensors", spec);
  }
  std::string detector() {
    return written("d.safetensors", spec_from_json(test::kSmallDetector, "detector"));
  }
  static serve::ServiceLimits limits() {
    serve::ServiceLimits limits;
    limits.queue.waiting = 4;
    limits.run.max_pixels = 1 << 14;
    limits.run.max_side = 128;
    limits.threads = 1;
    return limits;
  }

  test::TemporaryDirectory directory_;
  serve::Models models_;
  serve::Service service_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Server server;
  const serve::HttpReply reply =
      server.answer(request_of({reinterpret_cast<const char*>(data), size}));
  // 500 is a mistake of the server's own, 503 and 504 that it had no memory or time.
  SACT_ASSERT(reply.status == 200 || (reply.status >= 400 && reply.status < 500));
  if (reply.type == "application/json") io::parse_json(reply.body, "the reply");
  return 0;
}
