// What all commands share: how one is declared, the common options, and printing.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace sact::cli {

/// Options that every command has.
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
void declare_eval(CLI::App& app, Action& action);
void declare_bench(CLI::App& app, Action& action);
void declare_baseline(CLI::App& app, Action& action);
void declare_table(CLI::App& app, Action& action);
void declare_export(CLI::App& app, Action& action);
void declare_synth(CLI::App& app, Action& action);
void declare_saliency(CLI::App& app, Action& action);
void declare_coco_eval(CLI::App& app, Action& action);
void declare_doctor(CLI::App& app, Action& action);

/// Adds --json, --threads and --device, and sets help text with examples.
void add_common_options(CLI::App& command, CommonOptions& options);
void set_examples(CLI::App& command, std::string_view examples);

/// Checks that an option is a number in [low, high]; CLI::Range lets "nan" pass.
CLI::Validator number_between(double low, double high);

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
/// Hands on what was printed so far by any means; throws when it could not all be written.
void flush_output();
void print_json(const io::Json& json);

}  // namespace sact::cli
