// Numbers as people read them.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace sact {

/// "1 unit", "3 units"; give the plural where it is not made with an s.
std::string pluralize(int64_t count, std::string_view one, std::string_view many = {});

/// 15602814976 -> "15 602 814 976".
std::string format_grouped(int64_t value);

/// 15602814976 -> "15.6 GFLOP".
std::string format_flops(double flops);

/// 44549160 -> "42.5 MiB".
std::string format_bytes(uint64_t bytes);

/// Seconds -> "850 ms", "12.3 s", "3 min 05 s", "2 h 10 min".
std::string format_duration(double seconds);

}  // namespace sact
