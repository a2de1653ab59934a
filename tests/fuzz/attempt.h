// What nearly every input of a fuzz target ends with.
#pragma once

#include "sact/error.h"

namespace sact::test {

/// Runs it; a sact::Error is a right answer.
template <typename Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

}  // namespace sact::test
