// The file of a checkpoint, as it is read and written without LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/json.h"
#include "io/safetensors.h"
#include "model/spec.h"

namespace sact::train {

/// Where a run stands. All randomness is a function of seed, epoch and image, so these numbers are
/// the whole state of the random generators too.
struct Progression {
  int64_t epoch = 0;       // the epoch that is under way
  int64_t position = 0;    // images of it that are done
  int64_t step = 0;        // steps since the start
  double best_score = -1;  // of an evaluation
  int workers = 1;         // processes that train
  // Of the epoch under way, for its line in the log.
  double images = 0, seconds = 0;
  std::vector<double> sums, maxima;  // of what its steps gave, the loss first

  /// Where it stands when the numbers of the epoch that is done are no longer needed.
  Progression next_epoch() const;
};

std::string to_json(const Progression& progression);
/// Throws sact::Error, naming the file, when a number is missing.
Progression progression_from_json(const std::string& json, const std::string& name);

/// What a run is.
struct RunIdentity {
  std::string command;        // "sact train": what made it
  std::string settings_json;  // all of them
  ModelSpec spec;             // of its network
};

/// The tensors, the progression and what the run is in one safetensors file, which appears whole or
/// not at all and carries a checksum of every byte. The one that it replaces stays beside it.
void write_checkpoint(const std::filesystem::path& path, std::span<const io::NamedTensor> tensors,
                      const Progression& progression, const RunIdentity& run);

/// What the checkpoint before that of `path` is called.
std::filesystem::path previous_checkpoint(const std::filesystem::path& path);

/// A checkpoint that is there. All members throw sact::Error, naming the file, when what they read
/// is damaged.
class Checkpoint {
 public:
  /// Compares the checksum, and reads the progression.
  explicit Checkpoint(const std::filesystem::path& path);

  std::string name() const { return file_.name(); }
  /// Files of early versions have no checksum: damage to them may go unseen.
  bool summed() const { return file_.metadata().contains(io::kChecksumKey); }

  /// Of the run, as JSON.
  std::string settings_json() const;
  /// What made the run; empty where a file of an early version does not tell.
  std::string command() const;
  /// Of its network; nothing in files of early versions, which did not store it.
  std::optional<ModelSpec> spec() const;
  const Progression& progression() const { return progression_; }
  /// The values of a tensor, which must have that shape.
  std::vector<float> values(const std::string& tensor, const io::Shape& shape) const;

 private:
  Progression read_progression() const;

  io::SafetensorsFile file_;
  io::Json json_;
  Progression progression_;
};

}  // namespace sact::train
