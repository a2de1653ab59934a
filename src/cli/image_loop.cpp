#include "cli/image_loop.h"

#include <algorithm>
#include <new>

#include "base/log.h"
#include "base/memory.h"
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

std::vector<Input> inputs_of(const std::vector<std::string>& arguments,
                             const std::filesystem::path& excluded, const Shard& shard,
                             Skipped& skipped) {
  std::vector<Input> inputs = expand_inputs(arguments, excluded, &skipped);
  number_inputs(inputs);
  keep_shard(inputs, shard);
  return inputs;
}

int images_at_a_time(size_t images, int threads, int64_t bytes) {
  if (log_level() >= LogLevel::kVerbose) return 1;  // what is told of layers is of one image
  const uint64_t most = std::min<uint64_t>(images, uint64_t(threads));
  const uint64_t affordable = available_memory() / 2 / uint64_t(std::max<int64_t>(bytes, 1));
  return int(std::max<uint64_t>(1, std::min(most, affordable)));
}

}  // namespace sact::cli
