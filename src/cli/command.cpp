#include "cli/command.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/error.h"
#include "base/progress.h"
#include "base/threads.h"

namespace sact::cli {

void add_common_options(CLI::App& command, CommonOptions& options) {
  command.add_flag("--json", options.json, "Print one JSON object instead of text");
  command.add_option("--threads", options.threads, "CPU threads (default: all available)")
      ->check(CLI::Range(1, kMaxThreads));
  command.add_option("--device", options.device, "Where to run: cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
}

void set_examples(CLI::App& command, std::string_view examples) {
  command.footer("Examples:\n" + std::string(examples));
}

CLI::Validator number_between(double low, double high) {
  return CLI::Validator(
      [low, high](const std::string& text) {
        double value = 0;
        const bool number = CLI::detail::lexical_cast(text, value);
        if (number && value >= low && value <= high) return std::string();
        return fmt::format("'{}' is not a number from {} to {}", printable(text), low, high);
      },
      fmt::format("FLOAT in [{} - {}]", low, high));
}

io::Dtype storage_dtype(const std::string& name) {
  return name == "f16" ? io::Dtype::kF16 : name == "bf16" ? io::Dtype::kBF16 : io::Dtype::kF32;
}

void print_error(std::string_view message) {
  constexpr size_t kLongest = 2000;
  const std::string line = printable(message.substr(0, message.find("\n")), kLongest);
  print_above_progress("sact: error: " + line + "\n");
}

void print(std::string_view text) {
  const auto write = [text] {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fputc('\n', stdout);
    std::fflush(stdout);  // what goes wrong is seen below
  };
  static const bool terminal = isatty(STDOUT_FILENO) == 1;
  terminal ? write_above_progress(write) : write();
  flush_output();
}

void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    throw OutputError("results cannot be written to standard output: " + errno_text(errno));
  }
}

void print_json(const io::Json& json) {
  print(io::dump_json(json, 2));
}

}  // namespace sact::cli
