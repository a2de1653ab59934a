// sact generate-docs: manual pages, completions of shells and docs/commands.md, all made from what
// the commands declare. The build runs it; it is not listed in the help.
#include <filesystem>
#include <memory>

#include "base/file.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "cli/man_page.h"

namespace sact::cli {
namespace {

/// The help of every command as one page of Markdown.
std::string commands_page(const CommandDescription& program) {
  constexpr int kColumns = 100;
  std::string text =
      "# Commands\n\nMade from `sact help COMMAND` by `scripts/update-docs`; a test fails when an "
      "option is missing here.\n";
  for (const CommandDescription* command : all_commands(program)) {
    text +=
        fmt::format("\n## {}\n\n```\n{}```\n", command->name, help_text(*command, kColumns, false));
  }
  return text;
}

int run(const CLI::App& app, const std::filesystem::path& folder) {
  const CommandDescription program = describe(app);
  const std::filesystem::path pages = folder / "man1";
  make_directories(pages);
  for (const CommandDescription* command : all_commands(program)) {
    write_file_atomically(pages / (page_name(*command) + ".1"), man_page(*command));
  }
  write_file_atomically(folder / "sact.bash", bash_completion(program));
  write_file_atomically(folder / "_sact", zsh_completion(program));
  write_file_atomically(folder / "commands.md", commands_page(program));
  return 0;
}

}  // namespace

void declare_generate_docs(CLI::App& app, Action& action) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "generate-docs", "Write manual pages, completions and the list of commands");
  command->add_option("folder", *folder, "Where to write them")->required()->type_name("DIR");
  command->callback(
      [folder, &app, &action] { action = [folder, &app] { return run(app, *folder); }; });
}

}  // namespace sact::cli
