// The build that a program and its components say they are of.
#pragma once

#include "sact_build.h"  // made while building: SACT_BUILD

namespace sact {

/// Version, and a hash of the compiler and of all headers that both sides may share.
inline constexpr char kBuild[] = SACT_BUILD;

/// Components carry it as a note of their ELF file, which can be read before anything of them runs.
inline constexpr char kBuildNoteName[] = "sact";
inline constexpr unsigned kBuildNoteType = 1;

}  // namespace sact
