// Running the program `sact` as a user would, from a test.
#pragma once

#include <string>
#include <vector>

namespace sact::test {

struct Finished {
  int status = -1;  // exit status; 128 + signal when it was killed
  std::string out, err;
};

/// Runs build/sact with these arguments in `directory`, without a shell.
Finished run_sact(const std::vector<std::string>& arguments, const std::string& directory = ".");

}  // namespace sact::test
