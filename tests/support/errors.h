// Checking that something is refused with a message that helps.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sact/error.h"

namespace sact::test {

/// Runs `action`; returns the message of the sact::Error it throws, or fails the test.
template <typename Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_FALSE(message.empty());
    EXPECT_EQ(message.find('\n'), std::string::npos) << "not one line: " << message;
    return message;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace sact::test
