// Finding and opening the libraries that belong to a program.
#include "base/component.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/component_mark.h"
#include "base/file.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& path) {
  const auto bytes = read_file(path, 64 << 20);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Component : public ::testing::Test {
 protected:
  std::string refusal(const std::string& bytes, const char* symbol = "component_example") {
    const fs::path file = directory_ / (std::to_string(files_++) + ".so");
    write_file_atomically(file, bytes);
    const std::string message =
        test::error_of([&] { open_component(file, "the example", symbol); });
    EXPECT_NE(message.find(file.string()), std::string::npos) << message;
    return message;
  }

  static std::string changed(std::string bytes, size_t place, char value) {
    bytes.at(place) = value;
    return bytes;
  }

  const std::string right_ = bytes_of(SACT_RIGHT_COMPONENT);
  test::TemporaryDirectory directory_;
  int files_ = 0;
};

TEST_F(Component, OfThisBuildIsOpened) {
  void* entry = open_component(SACT_RIGHT_COMPONENT, "the example", "component_example");
  EXPECT_EQ(reinterpret_cast<int (*)()>(entry)(), 42);
}

TEST_F(Component, WhatIsNoLibraryIsRefused) {
  EXPECT_NE(refusal("").find("is not a library"), std::string::npos);
  EXPECT_NE(refusal("#!/bin/sh\necho no\n").find("is not a library"), std::string::npos);
  EXPECT_NE(refusal(right_.substr(0, 20)).find("is not a library"), std::string::npos);
  const std::string program = changed(right_, offsetof(Elf64_Ehdr, e_type), ET_EXEC);
  EXPECT_NE(refusal(program).find("is not a library"), std::string::npos);
}

TEST_F(Component, OfAnotherProcessorIsRefused) {
  for (const auto& [place, value] : {std::pair(offsetof(Elf64_Ehdr, e_machine), char(EM_RISCV)),
                                     {size_t(EI_CLASS), char(ELFCLASS32)},
                                     {size_t(EI_DATA), char(ELFDATA2MSB)}}) {
    const std::string message = refusal(changed(right_, place, value));
    EXPECT_NE(message.find("another kind of processor"), std::string::npos) << message;
  }
}

TEST_F(Component, OfAnEarlierInterfaceIsRefused) {
  const std::string message = refusal(bytes_of(SACT_UNMARKED_COMPONENT));
  EXPECT_NE(message.find("does not belong to this build of sact"), std::string::npos) << message;
}

TEST_F(Component, OfAnotherBuildIsRefusedAndBothAreNamed) {
  const size_t mark = right_.find(kBuild);
  ASSERT_NE(mark, std::string::npos);
  const size_t last = mark + sizeof kBuild - 2;
  const std::string other = changed(right_, last, right_[last] == '0' ? '1' : '0');
  const std::string message = refusal(other);
  EXPECT_NE(message.find(kBuild), std::string::npos) << message;
  EXPECT_NE(message.find(other.substr(mark, sizeof kBuild - 1)), std::string::npos) << message;
}

TEST_F(Component, WithoutTheSymbolIsRefused) {
  EXPECT_NE(refusal(right_, "another_entry").find("has no another_entry"), std::string::npos);
}

TEST_F(Component, ThatNeedsWhatIsNotThereIsRefused) {
  const std::string message = refusal(bytes_of(SACT_INCOMPLETE_COMPONENT));
  EXPECT_NE(message.find("the example cannot be loaded"), std::string::npos) << message;
  EXPECT_NE(message.find("nobody_has_this"), std::string::npos) << message;
}

/// The loader maps what the headers promise, and touching what is not there would end the process.
TEST_F(Component, CutShortAnywhereIsRefused) {
  uint64_t needed = 0;  // up to the end of what is loaded; tables for linkers follow
  Elf64_Ehdr header;
  std::memcpy(&header, right_.data(), sizeof header);
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, right_.data() + header.e_phoff + size_t(i) * sizeof segment,
                sizeof segment);
    needed = std::max(needed, segment.p_offset + segment.p_filesz);
  }
  ASSERT_LE(needed, right_.size());
  for (uint64_t size = 0; size < needed; size += 97) refusal(right_.substr(0, size));
  EXPECT_NE(refusal(right_.substr(0, needed - 1)).find("was cut short"), std::string::npos);
}

TEST(FindPart, LooksBesideTheProgramAndNotInTheCurrentDirectory) {
  EXPECT_FALSE(find_part("base_test").empty());
  EXPECT_TRUE(find_part("base_test").is_absolute());
  EXPECT_TRUE(find_part("no-such-part").empty());
  EXPECT_EQ(why_no_part("no-such-part"), "no-such-part is not beside this program");
  const fs::path before = fs::current_path();
  test::TemporaryDirectory directory;
  fs::current_path(directory.path());
  write_file_atomically("a-part", "here");
  EXPECT_TRUE(find_part("a-part").empty());
  EXPECT_FALSE(find_part("base_test").empty());
  fs::current_path(before);
}

}  // namespace
}  // namespace sact
