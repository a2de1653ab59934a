#include "app/torch_plugin.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/program.h"

namespace sact::app {
const train::TorchPlugin* find_torch_plugin() {
  const std::filesystem::path path = part_of_program("libsact_torch.so");
  if (path.empty()) return nullptr;
  // OpenMP threads that wait for each other spin by default for milliseconds. On a machine with
  // other work that takes the processor from the very thread they wait for: 20 times slower was
  // seen. They shall go to sleep after microseconds; OpenMP reads this when the library brings it
  // in.
  ::setenv("GOMP_SPINCOUNT", "2000", /*overwrite=*/0);
  // Processes that look for each other: LibTorch logs every try; sact says in one line what is
  // wrong.
  ::setenv("GLOG_minloglevel", "3", /*overwrite=*/0);
  ::setenv("TORCH_CPP_LOG_LEVEL", "FATAL", /*overwrite=*/0);
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail("LibTorch cannot be loaded: {}", printable(::dlerror(), 300));
  auto* entry =
      reinterpret_cast<decltype(&train::sact_torch_plugin)>(::dlsym(library, "sact_torch_plugin"));
  if (!entry) fail("{}: does not belong to this build of sact", path.string());
  return entry();
}

const train::TorchPlugin& torch_plugin() {
  const train::TorchPlugin* plugin = find_torch_plugin();
  if (!plugin) {
    fail(
        "this command needs LibTorch, and this build of sact is without it (libsact_torch.so is "
        "not beside the program); install the package sact-torch, or build with -DSACT_TRAIN=ON");
  }
  return *plugin;
}

}  // namespace sact::app
