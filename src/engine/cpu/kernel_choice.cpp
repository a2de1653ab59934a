#include "engine/cpu/kernel_choice.h"

#include <cstdlib>

namespace sact::engine {

const kernels::Table& kernel_table(const std::string& asked) {
  if (!asked.empty()) return kernels::chosen_table(asked);
  const char* environment = std::getenv("SACT_ISA");
  return kernels::chosen_table(environment ? environment : "");
}

}  // namespace sact::engine
