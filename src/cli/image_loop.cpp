#include "cli/image_loop.h"

#include <algorithm>
#include <new>

#include "cli/command.h"

namespace sact::cli {
namespace {

std::string line_about(const std::string& path, std::string message) {
  if (message.find(path) == message.npos) message = path + ": " + message;
  message.resize(std::min(message.size(), message.find('\n')));
  return message;
}

}  // namespace

std::string failure_of(const Input& input, const std::function<void()>& work) {
  const std::string path = input.path.string();
  std::string message;
  try {
    if (!input.error.empty()) throw Error(input.error);
    work();
    return {};
  } catch (const OutputError&) {
    throw;
  } catch (const std::bad_alloc&) {
    message = path + ": not enough memory for this image";
  } catch (const std::exception& error) {
    message = line_about(path, error.what());
  }
  print_error(message);
  return message;
}

}  // namespace sact::cli
