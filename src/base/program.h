// Running another program to its end.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sact {

struct Finished {
  std::optional<int> status;  // none: it was ended by a signal
  std::vector<std::byte> output;
};

/// Runs a program, with nothing to read and what it says of errors thrown away, and returns what it
/// printed. It is killed when that is more than `max_output` bytes. Ctrl-C does not reach it.
/// Throws sact::Error when it cannot be started.
Finished run_program(const std::filesystem::path& program,
                     const std::vector<std::string>& arguments, size_t max_output);

}  // namespace sact
