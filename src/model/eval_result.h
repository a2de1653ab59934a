// What evaluating a model over a data set gives, and its JSON: `sact eval --json` prints it, and
// the commands that compare results read it back, so that nothing needs to be evaluated twice.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.h"
#include "model/spec.h"

namespace sact {

struct MeanStd {
  double mean = 0, std = 0;
};

io::Json to_json(const MeanStd& value);

/// The evaluation at one image size. Means and deviations are over images.
struct EvalOutcome {
  Size size;
  int64_t images = 0;
  double accuracy = 0, recall5 = 0;  // proportions
  double seconds = 0;                // all of it, decoding included
  double network_seconds = 0;        // running the network alone
  MeanStd flops;
  std::vector<MeanStd> units, ponder_cost;  // of each block, mean over positions
};

struct EvalResult {
  std::string model;              // path of the model file
  std::optional<ModelSpec> spec;  // results that were not written by `sact eval` may lack it
  std::vector<EvalOutcome> sizes;

  /// The outcome at that size, or null.
  const EvalOutcome* find(Size size) const;
};

/// The first size at the top level, all of them under "sizes". The result must have a spec.
io::Json to_json(const EvalResult& result);

/// Reads what to_json() gave, without times and ponder costs. Throws sact::Error, naming the key,
/// for JSON that is damaged or lacks something; `name` says where it came from.
EvalResult eval_result_from_json(std::string_view text, const std::string& name);
EvalResult read_eval_result(const std::filesystem::path& path);

/// The outcome at the given size; without one, the only outcome, or that at the model's own size.
/// Throws sact::Error, listing the sizes there are, when that does not single one out. `name` says
/// whose result it is.
const EvalOutcome& choose_outcome(const EvalResult& result, std::optional<Size> size,
                                  const std::string& name);

/// "128x160, 192x192", for messages.
std::string text_of(const std::vector<Size>& sizes);

}  // namespace sact
