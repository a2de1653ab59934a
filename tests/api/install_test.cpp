// What `cmake --install` gives: the example builds against it and runs, and the library shows no
// more than its headers promise.
#include <fstream>
#include <regex>
#include <sstream>

#include "api/shell.h"

namespace sact {
namespace {

using test::kModel, test::kPicture, test::output_of;
const std::string kExample = SACT_SOURCE_DIR "/examples/classify";

class Installed : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new test::TemporaryDirectory;
    output_of(SACT_CMAKE " --install " SACT_BINARY_DIR " --prefix " + prefix());
  }
  static void TearDownTestSuite() { delete directory_; }

  static std::string path(const std::string& name) { return (*directory_ / name).string(); }
  static std::string prefix() { return path("prefix"); }
  static std::string libraries() { return prefix() + "/" SACT_LIBDIR; }

  static std::string expected_output() { return test::expected_of_example(prefix() + "/bin/sact"); }

  static test::TemporaryDirectory* directory_;
};
test::TemporaryDirectory* Installed::directory_ = nullptr;

TEST_F(Installed, FindPackageServesTheExample) {
  const std::string build = path("find-package");
  output_of(SACT_CMAKE " -S " + kExample + " -B " + build + " -DCMAKE_PREFIX_PATH=" + prefix() +
            test::kSameTools);
  output_of(SACT_CMAKE " --build " + build);
  EXPECT_EQ(output_of(build + "/classify " + kModel + " " + kPicture), expected_output());
  const auto wrong = test::Running({build + "/classify", {kPicture, kPicture}}).wait();
  EXPECT_EQ(wrong.status, 1);
  EXPECT_EQ(wrong.err.find("classify: " + kPicture), 0u) << wrong.err;
}

TEST_F(Installed, PkgConfigServesTheExample) {
  // Moved, because an installation must not know where it was made.
  const std::string moved = path("moved"), program = path("classify");
  std::filesystem::copy(
      prefix(), moved,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  output_of("export PKG_CONFIG_PATH=" + moved +
            "/" SACT_LIBDIR "/pkgconfig; " SACT_CXX
            " -std=c++17 -Wall -Wextra -Wpedantic -Werror " SACT_CXX_FLAGS " " +
            kExample + "/main.cpp -o " + program + " $(" SACT_PKG_CONFIG " --cflags --libs sact)");
  EXPECT_EQ(output_of("LD_LIBRARY_PATH=" + moved + "/" SACT_LIBDIR " " + program + " " + kModel +
                      " " + kPicture),
            expected_output());
}

TEST_F(Installed, AProgramInCIsBuiltByACCompiler) {
  const std::string source = SACT_SOURCE_DIR "/examples/c", program = path("classify-c");
  output_of("export PKG_CONFIG_PATH=" + libraries() +
            "/pkgconfig; " SACT_CC " -std=c99 -Wall -Wextra -Wpedantic -Werror " SACT_CXX_FLAGS
            " " +
            source + "/main.c -o " + program +
            " $(" SACT_PKG_CONFIG
            " --cflags --libs sact)"
#ifndef SACT_SHARED
            " -lstdc++ -lm"
#endif
  );
  const std::string library_path = "LD_LIBRARY_PATH=" + libraries() + " ";
  EXPECT_EQ(output_of(library_path + program + " " + kModel + " " + kPicture), expected_output());
  const auto wrong =
      test::Running({"/bin/sh", {"-c", library_path + program + " " + kPicture + " x"}}).wait();
  EXPECT_EQ(wrong.status, 1);
  EXPECT_EQ(wrong.err.find("classify: " + kPicture), 0u) << wrong.err;
}

TEST_F(Installed, HeadersNeedNothingButTheStandardLibrary) {
  // Each alone, as C++17; what it includes lies in the installation or comes with the compiler.
  for (const auto& header : std::filesystem::directory_iterator(prefix() + "/include/sact")) {
    const std::string name = header.path().filename().string();
    const std::string included = output_of(
        "echo '#include <sact/" + name +
        ">' | " SACT_CXX " -std=c++17 -Wall -Wextra -Wpedantic -Werror -H -fsyntax-only -x c++ -I" +
        prefix() + "/include - 2>&1");
    EXPECT_NE(included.find(header.path().string()), std::string::npos) << included;
    for (const char* foreign :
         {"nlohmann", "fmt/", "hwy/", "CLI/", "torch/", SACT_SOURCE_DIR "/src"}) {
      EXPECT_EQ(included.find(foreign), std::string::npos) << name << ": " << foreign;
    }
  }
}

TEST_F(Installed, TheHeaderForCIsC99) {
  output_of("echo '#include <sact/c.h>' | " SACT_CC
            " -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c -I" +
            prefix() + "/include -");
}

TEST_F(Installed, TheProgramFindsItsPlugin) {
  const auto finished =
      test::Running({prefix() + "/bin/sact",
                     {"predict", "--backend", "torch", "--no-pictures", kModel, kPicture}})
          .wait();
#ifdef SACT_HAS_TORCH
  EXPECT_EQ(finished.status, 0) << finished.err;
#else
  EXPECT_EQ(finished.status, 1);
  EXPECT_NE(finished.err.find("SACT_TRAIN"), std::string::npos) << finished.err;
#endif
}

/// Everything that was installed and runs: programs and libraries, once each.
std::vector<std::string> binaries_below(const std::string& prefix) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(prefix)) {
    if (!entry.is_regular_file() || entry.is_symlink()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::string start(4, ' ');
    if (file.read(start.data(), 4) && start ==
                                          "\x7f"
                                          "ELF")
      found.push_back(entry.path().string());
  }
  return found;
}

TEST_F(Installed, EveryBinaryIsHardened) {
  const std::vector<std::string> binaries = binaries_below(prefix());
  EXPECT_GE(binaries.size(), 2u);
  int with_checked_calls = 0;
  for (const std::string& binary : binaries) {
    SCOPED_TRACE(binary);
    const std::string facts = output_of(SACT_READELF " -W -h -l -d -n --dyn-syms " + binary);
    const auto has = [&](const char* expression) {
      return std::regex_search(facts, std::regex(expression));
    };
    EXPECT_TRUE(has("Type: +DYN")) << "lies anywhere in memory";
    EXPECT_TRUE(has("GNU_RELRO"));
    EXPECT_TRUE(has("BIND_NOW|Flags:[^\n]* NOW")) << "tables of symbols are not written later";
    EXPECT_TRUE(has("GNU_STACK[^\n]* RW ")) << "no code on the stack";
    EXPECT_FALSE(has("LOAD[^\n]* RWE ")) << "no code that can be written";
    EXPECT_TRUE(has("__stack_chk_fail")) << "the stack is protected";
    with_checked_calls +=
        has("__(memcpy|memmove|memset|snprintf|fprintf|vsnprintf|read|fread|strcpy|longjmp|printf)_"
            "chk");
#if defined(__x86_64__)
    // Where jumps may go. The mark of the whole file needs a C library that was built so, too.
    EXPECT_NE(output_of(SACT_OBJDUMP " -d --no-show-raw-insn " + binary + " | grep -c endbr64")
                  .find_first_not_of("0\n"),
              std::string::npos);
#endif
  }
#ifdef SACT_CHECKED_CALLS
  EXPECT_GE(with_checked_calls, 2) << "of " << binaries.size();
#endif
}

/// Libraries are looked for where the system does, or in the installation itself.
TEST_F(Installed, NoBinaryRemembersWhereItWasBuilt) {
  const std::regex path("\\((RPATH|RUNPATH)\\)[^\\[]*\\[([^\\]]*)\\]");
  for (const std::string& binary : binaries_below(prefix())) {
    const std::string facts = output_of(SACT_READELF " -W -d " + binary);
    for (std::sregex_iterator found(facts.begin(), facts.end(), path), end; found != end; ++found) {
      std::istringstream folders((*found)[2].str());
      for (std::string folder; std::getline(folders, folder, ':');) {
        EXPECT_EQ(folder.find("$ORIGIN/"), 0u) << binary << ": " << folder;
      }
    }
  }
}

TEST_F(Installed, ManualPagesAndCompletionsAreWhereToolsLook) {
  for (const char* file :
       {"man/man1/sact.1", "man/man1/sact-predict.1", "man/man1/sact-saliency-eval.1",
        "bash-completion/completions/sact", "zsh/site-functions/_sact"}) {
    EXPECT_TRUE(std::filesystem::is_regular_file(prefix() + "/share/" + file)) << file;
  }
}

TEST_F(Installed, NothingLinksLibTorch) {
  std::string needed = output_of("ldd " + prefix() + "/bin/sact");
#ifdef SACT_SHARED
  needed += output_of("ldd " + libraries() + "/libsact.so");
#endif
  EXPECT_NE(needed.find("libpng"), std::string::npos) << needed;
  for (const char* library : {"torch", "libc10", "libgomp"}) {
    EXPECT_EQ(needed.find(library), std::string::npos) << needed;
  }
}

#ifdef SACT_SHARED
TEST_F(Installed, TheLibraryNeedsNothingThatDrawsOrReadsAnnotations) {
  const std::string needed = output_of("ldd " + libraries() + "/libsact.so");
  EXPECT_NE(needed.find("libpng"), std::string::npos) << needed;
  for (const char* library : {"cairo", "pango", "fontconfig", "glib", "pugixml"}) {
    EXPECT_EQ(needed.find(library), std::string::npos) << needed;
  }
}

TEST_F(Installed, TheLibraryExportsThePublicClassesAlone) {
  const std::regex is_public(
      "(sact::(Detections|Detector|Image|Model|Result|Session)::[A-Za-z_~]+(\\[abi:cxx11\\])?\\(.*"
      "|sact::(Session|Detector)::operator=\\(sact::(Session|Detector)&&\\)"
      "|(typeinfo|typeinfo name|vtable) for sact::(Cancelled|Error)"
      "|sact_[a-z_]+)@@sact_" SACT_ABI);
  std::istringstream lines(
      output_of(SACT_NM " -D -C --defined-only " + libraries() + "/libsact.so"));
  std::string line;
  int symbols = 0;
  while (std::getline(lines, line)) {
    const std::string symbol = line.substr(line.find(' ', line.find(' ') + 1) + 1);
    if (symbol == "sact_" SACT_ABI) continue;  // the version itself
    EXPECT_TRUE(std::regex_match(symbol, is_public)) << symbol;
    ++symbols;
  }
  EXPECT_GT(symbols, 20);
  EXPECT_TRUE(std::filesystem::exists(libraries() + "/libsact.so." SACT_ABI));
}
#endif

}  // namespace
}  // namespace sact
