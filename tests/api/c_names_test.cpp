// C has what the C++ library has: c_names.txt says what everything is called.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "api/headers.h"

namespace sact {
namespace {

using test::Declared;

TEST(CNames, EveryMemberOfThePublicClassesHasANameInC) {
  std::map<std::string, std::string> names;
  std::ifstream file(SACT_SOURCE_DIR "/tests/api/c_names.txt");
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    const size_t space = line.find(' ');
    names[line.substr(0, space)] = line.substr(line.find_first_not_of(' ', space));
  }
  std::set<std::string> in_c, in_cpp;
  for (const Declared& declared : test::declared_for_c()) in_c.insert(declared.full_name());
  for (const Declared& declared : test::declared_for_cpp()) in_cpp.insert(declared.full_name());
  EXPECT_GT(in_cpp.size(), 100u);
  for (const std::string& member : in_cpp) {
    EXPECT_TRUE(names.count(member))
        << member << ": give it a name in sact/c.h, and say so in tests/api/c_names.txt";
  }
  for (const auto& [member, text] : names) {
    EXPECT_TRUE(in_cpp.count(member)) << member << " is in c_names.txt and no more in the headers";
    if (text.find("- ") == 0) continue;
    std::istringstream words(text);
    for (std::string name; words >> name;) {
      EXPECT_TRUE(in_c.count(name)) << name << ", the name of " << member << ", is not in sact/c.h";
    }
  }
}

}  // namespace
}  // namespace sact
