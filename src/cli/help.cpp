#include "cli/help.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "base/terminal.h"
#include "cli/command.h"
#include "cli/usage.h"

namespace sact::cli {
namespace {

constexpr int kMostColumns = 100;
constexpr size_t kWidestTerm = 26, kIndent = 2, kGap = 2;

using Terms = std::vector<std::pair<std::string, std::string>>;

/// Characters, not bytes.
size_t width_of(std::string_view text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// The words of a text in lines; all but the first begin with `indent` spaces, and the first has
/// that many characters before it already.
std::string wrapped(const std::string& text, size_t columns, size_t indent) {
  std::istringstream words(text);
  std::string result, word;
  size_t used = indent;
  for (bool first = true; words >> word; first = false) {
    if (!first && used + 1 + width_of(word) > columns) {
      result += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (!first) {
      result += ' ';
      ++used;
    }
    result += word;
    used += width_of(word);
  }
  return result;
}

/// Where meanings begin, so that they stand below each other: after the widest term, unless that is
/// too wide.
size_t start_of_meanings(const Terms& terms) {
  size_t widest = 0;
  for (const auto& [term, text] : terms) {
    if (width_of(term) <= kWidestTerm) widest = std::max(widest, width_of(term));
  }
  return kIndent + widest + kGap;
}

/// Terms at the left, what they mean at the right; a long term has a line of its own.
std::string in_columns(const Terms& terms, size_t columns, size_t start) {
  std::string result;
  for (const auto& [term, text] : terms) {
    result += std::string(kIndent, ' ') + term;
    const size_t used = kIndent + width_of(term);
    if (used + kGap > start) {
      result += "\n" + std::string(start, ' ');
    } else {
      result += std::string(start - used, ' ');
    }
    result += wrapped(text, columns, start) + "\n";
  }
  return result;
}

/// Long names stand below each other, whether they have a short one or not.
std::string aligned_names(const OptionDescription& option) {
  const bool only_long = option.short_name.empty() && !option.long_name.empty();
  return (only_long ? "    " : "") + option_names(option);
}

Terms terms_of(const std::vector<OptionDescription>& options, bool common) {
  Terms terms;
  for (const OptionDescription& option : options) {
    if (option.common == common) terms.emplace_back(aligned_names(option), option.text);
  }
  return terms;
}

Terms terms_of(const std::vector<CommandDescription>& commands, const std::string& group) {
  Terms terms;
  for (const CommandDescription& command : commands) {
    if (command.group == group) terms.emplace_back(command.last_word(), command.summary);
  }
  return terms;
}

std::vector<std::string> groups_of(const std::vector<CommandDescription>& commands) {
  std::vector<std::string> groups;
  for (const CommandDescription& command : commands) {
    if (std::find(groups.begin(), groups.end(), command.group) == groups.end()) {
      groups.push_back(command.group);
    }
  }
  return groups;
}

/// Puts the text together part by part.
class Writer {
 public:
  Writer(int columns, bool colour) : columns_(size_t(columns)), colour_(colour) {}

  void paragraph(const std::string& text) { text_ += wrapped(text, columns_, 0) + "\n"; }
  void heading(const std::string& title) {
    text_ += "\n" + styled(title + ":", Style::kHeading, colour_) + "\n";
  }
  /// Several lists, whose meanings begin at the same place.
  void lists(const std::vector<std::pair<std::string, Terms>>& lists) {
    size_t start = 0;
    for (const auto& [title, terms] : lists) start = std::max(start, start_of_meanings(terms));
    for (const auto& [title, terms] : lists) {
      if (terms.empty()) continue;
      heading(title);
      text_ += in_columns(terms, columns_, start);
    }
  }
  void section(const Section& section) {
    if (section.title.empty()) {
      text_ += "\n";
      for (const std::string& line : section.lines) paragraph(line);
      return;
    }
    heading(section.title);
    for (const std::string& line : section.lines) text_ += line + "\n";
    text_ += in_columns(section.terms, columns_, start_of_meanings(section.terms));
  }
  void usage(const CommandDescription& command) {
    constexpr size_t kUsageIndent = 7;  // of "Usage: "
    text_ += "\n" + styled("Usage:", Style::kHeading, colour_) + " " +
             wrapped(command.name + " " + cli::usage(command), columns_, kUsageIndent) + "\n";
  }
  const std::string& text() const { return text_; }

 private:
  size_t columns_;
  bool colour_;
  std::string text_;
};

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    return help_text(describe(*app), help_columns(), colour_wanted(STDOUT_FILENO));
  }
};

/// The command that the words name; wrong ones are wrong usage.
const CLI::App& find_command(const CLI::App& top, const std::vector<std::string>& words) {
  const CLI::App* command = &top;
  for (const std::string& word : words) {
    const std::vector<std::string> known = command_names(*command);
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw CLI::ValidationError(no_such_command(*command, word));
    }
    command = command->get_subcommand(word);
  }
  return *command;
}

}  // namespace

int help_columns() {
  return std::min(text_columns(STDOUT_FILENO), kMostColumns);
}

std::string help_text(const CommandDescription& command, int columns, bool colour) {
  Writer writer(columns, colour);
  writer.paragraph(command.summary);
  writer.usage(command);
  std::vector<std::pair<std::string, Terms>> lists;
  for (const std::string& group : groups_of(command.commands)) {
    lists.emplace_back(group, terms_of(command.commands, group));
  }
  lists.emplace_back("Arguments", terms_of(command.arguments, false));
  lists.emplace_back("Options", terms_of(command.options, false));
  lists.emplace_back(kCommonOptions, terms_of(command.options, true));
  writer.lists(lists);
  for (const Section& section : command.sections) writer.section(section);
  return writer.text();
}

std::string wrapped_sections(const std::string& text, int columns, bool colour) {
  Writer writer(columns, colour);
  for (const Section& section : sections_of(text)) writer.section(section);
  return writer.text().substr(1);  // without the empty line before the first
}

void use_own_help(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
}

void declare_help(CLI::App& app, Action& action) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "Show the help of a command, or all commands");
  command->add_option("command", *words, "The command, such as predict or saliency eval")
      ->type_name("COMMAND");
  set_examples(*command, "  sact help\n  sact help predict\n  sact help saliency eval");
  command->callback([words, &app, &action] {
    action = [words, &app] {
      const CLI::App& wanted = find_command(app, *words);
      print_lines(help_text(describe(wanted), help_columns(), colour_wanted(STDOUT_FILENO)));
      return 0;
    };
  });
}

}  // namespace sact::cli
