// What this processor reaches at best.
#pragma once

#include <cstdint>

#include "base/thread_team.h"
#include "kernels/cpu/kernels.h"

namespace sact::engine {

/// Multiply-adds in registers on all threads: the operations per second that the processor reaches
/// at best.
class Peak {
 public:
  Peak(const kernels::Table& table, kernels::DataType type, int threads);
  /// One short measurement, in operations a second.
  double measure();

 private:
  const kernels::TypedFunctions& functions_;
  ThreadTeam team_;
  int64_t steps_ = 1 << 16;
};

}  // namespace sact::engine
