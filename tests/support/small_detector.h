// The smallest detector that finds something, as `sact new --spec` takes it.
#pragma once

namespace sact::test {

inline constexpr const char* kSmallDetector =
    R"({"units": [1, 2, 2], "width": 4, "classes": 3, "halting": "sact",
     "labels": ["cat", "dog", "car"],
     "detection": {"shorter_side": 64, "anchor_sizes": [16, 32], "proposals": 20,
                   "proposal_channels": 8, "crop": 8, "pool": 2}})";

/// The same with a cut that no box is above: for objects of a score of 0.05 and more it looks at
/// none.
inline constexpr const char* kSmallDetectorWithCut =
    R"({"units": [1, 2, 2], "width": 4, "classes": 3, "halting": "sact",
     "labels": ["cat", "dog", "car"],
     "detection": {"shorter_side": 64, "anchor_sizes": [16, 32], "proposals": 20,
                   "proposal_channels": 8, "crop": 8, "pool": 2, "box_cuts": [[0.05, 1000]]}})";

}  // namespace sact::test
