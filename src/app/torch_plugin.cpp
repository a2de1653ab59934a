#include "app/torch_plugin.h"

#include <stdlib.h>

#include "base/component.h"
#include "base/error.h"
#include "base/start.h"
#include "base/threads.h"

namespace sact::app {
namespace {

constexpr char kFile[] = "libsact_torch.so";

}  // namespace

const train::TorchPlugin* find_torch_plugin() {
  const std::filesystem::path path = find_part(kFile);
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
  // OpenBLAS starts its threads when it is loaded, and ends the program where it gets none.
  expect_threads(available_threads());
  const auto entry = reinterpret_cast<decltype(&train::sact_torch_plugin)>(
      open_component(path, "LibTorch", "sact_torch_plugin"));
  return entry();
}

const train::TorchPlugin& torch_plugin() {
  const train::TorchPlugin* plugin = find_torch_plugin();
  if (!plugin) {
    fail(
        "this command needs LibTorch, and this build of sact is without it ({}); install the "
        "package sact-torch, or build with -DSACT_TRAIN=ON",
        why_no_part(kFile));
  }
  return *plugin;
}

}  // namespace sact::app
