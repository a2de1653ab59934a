// Options of commands that take images.
#pragma once

#include <CLI/CLI.hpp>

#include "app/inputs.h"

namespace sact::cli {

/// Adds --shard K/N.
void add_shard_option(CLI::App& command, app::Shard& shard);
/// Adds --max-pixels N, which messages about large images then name.
void add_max_pixels_option(CLI::App& command, io::ReadOptions& options);

}  // namespace sact::cli
