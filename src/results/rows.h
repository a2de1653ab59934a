// Results of several models side by side: which belong to one row of a table, and their means.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/eval_result.h"

namespace sact::results {

/// A result under its name on the command line.
struct Entry {
  std::string name;
  EvalResult result;
};

struct NameAndFile {
  std::string name, file;
};

/// Splits "NAME=FILE" at its last '=', so that a name may be "SACT:τ=0.005".
NameAndFile split_argument(std::string_view argument);

/// One row of the table: the results of models that differ in their seeds only. A name
/// "SERIES:LABEL" puts the row into a series, whose points a plot joins by a line; a name without
/// colon is a series of its own. A series "X baseline" is drawn beside the series X.
struct Row {
  std::string series, label;
  std::vector<EvalResult> seeds;

  std::string name() const;  // "SERIES LABEL"
  bool is_baseline() const;
  std::string main_series() const;  // the series without " baseline"
};

/// Entries of the same name become one row; rows stand in the order of their first entries.
std::vector<Row> rows_of(const std::vector<Entry>& entries);

/// All sizes that any result has, from small to large.
std::vector<Size> sizes_of(const std::vector<Row>& rows);

/// `wanted`, each of which must be in some result, or `otherwise` when none is wanted.
std::vector<Size> chosen_sizes(const std::vector<Row>& rows, const std::vector<Size>& wanted,
                               const std::vector<Size>& otherwise);

/// A mean over seeds. The spread is half the range of two seeds, the sample standard deviation of
/// three or more, and 0 for a single one.
struct SeedMean {
  double mean = 0, spread = 0;
};
SeedMean seed_mean(const std::vector<double>& values);

/// A row at one size. The deviations of FLOPs and units are those over images, averaged over seeds.
struct Summary {
  int seeds = 0;  // those that were evaluated at this size
  int64_t images = 0;
  SeedMean accuracy, recall5;
  MeanStd flops;
  std::vector<MeanStd> units;

  /// Every image is given the same work: a plain network.
  bool fixed_work() const;
};

/// Nothing when no seed was evaluated at this size.
std::optional<Summary> summary(const Row& row, Size size);

/// What makes the results at this size hard to compare, in a sentence: they are of different
/// numbers of images. Empty when all is well.
std::string doubts(const std::vector<Row>& rows, Size size);

}  // namespace sact::results
