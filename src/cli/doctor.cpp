// sact doctor: checks the machine and this build, and says what would help.
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "app/torch_plugin.h"
#include "base/text.h"
#include "base/threads.h"
#include "cli/command.h"
#include "engine/cpu/kernel_choice.h"
#include "engine/cpu/peak.h"
#include "engine/cuda/component.h"
#include "io/mat.h"

namespace sact::cli {
namespace {

struct Check {
  std::string name, found, hint;  // a hint means: this could be better
};

std::string first_match(const char* file, std::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(key)) {
      const size_t colon = line.find(':');
      const size_t start = line.find_first_not_of(" \t", colon + 1);
      return colon == line.npos || start == line.npos ? "" : line.substr(start);
    }
  }
  return {};
}

Check check_processor() {
  const std::string model = first_match("/proc/cpuinfo", "model name");
  const std::string flags = " " + first_match("/proc/cpuinfo", "flags") + " ";
  std::string known;
  for (const char* flag :
       {"avx2", "fma", "avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16", "amx_int8"}) {
    if (flags.find(" " + std::string(flag) + " ") != flags.npos) {
      known += (known.empty() ? "" : " ") + std::string(flag);
    }
  }
  return {"processor",
          fmt::format("{} ({})", model.empty() ? "unknown" : model,
                      known.empty() ? "no known vector extensions" : known),
          {}};
}

Check check_threads() {
  const int available = available_threads();
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  Check check{"threads", fmt::format("{} available of {} processors", available, online), {}};
  if (available < online)
    check.hint = "an affinity mask or a container's quota limits this process";
  return check;
}

Check check_memory() {
  const std::string kilobytes = first_match("/proc/meminfo", "MemAvailable");
  const uint64_t available = std::strtoull(kilobytes.c_str(), nullptr, 10) * 1024;
  Check check{"memory", format_bytes(available) + " available", {}};
  if (available < (uint64_t{2} << 30)) check.hint = "large networks and images need about 2 GiB";
  return check;
}

Check check_huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string text;
  std::getline(file, text);
  const size_t open = text.find('['), close = text.find(']');
  if (open == text.npos || close == text.npos) return {"huge pages", "not known", {}};
  Check check{"huge pages", text.substr(open + 1, close - open - 1), {}};
  if (check.found == "never") {
    check.hint = "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
  }
  return check;
}

Check check_disk() {
  struct statvfs status {};
  if (statvfs(".", &status) != 0) return {"disk", "not known", {}};
  const uint64_t free = uint64_t(status.f_bavail) * status.f_frsize;
  Check check{"disk", format_bytes(free) + " free here", {}};
  if (access(".", W_OK) != 0) {
    check.hint = "this directory cannot be written; give --out somewhere else";
  } else if (free < (uint64_t{1} << 30)) {
    check.hint = "little space for models and pictures";
  }
  return check;
}

Check check_engine() {
  std::vector<std::string_view> names;
  for (const kernels::Table* table : kernels::available_tables()) names.push_back(table->name);
  const std::string available = fmt::format("available: {}", fmt::join(names, ", "));
  try {
    return {"engine", fmt::format("{} kernels; {}", engine::kernel_table().name, available), {}};
  } catch (const Error& error) {  // SACT_ISA names another
    return {"engine", "no kernels; " + available, error.what()};
  }
}

/// Which kernels run each type of operands, why, and the best that the processor does with them.
void check_types(int threads, std::vector<Check>& checks) {
  constexpr int kMeasurements = 5;
  for (const kernels::OperandType& type : kernels::operand_types()) {
    const engine::KernelChoice choice = engine::kernel_choice(type.type);
    engine::Peak peak(*choice.table, choice.type, threads);
    double best = 0;
    for (int i = 0; i < kMeasurements; ++i) best = std::max(best, peak.measure());
    checks.push_back({fmt::format("{} kernels", type.name),
                      fmt::format("{}, {}; at best {:.0f} GFLOP/s with {}", choice.table->name,
                                  choice.why, best * 1e-9, pluralize(threads, "thread")),
                      {}});
  }
}

Check check_matlab() {
  return {
      "MATLAB files",
      io::mat_reader().empty() ? "not in this build (sact_mat_reader)" : "read by sact saliency",
      {}};
}

/// The GPU as the CUDA engine finds it.
Check check_gpu() {
  if (!engine::has_cuda_component()) return {"GPU", "the CUDA engine is not in this build", {}};
  try {
    const engine::CudaFacts facts = engine::cuda_component().facts();
    return {"GPU",
            fmt::format("{}, compute capability {}, {}", printable(facts.name), facts.capability,
                        format_bytes(uint64_t(facts.memory))),
            {}};
  } catch (const Error& error) {  // no GPU is nothing to mend
    return {"GPU", error.what(), {}};
  }
}

void check_torch(const CommonOptions& options, std::vector<Check>& checks) {
  const train::TorchPlugin* plugin = app::find_torch_plugin();
  if (!plugin) {
    checks.push_back({"LibTorch", "not in this build", {}});
    return;
  }
  const auto facts = plugin->facts(thread_count(options.threads));
  checks.push_back(
      {"LibTorch", fmt::format("{}, {}", facts.version, pluralize(facts.threads, "thread")), {}});
  Check speed{"matrix product", fmt::format("{:.0f} GFLOP/s in 32 bits", facts.matmul_gflops), {}};
  if (facts.matmul_gflops < 10.0 * facts.threads) {
    speed.hint =
        "the machine is busy, or LibTorch uses the reference BLAS: apt-get install libopenblas-dev";
  }
  checks.push_back(speed);
  checks.push_back({"CUDA",
                    facts.cuda_devices ? pluralize(facts.cuda_devices, "device")
                                       : "no device that LibTorch can use",
                    {}});
}

int run(const CommonOptions& options) {
  std::vector<Check> checks = {check_processor(),  check_threads(), check_memory(),
                               check_huge_pages(), check_disk(),    check_engine()};
  if (checks.back().hint.empty()) check_types(thread_count(options.threads), checks);
  checks.push_back(check_gpu());
  checks.push_back(check_matlab());
  check_torch(options, checks);
  int hints = 0;
  io::Json rows = io::Json::array();
  for (const Check& check : checks) {
    hints += check.hint.empty() ? 0 : 1;
    io::Json row = {{"name", check.name}, {"ok", check.hint.empty()}, {"found", check.found}};
    if (!check.hint.empty()) row["hint"] = check.hint;
    rows.push_back(std::move(row));
  }
  if (options.json) {
    print_json({{"version", SACT_VERSION}, {"checks", std::move(rows)}, {"hints", hints}});
    return 0;
  }
  print(fmt::format("sact {}", SACT_VERSION));
  for (const Check& check : checks) {
    print(fmt::format("  {} {:<15} {}", check.hint.empty() ? "ok  " : "note", check.name,
                      check.found));
    if (!check.hint.empty()) print(fmt::format("       {:<15} {}", "", check.hint));
  }
  if (hints) {
    print(pluralize(hints, "thing") + " could be better");
  } else {
    print("everything looks fine");
    print_hint("next: sact new --depth 50 --halting sact --out m.safetensors");
  }
  return 0;
}

}  // namespace

void declare_doctor(CLI::App& app, Action& action) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* command = app.add_subcommand("doctor", "Check this machine and this build");
  add_threads_option(*command, *options);
  add_output_options(*command, *options);
  set_examples(*command, "  sact doctor\n  sact doctor --json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
