// Commands as a user of the library types them, and what the example program must then say.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/program.h"

namespace sact::test {

inline const std::string kModel = SACT_SOURCE_DIR "/models/imagenette-sact.safetensors";
inline const std::string kPicture = SACT_SOURCE_DIR "/docs/images/ponder.png";

/// CMake's arguments for building as this test was built.
inline const std::string kSameTools =
    " -G '" SACT_GENERATOR "' -DCMAKE_MAKE_PROGRAM=" SACT_MAKE_PROGRAM
    " -DCMAKE_CXX_COMPILER=" SACT_CXX " -DCMAKE_CXX_FLAGS=" SACT_CXX_FLAGS;

/// The output of a shell command that must succeed.
inline std::string output_of(const std::string& command) {
  const Finished finished = Running({"/bin/sh", {"-c", command}}).wait();
  EXPECT_EQ(finished.status, 0) << command << "\n" << finished.out << finished.err;
  return finished.out;
}

/// The output of examples/classify, worked out from what the program `sact` says.
inline std::string expected_of_example(const std::string& sact) {
  const auto json = nlohmann::json::parse(
      output_of(sact + " predict --json --no-pictures " + kModel + " " + kPicture));
  const auto& image = json["images"][0];
  char line[200];
  std::string text;
  for (const auto& best : image["top"]) {
    std::snprintf(line, sizeof line, "%5.1f %%  %s\n", 100 * best["score"].get<double>(),
                  best["label"].get<std::string>().c_str());
    text += line;
  }
  std::snprintf(line, sizeof line, "with %.1f %% of the dense network's work\n",
                100 * image["flops"].get<double>() / image["dense_flops"].get<double>());
  return text + line;
}

}  // namespace sact::test
