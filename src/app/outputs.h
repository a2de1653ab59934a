// No file that a command reads is overwritten by what it writes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sact::app {

/// A file that a command will write, and the option that asked for it.
struct Output {
  std::string option;          // "--csv"
  std::filesystem::path path;  // empty: the option was not given
};

/// Throws sact::Error when one of the outputs is a file that is read, by whatever name or link, or
/// when two outputs are one file. A directory that is read protects all files below it that exist;
/// what is empty or missing is passed over. Call it before the first output is touched.
void protect_inputs(const std::vector<std::filesystem::path>& read,
                    const std::vector<Output>& written);

}  // namespace sact::app
