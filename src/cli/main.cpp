// The program `sact`: finds the command, runs it, and turns every failure into one line.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>

#include "base/error.h"
#include "base/foreign_error.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/usage.h"

namespace {

constexpr int kFailed = 1;  // the work could not be done
constexpr int kUsage = 2;   // the command line makes no sense

int report(const std::string& message) {
  sact::cli::print_error(message);
  return kFailed;
}

/// The commands in the order and the groups in which the help lists them.
struct Declaration {
  const char* group;
  void (*declare)(CLI::App&, sact::cli::Action&);
};

constexpr const char *kRun = "Run a network", *kTrain = "Train", *kMeasure = "Measure and compare",
                     *kFiles = "Files and machine";

constexpr Declaration kCommands[] = {
    {kRun, sact::cli::declare_predict},     {kRun, sact::cli::declare_detect},
    {kRun, sact::cli::declare_saliency},    {kRun, sact::cli::declare_serve},
    {kTrain, sact::cli::declare_train},     {kTrain, sact::cli::declare_train_detector},
    {kTrain, sact::cli::declare_adapt},     {kTrain, sact::cli::declare_baseline},
    {kMeasure, sact::cli::declare_eval},    {kMeasure, sact::cli::declare_coco_eval},
    {kMeasure, sact::cli::declare_bench},   {kMeasure, sact::cli::declare_calibrate},
    {kMeasure, sact::cli::declare_table},   {kFiles, sact::cli::declare_new},
    {kFiles, sact::cli::declare_info},      {kFiles, sact::cli::declare_import},
    {kFiles, sact::cli::declare_export},    {kFiles, sact::cli::declare_synth},
    {kFiles, sact::cli::declare_doctor},    {kFiles, sact::cli::declare_help},
    {"", sact::cli::declare_generate_docs},
};

void add_version(CLI::App& command) {
  command.set_version_flag("--version", std::string("sact ") + SACT_VERSION, "Show the version");
  for (CLI::App* below : command.get_subcommands({})) add_version(*below);
}

void declare_all(CLI::App& app, sact::cli::Action& action) {
  app.name("sact");
  app.set_help_flag("-h,--help", "Show this help");
  app.footer("Run 'sact help COMMAND' for the options of a command and examples.");
  sact::cli::use_own_help(app);
  for (const auto& [group, declare] : kCommands) {
    declare(app, action);
    app.get_subcommands({}).back()->group(group);
  }
  add_version(app);
  app.require_subcommand(0, 1);  // none: the help is shown
}

int run(int argc, char** argv) {
  using namespace sact::cli;
  CLI::App app{
      "Residual networks that decide, position by position, how many layers each part of "
      "an image needs"};
  Action action;
  declare_all(app, action);
  try {
    app.parse(argc, argv);
    if (action) return action();
    print_lines(app.help());
    return EXIT_SUCCESS;
  } catch (const CLI::Success& asked) {  // for help or the version
    app.exit(asked);
    flush_output();
    return EXIT_SUCCESS;
  } catch (const CLI::ParseError& error) {
    print_error(usage_message(app, error));
    return kUsage;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // A file that may not grow any further (ulimit -f) is an error like a full disk, and no end
  // without a word that leaves half of it behind.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return report("not enough memory for this; try a smaller image, batch or network");
  } catch (const sact::Interrupted& interrupted) {
    report(interrupted.what());
    return sact::cli::interrupted_status();
  } catch (const sact::Error& error) {
    return report(error.what());
  } catch (const std::exception& error) {
    return report(sact::message_of(error));
  }
}
