#include "results/rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace sact::results {
namespace {

constexpr std::string_view kBaseline = " baseline";

/// The same value of every result, such as its accuracy.
template <typename ValueOf>
std::vector<double> values_of(const std::vector<const EvalOutcome*>& outcomes, ValueOf value_of) {
  std::vector<double> values;
  for (const EvalOutcome* outcome : outcomes) values.push_back(value_of(*outcome));
  return values;
}

template <typename MeanStdOf>
MeanStd averaged(const std::vector<const EvalOutcome*>& outcomes, MeanStdOf of) {
  return {seed_mean(values_of(outcomes, [&](const EvalOutcome& o) { return of(o).mean; })).mean,
          seed_mean(values_of(outcomes, [&](const EvalOutcome& o) { return of(o).std; })).mean};
}

void check_same_network(const std::string& name, const EvalResult& a, const EvalResult& b) {
  const auto kind = [](const EvalResult& result) { return result.sizes.front().units.size(); };
  if (kind(a) != kind(b)) {
    fail("'{}': its results have {} and {} blocks; only seeds of one network may share a name",
         printable(name), kind(a), kind(b));
  }
  if (a.spec && b.spec && a.spec->halting != b.spec->halting) {
    fail("'{}': its results have halting {} and {}; only seeds of one network may share a name",
         printable(name), name_of(a.spec->halting), name_of(b.spec->halting));
  }
}

Row row_named(const std::string& name) {
  const size_t colon = name.find(':');
  Row row;
  row.series = name.substr(0, colon);
  if (colon != std::string::npos) row.label = name.substr(colon + 1);
  if (row.series.empty()) {
    fail("'{}': a name is SERIES or SERIES:LABEL, such as SACT:0.005", printable(name));
  }
  return row;
}

}  // namespace

NameAndFile split_argument(std::string_view argument) {
  const size_t at = argument.rfind('=');
  if (at == std::string_view::npos || at == 0 || at + 1 == argument.size()) {
    fail("'{}': expected NAME=FILE, such as SACT:0.005=sact.json", printable(argument));
  }
  return {std::string(argument.substr(0, at)), std::string(argument.substr(at + 1))};
}

std::string Row::name() const {
  return label.empty() ? series : series + " " + label;
}

bool Row::is_baseline() const {
  return series.size() > kBaseline.size() && series.ends_with(kBaseline);
}

std::string Row::main_series() const {
  return is_baseline() ? series.substr(0, series.size() - kBaseline.size()) : series;
}

std::vector<Row> rows_of(const std::vector<Entry>& entries) {
  std::vector<Row> rows;
  for (const Entry& entry : entries) {
    Row named = row_named(entry.name);
    auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& other) {
      return other.series == named.series && other.label == named.label;
    });
    if (row == rows.end()) row = rows.insert(rows.end(), std::move(named));
    if (!row->seeds.empty()) check_same_network(entry.name, row->seeds.front(), entry.result);
    row->seeds.push_back(entry.result);
  }
  return rows;
}

std::vector<Size> sizes_of(const std::vector<Row>& rows) {
  std::vector<Size> sizes;
  for (const Row& row : rows) {
    for (const EvalResult& result : row.seeds) {
      for (const EvalOutcome& outcome : result.sizes) {
        if (std::find(sizes.begin(), sizes.end(), outcome.size) == sizes.end()) {
          sizes.push_back(outcome.size);
        }
      }
    }
  }
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](Size a, Size b) { return a.positions() < b.positions(); });
  return sizes;
}

std::vector<Size> chosen_sizes(const std::vector<Row>& rows, const std::vector<Size>& wanted,
                               const std::vector<Size>& otherwise) {
  const std::vector<Size> known = sizes_of(rows);
  for (const Size size : wanted) {
    if (std::find(known.begin(), known.end(), size) == known.end()) {
      fail("there is no result at {}; sizes in these results: {}", text_of({size}), text_of(known));
    }
  }
  return wanted.empty() ? otherwise : wanted;
}

SeedMean seed_mean(const std::vector<double>& values) {
  SACT_ASSERT(!values.empty());
  const double count = double(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() <= 2) return {mean, std::abs(values.front() - values.back()) / 2};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (count - 1))};
}

bool Summary::fixed_work() const {
  // Deviations of equal numbers may come out as a little more than 0.
  const auto fixed = [](const MeanStd& value) { return value.std <= 1e-5 * value.mean; };
  return fixed(flops) && std::all_of(units.begin(), units.end(), fixed);
}

std::optional<Summary> summary(const Row& row, Size size) {
  std::vector<const EvalOutcome*> outcomes;
  for (const EvalResult& result : row.seeds) {
    if (const EvalOutcome* outcome = result.find(size)) outcomes.push_back(outcome);
  }
  if (outcomes.empty()) return std::nullopt;
  Summary summary;
  summary.seeds = int(outcomes.size());
  summary.images = outcomes.front()->images;
  summary.accuracy =
      seed_mean(values_of(outcomes, [](const EvalOutcome& o) { return o.accuracy; }));
  summary.recall5 = seed_mean(values_of(outcomes, [](const EvalOutcome& o) { return o.recall5; }));
  summary.flops = averaged(outcomes, [](const EvalOutcome& o) { return o.flops; });
  for (size_t block = 0; block < outcomes.front()->units.size(); ++block) {
    summary.units.push_back(
        averaged(outcomes, [block](const EvalOutcome& o) { return o.units[block]; }));
  }
  return summary;
}

std::string doubts(const std::vector<Row>& rows, Size size) {
  const Row* first = nullptr;
  int64_t images = 0;
  for (const Row& row : rows) {
    for (const EvalResult& result : row.seeds) {
      const EvalOutcome* outcome = result.find(size);
      if (!outcome) continue;
      if (!first) {
        first = &row;
        images = outcome->images;
      } else if (outcome->images != images) {
        return fmt::format(
            "at {}x{} '{}' was evaluated on {} images and '{}' on {}: they may not be comparable",
            size.height, size.width, printable(first->name()), images, printable(row.name()),
            outcome->images);
      }
    }
  }
  return {};
}

}  // namespace sact::results
