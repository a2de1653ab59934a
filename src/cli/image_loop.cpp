#include "cli/image_loop.h"

#include <algorithm>
#include <new>

#include "base/log.h"
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
  try {
    if (!input.error.empty()) throw Error(input.error);
    work();
    return {};
  } catch (const OutputError&) {
    throw;
  } catch (const std::bad_alloc&) {
    return path + ": not enough memory for this image";
  } catch (const std::exception& error) {
    return line_about(path, error.what());
  }
}

int images_at_a_time(size_t images, int threads) {
  if (log_level() >= LogLevel::kVerbose) return 1;  // what is told of layers is of one image
  return int(std::clamp<size_t>(images, 1, size_t(threads)));
}

}  // namespace sact::cli
