// How many threads this process may use.
#pragma once

namespace sact {

/// Processors that this process may run on: the affinity mask, cut by a container's CPU quota.
int available_threads();

/// More are never of use, and mostly a slip.
inline constexpr int kMaxThreads = 1024;

/// The number that was asked for, or available_threads() for 0.
int thread_count(int asked);

}  // namespace sact
