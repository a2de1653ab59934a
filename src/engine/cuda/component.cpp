#include "engine/cuda/component.h"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace sact::engine {
namespace {

namespace fs = std::filesystem;

constexpr char kFile[] = "libsact_cuda.so";

/// Beside the program or library that has this code, or where both are installed. A program's name
/// without a slash was found in PATH: a file of that name here is another one.
fs::path component_path() {
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<const void*>(&has_cuda_component), &info) == 0) return {};
  std::error_code error;
  const bool has_place = std::string_view(info.dli_fname).find('/') != std::string_view::npos;
  const fs::path file =
      has_place ? fs::canonical(info.dli_fname, error) : fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path here = file.parent_path();
  for (const char* folder : {".", "../lib/sact", "sact", "../sact"}) {
    const fs::path path = here / folder / kFile;
    if (fs::exists(path, error)) return path;
  }
  return {};
}

const CudaPlugin& open_component() {
  const fs::path path = component_path();
  if (path.empty()) {
    fail(
        "this build of sact is without the CUDA engine ({} is not beside it); install the package "
        "sact-cuda, or build with -DSACT_CUDA_ENGINE=ON where nvcc is",
        kFile);
  }
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail("the CUDA engine cannot be loaded: {}", printable(::dlerror(), 300));
  auto* entry = reinterpret_cast<decltype(&sact_cuda_plugin)>(::dlsym(library, "sact_cuda_plugin"));
  const CudaPlugin* plugin = entry ? entry() : nullptr;
  if (!plugin || std::string_view(plugin->build) != SACT_INTERFACE) {
    fail("{}: does not belong to this build of sact", path.string());
  }
  return *plugin;
}

class CudaBackend : public Backend {
 public:
  CudaBackend() {
    if (!has_cuda_component()) return;
    capabilities_.types = {{"cuda", Precision::kFloat32},
                           {"cuda", Precision::kBFloat16},
                           {"cuda", Precision::kFloat16}};
    capabilities_.prescribes_units = true;
    capabilities_.steers = true;
  }

  std::string name() const override { return "cuda"; }
  const Capabilities& capabilities() const override { return capabilities_; }
  std::shared_ptr<const LoadedNetwork> load(const NetworkSource& source,
                                            const LoadOptions& options) const override {
    return cuda_component().load(source, options);
  }

 private:
  Capabilities capabilities_;
};

}  // namespace

bool has_cuda_component() {
  return !component_path().empty();
}

const CudaPlugin& cuda_component() {
  static const CudaPlugin& plugin = open_component();
  return plugin;
}

std::unique_ptr<const Backend> make_cuda_backend() {
  return std::make_unique<CudaBackend>();
}

}  // namespace sact::engine
