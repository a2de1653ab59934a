// Fuzz target: any bytes are a form or refused, and the same however they arrive. The first line is
// the Content-Type; the body follows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "fuzz/attempt.h"
#include "serve/form.h"

namespace {

using namespace sact::serve;

constexpr size_t kMostFiles = 4;

/// The status of a form that comes in pieces of so many bytes.
int read(const std::string& boundary, std::string_view body, size_t piece, HttpRequest& request) {
  FormReader reader(boundary, kMostFiles, request);
  for (size_t at = 0; at < body.size(); at += piece) {
    if (!reader.take(body.substr(at, piece))) break;
  }
  SACT_ASSERT(reader.end() == (reader.status() == 0));
  return reader.status();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(text.find('\n'), size);
  const std::string_view body = text.substr(std::min(line + 1, size));
  sact::test::attempt([&] {
    const auto boundary = boundary_of_form(text.substr(0, line));
    if (!boundary) return;
    HttpRequest whole, pieces;
    const int status = read(*boundary, body, body.size() + 1, whole);
    SACT_ASSERT(status == 0 || status == 400 || status == 413 || status == 431);
    SACT_ASSERT(read(*boundary, body, 1 + size % 7, pieces) == status);
    if (status != 0) return;
    SACT_ASSERT(whole.files.size() <= kMostFiles &&
                whole.parameters.size() <= FormReader::kMostFields);
    SACT_ASSERT(whole.parameters == pieces.parameters && whole.files.size() == pieces.files.size());
    size_t bytes = 0;
    for (size_t i = 0; i < whole.files.size(); ++i) {
      SACT_ASSERT(whole.files[i].name == pieces.files[i].name);
      SACT_ASSERT(whole.files[i].content == pieces.files[i].content);
      bytes += whole.files[i].content.size();
    }
    SACT_ASSERT(bytes <= body.size());
  });
  return 0;
}
