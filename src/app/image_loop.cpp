#include "app/image_loop.h"

#include <fmt/format.h>

#include <new>
#include <string_view>

#include "base/error.h"
#include "base/foreign_error.h"

namespace sact::app {
namespace {

std::string line_about(const std::string& path, std::string_view message) {
  return message.find(path) == message.npos ? fmt::format("{}: {}", path, message)
                                            : std::string(message);
}

}  // namespace

std::string failure_of(const Input& input, const std::function<void()>& work) {
  const std::string path = input.path.string();
  try {
    if (!input.error.empty()) throw Error(input.error);
    work();
    return {};
  } catch (const std::bad_alloc&) {
    return path + ": not enough memory for this image";
  } catch (const Error& error) {
    return line_about(path, error.what());
  } catch (const std::exception& error) {
    return line_about(path, message_of(error));
  }
}

}  // namespace sact::app
