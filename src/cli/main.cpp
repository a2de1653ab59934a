// The program `sact`: finds the command, runs it, and turns every failure into one line.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>

#include "base/error.h"
#include "cli/command.h"
#include "cli/interrupt.h"

namespace {

constexpr int kFailed = 1;  // the work could not be done
constexpr int kUsage = 2;   // the command line makes no sense

int report(const std::string& message) {
  sact::cli::print_error(message);
  return kFailed;
}

int run(int argc, char** argv) {
  using namespace sact::cli;
  CLI::App app{
      "Residual networks that decide, position by position, how many layers each part of "
      "an image needs"};
  app.name("sact");
  app.set_version_flag("--version", std::string("sact ") + SACT_VERSION);
  app.require_subcommand(1);
  app.footer("Run 'sact COMMAND --help' for the options of a command and examples.");
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    std::string message = error.what(), name;
    for (const CLI::App* command = failed; !command->get_subcommands().empty();) {
      command = command->get_subcommands().back();
      name += " " + command->get_name();
    }
    if (name.empty() && !failed->remaining().empty()) {
      message = "there is no command '" + failed->remaining().front() + "'";
    }
    return "sact: " + message + "; see 'sact" + name + " --help'\n";
  });

  Action action;
  declare_new(app, action);
  declare_info(app, action);
  declare_predict(app, action);
  declare_detect(app, action);
  declare_train(app, action);
  declare_train_detector(app, action);
  declare_eval(app, action);
  declare_bench(app, action);
  declare_baseline(app, action);
  declare_table(app, action);
  declare_export(app, action);
  declare_synth(app, action);
  declare_saliency(app, action);
  declare_coco_eval(app, action);
  declare_doctor(app, action);

  try {
    app.parse(argc, argv);
    return action();
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) != 0) return kUsage;
    flush_output();  // help or version
    return EXIT_SUCCESS;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return report("not enough memory for this; try a smaller image, batch or network");
  } catch (const sact::Interrupted& interrupted) {
    report(interrupted.what());
    return sact::cli::interrupted_status();
  } catch (const std::exception& error) {
    return report(error.what());
  }
}
