#include "results/table.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace sact::results {
namespace {

/// Decimals that show four digits of the smallest number of a column: enough to tell networks of
/// like size apart.
int decimals_for(double smallest) {
  if (!(smallest > 0)) return 2;
  return std::clamp(3 - int(std::floor(std::log10(smallest))), 2, 6);
}

std::string flops_text(const Summary& summary, int decimals) {
  const double mean = summary.flops.mean * 1e-9, std = summary.flops.std * 1e-9;
  if (summary.fixed_work()) return fmt::format("{:.{}f}", mean, decimals);
  return fmt::format("{:.{}f} ± {:.{}f}", mean, decimals, std, decimals);
}

/// "2, 4, 13, 3", or "2.3 ± 0.4, ..." for an adaptive network.
std::string units_text(const Summary& summary) {
  std::vector<std::string> blocks;
  for (const MeanStd& units : summary.units) {
    const bool whole = std::abs(units.mean - std::round(units.mean)) < 1e-6;
    blocks.push_back(!summary.fixed_work() ? fmt::format("{:.1f} ± {:.1f}", units.mean, units.std)
                     : whole               ? fmt::format("{:.0f}", units.mean)
                                           : fmt::format("{:.1f}", units.mean));
  }
  return fmt::format("{}", fmt::join(blocks, ", "));
}

std::string percent_text(const SeedMean& value, int seeds) {
  if (seeds == 1) return fmt::format("{:.2f}", 100 * value.mean);
  return fmt::format("{:.2f} ± {:.2f}", 100 * value.mean, 100 * value.spread);
}

std::string number(double value) {
  return fmt::format("{}", value);
}

io::Json to_json(const SeedMean& value) {
  return {{"mean", value.mean}, {"spread", value.spread}};
}

}  // namespace

report::Table results_table(const std::vector<Row>& rows, Size size) {
  report::Table table;
  table.header = {"network", "GFLOP", "residual units", "accuracy %", "recall@5 %", "seeds"};
  table.align = {report::ColumnAlign::kLeft};
  double smallest = HUGE_VAL;
  for (const Row& row : rows) {
    if (const auto s = summary(row, size)) smallest = std::min(smallest, s->flops.mean * 1e-9);
  }
  for (const Row& row : rows) {
    const auto s = summary(row, size);
    if (s) {
      table.rows.push_back({row.name(), flops_text(*s, decimals_for(smallest)), units_text(*s),
                            percent_text(s->accuracy, s->seeds), percent_text(s->recall5, s->seeds),
                            fmt::format("{}", s->seeds)});
    } else {
      table.rows.push_back({row.name(), "—", "—", "—", "—", "—"});
    }
  }
  return table;
}

std::string table_title(const std::vector<Row>& rows, Size size) {
  int64_t images = 0;
  for (const Row& row : rows) {
    if (const auto s = summary(row, size)) images = std::max(images, s->images);
  }
  return fmt::format("{}×{}, {} images", size.height, size.width, format_grouped(images));
}

std::string footnote(const std::vector<Row>& rows, const std::vector<Size>& sizes) {
  bool adaptive = false, two = false, more = false;
  for (const Row& row : rows) {
    for (const Size size : sizes) {
      const auto s = summary(row, size);
      adaptive = adaptive || (s && !s->fixed_work());
      two = two || (s && s->seeds == 2);
      more = more || (s && s->seeds > 2);
    }
  }
  std::vector<std::string> parts;
  if (adaptive) {
    parts.push_back(fmt::format("GFLOP and residual units: mean ± standard deviation over images{}",
                                two || more ? ", both averaged over seeds" : ""));
  }
  if (two || more) {
    parts.push_back(fmt::format(
        "Accuracy and recall@5: mean over seeds ± {}",
        two && more ? "half the range of two seeds or the standard deviation of three or more"
        : two       ? "half the range of the two seeds"
                    : "the standard deviation over seeds"));
  }
  std::string text = fmt::format("{}", fmt::join(parts, ". "));
  return text.empty() ? text : text + ".";
}

report::Table numbers_table(const std::vector<Row>& rows, const std::vector<Size>& sizes) {
  report::Table table;
  table.header = {"network",         "series",  "label",         "height",    "width",
                  "seeds",           "images",  "flops",         "flops_std", "accuracy",
                  "accuracy_spread", "recall5", "recall5_spread"};
  size_t blocks = 0;
  for (const Size size : sizes) {
    for (const Row& row : rows) {
      const auto s = summary(row, size);
      if (!s) continue;
      blocks = std::max(blocks, s->units.size());
      std::vector<std::string> cells = {row.name(),
                                        row.series,
                                        row.label,
                                        fmt::format("{}", size.height),
                                        fmt::format("{}", size.width),
                                        fmt::format("{}", s->seeds),
                                        fmt::format("{}", s->images),
                                        number(s->flops.mean),
                                        number(s->flops.std),
                                        number(s->accuracy.mean),
                                        number(s->accuracy.spread),
                                        number(s->recall5.mean),
                                        number(s->recall5.spread)};
      for (const MeanStd& units : s->units) {
        cells.push_back(number(units.mean));
        cells.push_back(number(units.std));
      }
      table.rows.push_back(std::move(cells));
    }
  }
  for (size_t block = 1; block <= blocks; ++block) {
    table.header.push_back(fmt::format("units_{}", block));
    table.header.push_back(fmt::format("units_{}_std", block));
  }
  return table;
}

io::Json to_json(const std::vector<Row>& rows, const std::vector<Size>& sizes) {
  io::Json tables = io::Json::array();
  for (const Size size : sizes) {
    io::Json listed = io::Json::array();
    for (const Row& row : rows) {
      const auto s = summary(row, size);
      if (!s) continue;
      io::Json units = io::Json::array();
      for (const MeanStd& block : s->units) units.push_back(to_json(block));
      listed.push_back({{"network", row.name()},
                        {"series", row.series},
                        {"label", row.label},
                        {"seeds", s->seeds},
                        {"images", s->images},
                        {"flops", to_json(s->flops)},
                        {"units", units},
                        {"accuracy", to_json(s->accuracy)},
                        {"recall5", to_json(s->recall5)}});
    }
    tables.push_back({{"height", size.height}, {"width", size.width}, {"rows", listed}});
  }
  return {{"tables", tables}, {"footnote", footnote(rows, sizes)}};
}

}  // namespace sact::results
