// Work in a process of its own, for libraries that a damaged file can crash or keep busy for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sact {

struct ChildLimits {
  uint64_t memory = uint64_t(4) << 30;  // bytes that the child may take in addition
  int seconds = 60;
};

/// What `work` returns when it is called in a child process, which shares nothing with this one and
/// prints nothing. Its sact::Error is thrown here. Nothing where the child crashed or reached its
/// limits. Any number of threads may call this at the same time.
std::optional<std::vector<std::byte>> run_in_child(
    const std::function<std::vector<std::byte>()>& work, const ChildLimits& limits = {});

}  // namespace sact
