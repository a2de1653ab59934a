// The files that belong to the program: wrong ones are refused, and none is looked for where a
// stranger could have put it.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "base/file.h"
#include "io/image.h"
#include "support/image_samples.h"
#include "support/program.h"

namespace sact {
namespace {

namespace fs = std::filesystem;

class Components : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(directory_ / "bin");
    program_ = (directory_ / "bin/sact").string();
    fs::copy_file(SACT_PROGRAM, program_);
    io::write_image(directory_ / "p.png", test::noise_image(32, 32, 1));
    const test::Finished made =
        run({"new", "--units", "1,1", "--stem", "small", "--unit", "basic", "--width", "4",
             "--classes", "3", "--input-size", "32", "--out", "m"});
    ASSERT_EQ(made.status, 0) << made.err;
  }

  test::Finished run(const std::vector<std::string>& arguments) {
    return test::Running({program_, arguments, {}, directory_.path()}).wait();
  }

  /// A shell script in the directory of the test.
  test::Finished shell(const std::string& script) {
    return test::Running({"/bin/sh", {"-c", script}, {"SACT=" + program_}, directory_.path()})
        .wait();
  }

  static void expect_one_line(const test::Finished& finished, const std::string& words) {
    EXPECT_EQ(finished.status, 1) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(finished.err.find("sact: error: "), 0u) << finished.err;
    EXPECT_EQ(finished.err.find('\n'), finished.err.size() - 1) << finished.err;
    EXPECT_NE(finished.err.find(words), std::string::npos) << finished.err;
  }

  void write(const std::string& file, const std::string& text) {
    std::ofstream(directory_ / file, std::ios::binary) << text;
  }

  test::TemporaryDirectory directory_;
  std::string program_;
};

struct Wrong {
  std::string bytes, words;
};

std::string bytes_of(const fs::path& path) {
  const auto bytes = read_file(path, 64 << 20);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The file of libc: a library that is none of ours.
std::string foreign_library() {
  Dl_info info{};
  return ::dladdr(reinterpret_cast<const void*>(&std::fopen), &info) ? info.dli_fname : "";
}

TEST_F(Components, WrongOnesAreOneLine) {
  const fs::path built = fs::path(SACT_PROGRAM).parent_path();
  const std::vector<std::pair<std::string, std::vector<std::string>>> uses = {
      {"libsact_torch.so", {"predict", "--backend", "torch", "--no-pictures", "m", "p.png"}},
      {"libsact_cuda.so", {"predict", "--backend", "cuda", "--device", "cuda", "m", "p.png"}},
      {"libsact_http.so", {"serve", "--port", "0", "m"}}};
  for (const auto& [name, arguments] : uses) {
    std::vector<Wrong> wrong = {{"", "is not a library"},
                                {"no library", "is not a library"},
                                {bytes_of(foreign_library()), "does not say of which it is"}};
    if (fs::exists(built / name)) {
      const std::string right = bytes_of(built / name);
      wrong.push_back({right.substr(0, right.size() / 2), "was cut short"});
      std::string stale = right;
      const size_t mark = right.find(std::string("sact\0\0\0\0" SACT_VERSION " ", 14));
      ASSERT_NE(mark, std::string::npos) << name << " does not say of which build it is";
      stale[mark + 20] ^= 1;
      wrong.push_back({stale, "but to another"});
    }
    const std::string other = name == "libsact_http.so" ? "libsact_torch.so" : "libsact_http.so";
    if (fs::exists(built / other)) wrong.push_back({bytes_of(built / other), "has no sact_"});
    for (const Wrong& one : wrong) {
      SCOPED_TRACE(name + ": " + one.words);
      write("bin/" + name, one.bytes);
      expect_one_line(run(arguments), one.words);
    }
    fs::remove(directory_ / "bin" / name);
  }
}

/// Where this system lets a test hide /proc.
constexpr char kWithoutProc[] = "unshare -rm sh -c 'mount -t tmpfs none /proc && ";

TEST_F(Components, WithoutProcTheCurrentDirectoryIsNotTrusted) {
  if (shell(std::string(kWithoutProc) + "true'").status != 0) {
    GTEST_SKIP() << "this system lets no test hide /proc";
  }
  write("sact_mat_reader", "#!/bin/sh\ntouch ran\n");
  write("libsact_torch.so", "no library");
  fs::permissions(directory_ / "sact_mat_reader", fs::perms::owner_all);
  const auto use = [&](const std::string& program) {
    return shell(std::string(kWithoutProc) + program + " doctor; " + program +
                 " predict --backend torch --no-pictures m p.png'");
  };
  // Neither is beside the program, whatever it is called by.
  for (const char* called : {"$SACT", "./bin/sact", "PATH=$PWD/bin:$PATH; sact"}) {
    const test::Finished alone = use(called);
    EXPECT_EQ(alone.status, 1) << alone.err;
    EXPECT_NE(alone.out.find("not in this build (sact_mat_reader)"), std::string::npos)
        << alone.out;
    EXPECT_NE(alone.err.find("libsact_torch.so is not beside this program"), std::string::npos)
        << alone.err;
  }
  // And what is beside it is found.
  write("bin/libsact_torch.so", "no library");
  const test::Finished beside = use("./bin/sact");
  EXPECT_NE(beside.err.find("bin/libsact_torch.so: is not a library"), std::string::npos)
      << beside.err;
  EXPECT_FALSE(fs::exists(directory_ / "ran"));
}

TEST_F(Components, AReaderOfMatlabFilesThatAnswersShortIsAnError) {
  fs::create_directories(directory_ / "cat/Stimuli/A");
  fs::create_directories(directory_ / "cat/FIXATIONLOCS/A");
  io::write_image(directory_ / "cat/Stimuli/A/1.jpg", io::RgbImage(64, 48));
  write("cat/FIXATIONLOCS/A/1.mat", "whatever");
  // Nothing, half of a side, a matrix that lacks a number, one of no rows, and one of a billion.
  for (const char* answer : {"", "ab", "\\001\\0\\0\\0\\002\\0\\0\\0abcd",
                             "\\0\\0\\0\\0\\0\\0\\0\\0", "\\0\\0\\0\\100\\0\\0\\0\\100abcd"}) {
    SCOPED_TRACE(answer);
    write("bin/sact_mat_reader", std::string("#!/bin/sh\nprintf '") + answer + "'\n");
    fs::permissions(directory_ / "bin/sact_mat_reader", fs::perms::owner_all);
    expect_one_line(run({"saliency", "center", "-q", "--data", "cat"}), "which are no matrix");
  }
}

}  // namespace
}  // namespace sact
