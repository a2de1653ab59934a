// sact saliency: ponder cost maps as a model of where people look.
#include "cli/command.h"
#include "cli/saliency_options.h"

namespace sact::cli {

void declare_saliency(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("saliency", "Ponder cost maps as a model of where people look");
  command->require_subcommand(1);
  declare_saliency_eval(*command, action);
  declare_saliency_map(*command, action);
  declare_saliency_center(*command, action);
  set_examples(*command,
               "  sact saliency eval m.safetensors --data cat2000 --center cat2000/center.mat\n"
               "  sact saliency map m.safetensors photos/\n"
               "  sact saliency center --data cat2000");
}

}  // namespace sact::cli
