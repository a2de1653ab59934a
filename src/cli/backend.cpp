#include "cli/backend.h"

#include "base/threads.h"
#include "cli/torch_plugin.h"

namespace sact::cli {

std::unique_ptr<Runner> make_runner(const ModelFile& model, const CommonOptions& options) {
  const int threads = thread_count(options.threads);
  return torch_plugin().make_runner(model, options.device, threads);
}

}  // namespace sact::cli
