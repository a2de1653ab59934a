#include "cli/command.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "base/threads.h"
#include "base/unicode.h"
#include "cli/description.h"
#include "cli/print_block.h"
#include "model/spec.h"

namespace sact::cli {

void add_output_options(CLI::App& command, CommonOptions& options) {
  command.add_flag("--json", options.json, "Print one JSON object instead of text")
      ->group(kCommonOptions);
  command
      .add_flag_callback(
          "-q,--quiet", [] { set_log_level(LogLevel::kQuiet); },
          "Print results and errors only: no progress, remarks or hints")
      ->group(kCommonOptions);
}

void add_threads_option(CLI::App& command, CommonOptions& options) {
  command.add_option("--threads", options.threads, "CPU threads (default: all available)")
      ->check(CLI::Range(1, kMaxThreads))
      ->group(kCommonOptions);
}

void add_device_option(CLI::App& command, CommonOptions& options) {
  command.add_option("--device", options.device, "Where to run the network")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str()
      ->group(kCommonOptions);
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  add_threads_option(command, options);
  add_device_option(command, options);
  add_output_options(command, options);
}

void set_examples(CLI::App& command, std::string_view examples) {
  command.footer(fmt::format("{}:\n{}", kExamples, examples));
}

CLI::Validator begins_with(const std::vector<std::string>& words) {
  return CLI::Validator([](const std::string&) { return std::string(); },
                        fmt::format("{}{{{}}}", kBeginsWith, fmt::join(words, ",")));
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

CLI::Validator image_size() {
  return CLI::Validator(
      [](const std::string& text) {
        try {
          parse_size(text);
          return std::string();
        } catch (const Error& error) {
          return std::string(error.what());
        }
      },
      "");
}

io::Dtype storage_dtype(const std::string& name) {
  return name == "f16" ? io::Dtype::kF16 : name == "bf16" ? io::Dtype::kBF16 : io::Dtype::kF32;
}

void print_error(std::string_view message) {
  constexpr size_t kLongest = 2000;
  const std::string line = printable(single_line(message), kLongest);
  const bool colour = colour_wanted(STDERR_FILENO);
  print_above_progress("sact: " + styled("error:", Style::kError, colour) + " " + line + "\n");
}

void print(std::string_view text) {
  print_block(single_line(text));
}

void print_block(std::string_view text) {
  const auto write = [text] {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fputc('\n', stdout);
    std::fflush(stdout);  // what goes wrong is seen below
  };
  static const bool terminal = isatty(STDOUT_FILENO) == 1;
  terminal ? write_above_progress(write) : write();
  flush_output();
}

void print_lines(std::string_view lines) {
  std::fwrite(lines.data(), 1, lines.size(), stdout);
  flush_output();
}

void print_hint(std::string_view text) {
  if (log_level() >= LogLevel::kInfo) print(text);
}

void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    throw OutputError("results cannot be written to standard output: " + errno_text(errno));
  }
}

io::Json with_schema(const io::Json& json) {
  io::Json object = {{"schema", kJsonSchema}};
  object.update(json);
  return object;
}

void print_json(const io::Json& json) {
  print_block(io::dump_json(with_schema(json), 2));
}

}  // namespace sact::cli
