// How many threads this process may use, and telling OpenMP so.
#pragma once

namespace sact {

/// Processors that this process may run on: the affinity mask, cut by a container's CPU quota.
int available_threads();

/// Sets the number of OpenMP threads; 0 means available_threads(). Returns the number in force.
int set_threads(int threads);

}  // namespace sact
