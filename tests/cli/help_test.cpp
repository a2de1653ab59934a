// Help, wrong usage, manual pages and completions, as the program gives them.
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "support/program.h"
#include "support/temporary.h"
#include "support/terminal.h"

namespace sact {
namespace {

using test::run_sact;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

size_t characters(const std::string& text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// All "--options" of a text.
std::set<std::string> options_of(const std::string& text) {
  const std::regex option("--[a-z][a-z-]*");
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), option), end; it != end; ++it) {
    found.insert(it->str());
  }
  return found;
}

std::string help_of(const std::string& command, const std::string& columns = "80") {
  std::vector<std::string> arguments = words_of(command);
  arguments.emplace_back("--help");
  const auto finished = test::Running({SACT_PROGRAM, arguments, {"COLUMNS=" + columns}}).wait();
  EXPECT_EQ(finished.status, 0) << command << finished.err;
  return finished.out;
}

/// What `sact generate-docs` wrote, made once.
class Generated : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new test::TemporaryDirectory;
    const auto finished = run_sact({"generate-docs", path("docs")});
    ASSERT_EQ(finished.status, 0) << finished.err;
  }
  static void TearDownTestSuite() { delete directory_; }

  static std::string path(const std::string& name) { return (*directory_ / name).string(); }

  /// "predict", "saliency eval", ...: every command that is not hidden.
  static std::vector<std::string> commands() {
    std::vector<std::string> commands;
    for (const std::string& line : lines_of(text_of(path("docs/commands.md")))) {
      if (line.starts_with("## sact ")) commands.push_back(line.substr(8));
    }
    return commands;
  }

  static std::string man_file(std::string command) {
    std::replace(command.begin(), command.end(), ' ', '-');
    return path("docs/man1/sact" + (command.empty() ? "" : "-" + command) + ".1");
  }

  /// What bash offers for the last word.
  static std::vector<std::string> completed(const std::string& words, const std::string& last,
                                            const std::string& folder = "/") {
    const std::string script = "source " + path("docs/sact.bash") + "; cd " + folder +
                               "; COMP_WORDS=(" + words + " '" + last +
                               "'); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sact; "
                               "printf '%s\\n' \"${COMPREPLY[@]}\"";
    const auto finished = test::Running({"/bin/bash", {"--norc", "-uc", script}}).wait();
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(finished.err, "") << words;
    std::vector<std::string> lines = lines_of(finished.out);
    if (lines == std::vector<std::string>{""}) lines.clear();
    return lines;
  }

  static test::TemporaryDirectory* directory_;
};
test::TemporaryDirectory* Generated::directory_ = nullptr;

using Words = std::vector<std::string>;

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// ---- help

TEST_F(Generated, TheDocumentedCommandsAreThoseOfTheProgram) {
  EXPECT_EQ(text_of(SACT_SOURCE_DIR "/docs/commands.md"), text_of(path("docs/commands.md")))
      << "run scripts/update-docs";
}

TEST_F(Generated, EveryCommandHasExamplesAndEveryOptionIsInTheDocs) {
  const std::string docs = text_of(SACT_SOURCE_DIR "/docs/commands.md");
  ASSERT_GT(commands().size(), 15u);
  for (const std::string& command : commands()) {
    const std::string help = help_of(command);
    EXPECT_NE(help.find("\nExamples:\n  sact "), std::string::npos) << command;
    const size_t start = docs.find("## sact " + command + "\n");
    ASSERT_NE(start, std::string::npos) << command << ": run scripts/update-docs";
    const std::string section = docs.substr(start, docs.find("\n## ", start) - start);
    for (const std::string& option : options_of(help)) {
      EXPECT_NE(section.find(option), std::string::npos)
          << command << " " << option << ": run scripts/update-docs";
    }
  }
}

TEST_F(Generated, HelpFitsTheTerminal) {
  for (const std::string& command : commands()) {
    for (const size_t columns : {60u, 80u}) {
      const std::string help = help_of(command, std::to_string(columns));
      bool examples = false;
      for (const std::string& line : lines_of(help)) {
        if (!line.empty() && line[0] != ' ') examples = line == "Examples:";
        const bool one_word = line.find(' ', line.find_first_not_of(' ')) == line.npos;
        if (examples || one_word) continue;
        EXPECT_LE(characters(line), columns) << command << "\n" << line;
      }
    }
  }
}

TEST(CliHelp, LinesDoNotGetTooLongToRead) {
  size_t longest = 0;
  for (const std::string& line : lines_of(help_of("predict", "300"))) {
    longest = std::max(longest, characters(line));
  }
  EXPECT_LE(longest, 100u);
  EXPECT_GT(longest, 90u);
}

TEST(CliHelp, MeaningsStandBelowEachOther) {
  std::set<size_t> starts;
  for (const std::string& line : lines_of(help_of("predict"))) {
    std::smatch match;
    const std::regex option("^ +(-[a-z], )?--[a-z-]+( [^ ]+)?  +");
    if (std::regex_search(line, match, option)) starts.insert(size_t(match.length()));
  }
  EXPECT_EQ(starts.size(), 1u) << help_of("predict");
}

TEST(CliHelp, DefaultsRangesAndChoicesAreTold) {
  const std::string help = help_of("predict", "100");
  EXPECT_NE(help.find("-o, --out DIR "), std::string::npos) << help;
  EXPECT_NE(help.find("(default: ponder-maps)"), std::string::npos) << help;
  EXPECT_NE(help.find("--dtype fp32|bf16|fp16|int8|auto"), std::string::npos) << help;
  EXPECT_NE(help.find("(1 to 1000000; default: 5)"), std::string::npos) << help;
  EXPECT_NE(help.find("Usage: sact predict [OPTIONS] MODEL [IMAGE...]\n"), std::string::npos)
      << help;
  EXPECT_NE(help_of("coco-eval").find("(required)"), std::string::npos);
  EXPECT_NE(help_of("new").find("(not with --units)"), std::string::npos);
}

TEST(CliHelp, ThreeWaysToAskGiveTheSame) {
  EXPECT_EQ(run_sact({"help", "predict"}).out, run_sact({"predict", "-h"}).out);
  EXPECT_EQ(run_sact({"help", "saliency", "eval"}).out,
            run_sact({"saliency", "eval", "--help"}).out);
  const std::string all = run_sact({"--help"}).out;
  EXPECT_EQ(run_sact({"help"}).out, all);
  const auto alone = run_sact({});
  EXPECT_EQ(alone.status, 0);
  EXPECT_EQ(alone.out, all);
  EXPECT_EQ(run_sact({"help", "nothing"}).status, 2);
}

TEST(CliHelp, CommandsAreGroupedByPurpose) {
  const std::string help = run_sact({"help"}).out;
  size_t last = 0;
  for (const char* part : {"\nRun a network:\n", "\n  predict ", "\nTrain:\n", "\n  train ",
                           "\nMeasure and compare:\n", "\n  eval ", "\nFiles and machine:\n",
                           "\n  info ", "\nCommon options:\n"}) {
    const size_t found = help.find(part);
    ASSERT_NE(found, std::string::npos) << part << "\n" << help;
    EXPECT_GT(found, last) << part;
    last = found;
  }
  EXPECT_EQ(help.find("generate-docs"), std::string::npos);
}

TEST(CliHelp, EveryCommandTellsTheVersion) {
  const std::string version = run_sact({"--version"}).out;
  EXPECT_TRUE(std::regex_match(version, std::regex("sact [0-9]+\\.[0-9]+\\.[0-9]+\n"))) << version;
  EXPECT_EQ(run_sact({"predict", "--version"}).out, version);
  EXPECT_EQ(run_sact({"saliency", "map", "--version"}).out, version);
}

TEST_F(Generated, EveryCommandHasJsonAndQuiet) {
  for (const std::string& command : commands()) {
    if (command == "help" || command == "saliency") continue;  // prints help; has commands
    const auto options = options_of(help_of(command));
    EXPECT_TRUE(options.count("--json")) << command;
    EXPECT_TRUE(options.count("--quiet")) << command;
  }
}

TEST(CliHelp, OptionsThatWouldDoNothingAreNotOffered) {
  for (const char* command :
       {"new", "info", "export", "synth", "coco-eval", "table", "doctor", "saliency center"}) {
    EXPECT_FALSE(options_of(help_of(command)).count("--device")) << command;
  }
  for (const char* command : {"new", "info", "synth"}) {
    EXPECT_FALSE(options_of(help_of(command)).count("--threads")) << command;
  }
  EXPECT_EQ(run_sact({"new", "--device", "cpu", "--out", "/dev/null"}).status, 2);
}

TEST_F(Generated, OutHasAShortFormEverywhere) {
  for (const std::string& command : commands()) {
    const std::string help = help_of(command);
    if (!std::regex_search(help, std::regex("\n +(-o, )?--out "))) continue;
    EXPECT_NE(help.find("-o, --out "), std::string::npos) << command;
  }
}

// ---- wrong usage

/// One line that says all of it.
void expect_usage(const std::vector<std::string>& arguments, const std::string& line) {
  const auto finished = run_sact(arguments);
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, "sact: error: " + line + "\n");
}

TEST(CliUsage, WhatWasMeantIsGuessed) {
  expect_usage({"predcit"},
               "there is no command 'predcit' (did you mean 'predict'?); see 'sact --help'");
  expect_usage({"help", "predcit"},
               "there is no command 'predcit' (did you mean 'predict'?); see 'sact help --help'");
  expect_usage({"saliency", "evl"},
               "there is no command 'evl' (did you mean 'eval'?); see 'sact saliency --help'");
  expect_usage({"predict", "m", "a.jpg", "--sise=3"},
               "'sact predict' has no option '--sise' (did you mean '--size'?); see 'sact predict "
               "--help'");
  expect_usage({"frobnicate"}, "there is no command 'frobnicate'; see 'sact --help'");
}

TEST(CliUsage, AMistypedOptionIsNamedBeforeOneThatIsRequired) {
  expect_usage({"new", "--ouut", "m"},
               "'sact new' has no option '--ouut' (did you mean '--out'?); see 'sact new --help'");
}

TEST(CliUsage, ControlCharactersDoNotReachTheTerminal) {
  const auto finished = run_sact({"predict", "m", "--a\033[31mb"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.err.find('\033'), std::string::npos) << finished.err;
}

// ---- quiet and colour

TEST(CliQuiet, ResultsAndErrorsStayAndTheRestGoes) {
  test::TemporaryDirectory directory;
  const std::string d = directory.path();
  std::ofstream(directory / "spec.json") << R"({"units": [1], "width": 4, "classes": 2, "odd": 1})";
  const auto made = run_sact({"new", "--spec", "spec.json", "-o", "m"}, d);
  EXPECT_NE(made.out.find("next: sact info m"), std::string::npos) << made.out;
  const auto quiet = run_sact({"new", "--spec", "spec.json", "-o", "m", "-q"}, d);
  EXPECT_EQ(quiet.out + made.out.substr(made.out.find("next:")), made.out);
  EXPECT_NE(run_sact({"info", "m"}, d).err.find("warning: "), std::string::npos);
  const auto info = run_sact({"info", "m", "--quiet"}, d);
  EXPECT_EQ(info.err, "");
  EXPECT_EQ(info.out, run_sact({"info", "m"}, d).out);
  const auto wrong = run_sact({"info", "none", "-q"}, d);
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.err.find("none"), std::string::npos);
}

/// What the program shows on a terminal of 63 columns, errors included.
std::string on_terminal(const std::vector<std::string>& arguments, const char* no_color) {
  winsize size{};
  size.ws_row = 24;
  size.ws_col = 63;
  std::vector<char*> argv = {const_cast<char*>(SACT_PROGRAM)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int master = -1;
  const pid_t child = ::forkpty(&master, nullptr, nullptr, &size);
  if (child == 0) {
    ::unsetenv("COLUMNS");
    ::setenv("TERM", "xterm", 1);
    no_color ? ::setenv("NO_COLOR", no_color, 1) : ::unsetenv("NO_COLOR");
    ::execv(SACT_PROGRAM, argv.data());
    ::_exit(127);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t came = 0; (came = ::read(master, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, size_t(came));
  }
  ::close(master);
  ::waitpid(child, nullptr, 0);
  return text;
}

TEST(CliColour, OnATerminalAlone) {
  if (!test::can_make_terminals()) GTEST_SKIP() << "there are no pseudo terminals here";
  const std::string help = on_terminal({"help", "predict"}, nullptr);
  EXPECT_NE(help.find("\033[1mOptions:\033[0m"), std::string::npos) << help;
  EXPECT_NE(on_terminal({"info", "none"}, nullptr).find("sact: \033[1;31merror:\033[0m "),
            std::string::npos);
  EXPECT_EQ(on_terminal({"help", "predict"}, "1").find('\033'), std::string::npos);
  EXPECT_EQ(on_terminal({"info", "none"}, "1").find('\033'), std::string::npos);
  EXPECT_EQ(run_sact({"help", "predict"}).out.find('\033'), std::string::npos);
}

TEST(CliHelp, ItsWidthIsThatOfTheTerminal) {
  if (!test::can_make_terminals()) GTEST_SKIP() << "there are no pseudo terminals here";
  size_t longest = 0;
  for (const std::string& line : lines_of(on_terminal({"help"}, "1"))) {
    longest = std::max(longest, characters(line) - line.ends_with('\r'));
  }
  EXPECT_LE(longest, 63u);
  EXPECT_GT(longest, 55u);
}

// ---- manual pages

TEST_F(Generated, EveryOptionIsInItsManualPage) {
  for (const std::string& command : commands()) {
    std::string page = text_of(man_file(command));
    ASSERT_FALSE(page.empty()) << man_file(command);
    page = std::regex_replace(page, std::regex(R"(\\-)"), "-");
    for (const std::string& option : options_of(help_of(command))) {
      EXPECT_NE(page.find(option), std::string::npos) << command << " " << option;
    }
  }
}

TEST_F(Generated, ManualPagesAreCleanRoff) {
  if (std::system("command -v groff > /dev/null") != 0) GTEST_SKIP() << "no groff here";
  for (const std::string& command : commands()) {
    const auto checked =
        test::Running(
            {"/bin/sh", {"-c", "groff -man -Tutf8 -ww -K utf8 -P-c " + man_file(command)}})
            .wait();
    EXPECT_EQ(checked.status, 0);
    EXPECT_EQ(checked.err, "") << command;
    EXPECT_NE(checked.out.find("sact " + command), std::string::npos) << checked.out;
  }
}

TEST_F(Generated, ManualPagesKeepTheBackslashesOfExamples) {
  EXPECT_NE(text_of(man_file("baseline")).find("best.safetensors \\e\n"), std::string::npos);
}

// ---- bash

TEST_F(Generated, BashOffersCommandsAndOptions) {
  EXPECT_EQ(completed("sact", "pre"), Words{"predict"});
  EXPECT_TRUE(has(completed("sact", ""), "train-detector"));
  EXPECT_FALSE(has(completed("sact", ""), "generate-docs"));
  EXPECT_EQ(completed("sact saliency", ""), (Words{"eval", "map", "center"}));
  EXPECT_EQ(completed("sact help", "train-"), Words{"train-detector"});
  EXPECT_EQ(completed("sact predict m.safetensors", "--no-p"), Words{"--no-pictures"});
  EXPECT_TRUE(has(completed("sact saliency eval m", "-"), "--center-weight"));
  EXPECT_TRUE(completed("sact coco-eval", "--dev").empty());
}

TEST_F(Generated, BashOffersEveryOption) {
  for (const std::string& command : commands()) {
    const Words offered = completed("sact " + command, "--");
    const std::string help = help_of(command);
    const std::string declared = help.substr(0, help.find("\nExamples:"));
    for (const std::string& line : lines_of(declared)) {
      std::smatch match;
      if (!std::regex_search(line, match, std::regex("^ +(-[a-zA-Z], )?(--[a-z-]+)"))) continue;
      if (line.find_first_not_of(' ') > 6) continue;  // inside a meaning
      EXPECT_TRUE(has(offered, match[2])) << command << " " << match[2];
    }
  }
}

TEST_F(Generated, BashOffersValuesOfClosedSets) {
  EXPECT_EQ(completed("sact predict --device", ""), (Words{"cpu", "cuda"}));
  EXPECT_EQ(completed("sact new --halting", "s"), Words{"sact"});
  EXPECT_EQ(completed("sact new --depth", ""), (Words{"50", "101", "152"}));
  EXPECT_TRUE(completed("sact predict --top", "").empty()) << "any number";
}

TEST_F(Generated, BashOffersFilesAndFolders) {
  test::TemporaryDirectory directory;
  std::ofstream(directory / "my model.safetensors");
  std::filesystem::create_directory(directory / "my photos");
  const std::string d = directory.path();
  auto sorted = completed("sact info", "my", d);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, (Words{"my model.safetensors", "my photos"}));
  EXPECT_EQ(completed("sact predict m -o", "", d), Words{"my photos"});
  EXPECT_EQ(completed("sact table plain =", "my m", d), Words{"my model.safetensors"});
}

TEST_F(Generated, BashOffersSettings) {
  EXPECT_EQ(completed("sact train --data x", "epoc"), Words{"epochs="});
  EXPECT_TRUE(has(completed("sact train-detector", "anchor"), "anchor_sizes="));
}

// ---- zsh

/// Whether zsh, driven through a terminal of its own, shows `expected` when Tab is pressed after a
/// line. It is waited for, but not for ever.
bool zsh_offers(const std::string& functions, const std::string& line,
                const std::string& expected) {
  test::TemporaryDirectory home;
  const std::string dump = (home / "dump").string();
  const std::string script =
      "zmodload zsh/zpty; zpty z zsh -f -i\n"
      "zpty -w z \"PROMPT='' TERM=dumb; fpath=(" +
      functions +
      " \\$fpath)\"\n"
      "zpty -w z 'autoload -U compinit; compinit -u -d " +
      dump +
      "; LISTMAX=1000; setopt autolist noautomenu'\n"
      "zpty -w z 'print READY$((1 + 1))'\n"
      "zpty -r -m z text '*READY2*'\n"
      "zpty -w -n z $'" +
      line +
      "\\t\\t'\n"
      "zpty -r -m z text '*" +
      expected + "*'\n";
  return test::Running({"/usr/bin/timeout", {"60", "zsh", "-f", "-c", script}}).wait().status == 0;
}

TEST_F(Generated, ZshHasEveryOption) {
  const std::string script = text_of(path("docs/_sact"));
  EXPECT_TRUE(script.starts_with("#compdef sact\n"));
  for (const std::string& command : commands()) {
    std::string name = "_sact" + (command.empty() ? "" : "_" + command);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
    const size_t start = script.find("\n" + name + "() {");
    ASSERT_NE(start, std::string::npos) << name;
    const std::string body = script.substr(start, script.find("\n}\n", start) - start);
    const std::string help = help_of(command);
    const size_t options = help.find("\nOptions:"), common = help.find("\nCommon options:");
    const std::string declared = help.substr(std::min(options, common));
    for (const std::string& option : options_of(declared.substr(0, declared.find("\nExamples:")))) {
      EXPECT_NE(body.find(option), std::string::npos) << command << " " << option;
    }
  }
}

TEST_F(Generated, ZshCompletes) {
  if (!std::filesystem::exists("/bin/zsh")) GTEST_SKIP() << "no zsh here";
  const auto checked = test::Running({"/bin/zsh", {"-n", path("docs/_sact")}}).wait();
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_TRUE(zsh_offers(path("docs"), "sact ", "train-detector"));
  EXPECT_TRUE(zsh_offers(path("docs"), "sact predict --device ", "cuda"));
  EXPECT_TRUE(zsh_offers(path("docs"), "sact saliency ", "center"));
  EXPECT_TRUE(zsh_offers(path("docs"), "sact train ep", "epochs="));
}

}  // namespace
}  // namespace sact
