#include "app/image_loop.h"

#include <algorithm>
#include <new>

#include "base/error.h"

namespace sact::app {
namespace {

std::string line_about(const std::string& path, std::string message) {
  if (message.find(path) == message.npos) message = path + ": " + message;
  message.resize(std::min(message.size(), message.find('\n')));
  return message;
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
  } catch (const std::exception& error) {
    return line_about(path, error.what());
  }
}

}  // namespace sact::app
