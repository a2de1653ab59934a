// What all commands share: how one is declared, the common options, and printing.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace sact::cli {

/// Options that several commands have.
struct CommonOptions {
  bool json = false;
  int threads = 0;  // 0: all that this process may use
  std::string device = "cpu";
};

/// A command runs and returns the exit status.
using Action = std::function<int()>;

/// Declares a command on `app`; `action` receives what to run when the command was given.
void declare_new(CLI::App& app, Action& action);
void declare_info(CLI::App& app, Action& action);
void declare_predict(CLI::App& app, Action& action);
void declare_detect(CLI::App& app, Action& action);
void declare_train(CLI::App& app, Action& action);
void declare_train_detector(CLI::App& app, Action& action);
void declare_adapt(CLI::App& app, Action& action);
void declare_eval(CLI::App& app, Action& action);
void declare_bench(CLI::App& app, Action& action);
void declare_calibrate(CLI::App& app, Action& action);
void declare_baseline(CLI::App& app, Action& action);
void declare_table(CLI::App& app, Action& action);
void declare_import(CLI::App& app, Action& action);
void declare_export(CLI::App& app, Action& action);
void declare_synth(CLI::App& app, Action& action);
void declare_saliency(CLI::App& app, Action& action);
void declare_serve(CLI::App& app, Action& action);
void declare_coco_eval(CLI::App& app, Action& action);
void declare_doctor(CLI::App& app, Action& action);
void declare_help(CLI::App& app, Action& action);
void declare_generate_docs(CLI::App& app, Action& action);

/// --json and --quiet, which every command has. --quiet works on log_level() when it is parsed.
void add_output_options(CLI::App& command, CommonOptions& options);
/// Those that only commands have which use them.
void add_threads_option(CLI::App& command, CommonOptions& options);
void add_device_option(CLI::App& command, CommonOptions& options);
/// All of the above.
void add_common_options(CLI::App& command, CommonOptions& options);

/// Sets the text below the options: examples, and after an empty line what else there is to say.
inline constexpr const char* kExamples = "Examples";
void set_examples(CLI::App& command, std::string_view examples);

/// Checks nothing; tells completion how an argument may begin, as "epochs=" does.
inline constexpr const char* kBeginsWith = "begins with ";
CLI::Validator begins_with(const std::vector<std::string>& words);

/// Checks that an option is a number in [low, high]; CLI::Range lets "nan" pass.
CLI::Validator number_between(double low, double high);
/// Accepts what parse_size() does.
CLI::Validator image_size();

/// "f32", "f16" or "bf16", which the option's check has made sure of.
io::Dtype storage_dtype(const std::string& name);

/// Prints "sact: error: ..." to standard error: the first line of the message, without control
/// characters that a file name or a label may carry.
void print_error(std::string_view message);

/// Standard output cannot be written any more.
class OutputError : public Error {
 public:
  using Error::Error;
};

/// Prints a line of results to standard output; a full disk or closed pipe there is an error.
void print(std::string_view text);
/// The same for lines that end themselves.
void print_lines(std::string_view lines);
/// A line that helps to go on, such as "next: sact info m.safetensors"; not with --quiet.
void print_hint(std::string_view text);
/// Hands on what was printed so far by any means; throws when it could not all be written.
void flush_output();

/// The version of what --json prints (docs/json.md): it grows when a key changes its meaning.
inline constexpr int kJsonSchema = 1;
/// The object with "schema" before all else.
io::Json with_schema(const io::Json& json);
/// Prints the one object of a command's --json, with its schema.
void print_json(const io::Json& json);

}  // namespace sact::cli
