#include "cli/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace sact::cli {
namespace {

/// Text that roff prints as it is. A hyphen is written so that it can be copied as a minus.
std::string escaped(std::string_view text) {
  std::string result;
  if (text.starts_with('.') || text.starts_with('\'')) result += "\\&";
  for (const char c : text) {
    switch (c) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '`':
        result += "\\(ga";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string bold(std::string_view text) {
  return fmt::format("\\fB{}\\fR", escaped(text));
}

std::string in_capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return char(std::toupper(c)); });
  return text;
}

std::string heading(const std::string& title) {
  return fmt::format(".SH \"{}\"\n", escaped(in_capitals(title)));
}

std::string term(const std::string& name, const std::string& text) {
  return fmt::format(".TP\n{}\n{}\n", name, escaped(text));
}

std::string option_term(const OptionDescription& option) {
  std::string names;
  for (const std::string& name : {option.short_name, option.long_name}) {
    if (!name.empty()) names += (names.empty() ? "" : ", ") + bold(name);
  }
  if (!option.value_name.empty()) {
    names += fmt::format("{}\\fI{}\\fR", names.empty() ? "" : " ", escaped(option.value_name));
  }
  return term(names, option.text);
}

std::string options_part(const std::string& title, const std::vector<OptionDescription>& options) {
  std::string text;
  for (const OptionDescription& option : options) text += option_term(option);
  return text.empty() ? text : heading(title) + text;
}

std::string section_part(const Section& section) {
  std::string text;
  if (!section.title.empty()) text += heading(section.title);
  if (!section.lines.empty()) {
    text += section.title.empty() ? ".PP\n" : ".nf\n";
    for (const std::string& line : section.lines) text += escaped(line) + "\n";
    text += section.title.empty() ? "" : ".fi\n";
  }
  for (const auto& [name, meaning] : section.terms) text += term(bold(name), meaning);
  return text;
}

std::string commands_part(const CommandDescription& command) {
  std::string text, group;
  for (const CommandDescription& below : command.commands) {
    if (text.empty()) text = heading("commands");
    if (below.group != group) {
      group = below.group;
      text += fmt::format(".SS \"{}\"\n", escaped(group));
    }
    text += term(fmt::format("\\fB{}\\fR(1)", escaped(page_name(below))), below.summary);
  }
  return text;
}

/// What is true of the whole program.
constexpr const char* kEnvironment =
    ".SH \"EXIT STATUS\"\n"
    ".TP\n0\nAll was done.\n"
    ".TP\n1\nSomething could not be done; a line on standard error says what and why.\n"
    ".TP\n2\nThe command line makes no sense.\n"
    ".TP\n130\nInterrupted by Ctrl\\-C.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBNO_COLOR\\fR\nWhen set, nothing is printed in colour.\n"
    ".TP\n\\fBCOLUMNS\\fR\nColumns of the terminal, for the help.\n"
    ".TP\n\\fBSACT_ISA\\fR\nKernels to use instead of the best that the processor has; "
    "\\fBsact doctor\\fR lists them.\n"
    ".TP\n\\fBSACT_VERBOSE\\fR\nWhen 1, more is said, such as the kernel of every layer.\n"
    ".TP\n\\fBRANK\\fR, \\fBWORLD_SIZE\\fR, \\fBMASTER_ADDR\\fR, \\fBMASTER_PORT\\fR\n"
    "Several processes that train or evaluate together, as torchrun and others set them.\n";

}  // namespace

std::string page_name(const CommandDescription& command) {
  std::string name = command.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_page(const CommandDescription& command) {
  const std::string name = page_name(command), top = name.substr(0, name.find('-'));
  std::string text = fmt::format(".TH \"{}\" 1 \"\" \"{} {}\" \"{} manual\"\n",
                                 escaped(in_capitals(name)), top, SACT_VERSION, top);
  // Lines are not stretched, and long words not cut, as it is usual for commands.
  text += ".nh\n.ad l\n";
  text += heading("name") + fmt::format("{} \\- {}\n", escaped(name), escaped(command.summary));
  text += heading("synopsis") + fmt::format("{} {}\n", bold(command.name), escaped(usage(command)));
  text += commands_part(command);
  text += options_part("arguments", command.arguments);
  text += options_part("options", command.options);
  for (const Section& section : command.sections) text += section_part(section);
  if (name == top) return text + kEnvironment;
  return text + heading("see also") + fmt::format("\\fB{}\\fR(1)\n", top);
}

}  // namespace sact::cli
