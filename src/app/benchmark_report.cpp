// What is shown of a benchmark: JSON and tables.
#include "app/benchmark.h"

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace sact::app {
namespace {

io::Json layer_json(const LayerTime& layer, const BenchmarkGroup& group) {
  io::Json json = {{"name", layer.name},
                   {"dtype", precision_name(group.precision)},
                   {"batch", group.batch},
                   {"height", group.size.height},
                   {"width", group.size.width},
                   {"rows", layer.rows},
                   {"taps", layer.taps},
                   {"depth", layer.depth},
                   {"columns", layer.columns},
                   {"tap_order", layer.tap_order},
                   {"threads", {{"rows", layer.row_parts}, {"columns", layer.column_parts}}},
                   {"ms", 1e3 * layer.seconds},
                   {"gflops_per_second", 1e-9 * layer.operations() / layer.seconds}};
  if (layer.ceiling_seconds() > 0) {
    json["bytes"] = layer.bytes;
    json["ceiling_ms"] = 1e3 * layer.ceiling_seconds();
    json["device"] = {{"bytes_per_second", layer.bytes_per_second},
                      {"flops_per_second", layer.operations_per_second}};
  }
  return json;
}

/// Whether all rows are of the same images in the same type.
bool same_group(const std::vector<BenchmarkRow>& rows) {
  return !rows.empty() && std::all_of(rows.begin(), rows.end(), [&](const BenchmarkRow& row) {
    const BenchmarkGroup &a = row.group, &b = rows.front().group;
    return a.size == b.size && a.batch == b.batch && a.precision == b.precision;
  });
}

}  // namespace

io::Json benchmark_json(const std::string& model, const BenchmarkResult& result) {
  io::Json list = io::Json::array();
  for (const BenchmarkRow& row : result.rows) {
    io::Json json = {{"model", model},
                     {"what", row.what},
                     {"device", result.device},
                     {"isa", row.kernels.isa},
                     {"dtype", precision_name(row.group.precision)},
                     {"batch", row.group.batch},
                     {"height", row.group.size.height},
                     {"width", row.group.size.width},
                     {"threads", result.threads},
                     {"density", row.density},
                     {"runs", row.times.ms.size()},
                     {"ms",
                      {{"median", row.times.median()},
                       {"p10", row.times.quantile(0.1)},
                       {"p90", row.times.quantile(0.9)}}},
                     {"gflop", row.flops * 1e-9},
                     {"gflops_per_second", row.rate() * 1e-9},
                     {"dense_ms", row.dense_ms},
                     {"theoretical_speedup", row.theoretical()},
                     {"speedup", row.speedup},
                     {"realised", row.speedup / row.theoretical()}};
    if (row.exact_dense_ms > 0) {
      json["speedup_over_exact"] = row.speedup_over_exact();
      json["realised_over_exact"] = row.speedup_over_exact() / row.theoretical();
    }
    if (!row.kernels.why.empty()) {
      json["kernel_dtype"] = row.kernels.dtype;
      json["kernels_because"] = row.kernels.why;
    }
    if (row.peak > 0) {
      json["peak_gflops_per_second"] = row.peak * 1e-9;
      json["of_peak"] = row.rate() / row.peak;
    }
    list.push_back(std::move(json));
  }
  io::Json json = {{"rows", std::move(list)}};
  for (const TimedLayers& timed : result.layers) {
    for (const LayerTime& layer : timed.layers) {
      json["per_layer"].push_back(layer_json(layer, timed.group));
    }
  }
  return json;
}

report::Table benchmark_table(const std::vector<BenchmarkRow>& rows) {
  using Cell = std::function<std::string(const BenchmarkRow&)>;
  struct Column {
    const char* header;
    Cell cell;
  };
  std::vector<Column> columns = {{"what", [](const auto& row) { return row.what; }}};
  const auto add = [&](const char* header, Cell cell) { columns.push_back({header, cell}); };
  if (!same_group(rows)) {
    add("dtype", [](const auto& row) { return std::string(precision_name(row.group.precision)); });
    add("batch", [](const auto& row) { return std::to_string(row.group.batch); });
    add("size", [](const auto& row) {
      return fmt::format("{}×{}", row.group.size.height, row.group.size.width);
    });
  }
  add("density", [](const auto& row) { return fmt::format("{:.2f}", row.density); });
  add("ms", [](const auto& row) { return fmt::format("{:.2f}", row.times.median()); });
  add("10-90 %", [](const auto& row) {
    return fmt::format("{:.2f}-{:.2f}", row.times.quantile(0.1), row.times.quantile(0.9));
  });
  add("GFLOP", [](const auto& row) { return fmt::format("{:.3f}", row.flops * 1e-9); });
  if (std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.peak > 0; })) {
    add("GFLOP/s", [](const auto& row) { return fmt::format("{:.1f}", row.rate() * 1e-9); });
    add("of peak %", [](const auto& row) {
      return row.peak > 0 ? fmt::format("{:.1f}", 100 * row.rate() / row.peak) : "";
    });
  }
  add("promised", [](const auto& row) { return fmt::format("{:.3f}", row.theoretical()); });
  add("speed-up", [](const auto& row) { return fmt::format("{:.3f}", row.speedup); });
  add("realised %",
      [](const auto& row) { return fmt::format("{:.1f}", 100 * row.speedup / row.theoretical()); });
  if (std::any_of(rows.begin(), rows.end(),
                  [](const auto& row) { return row.exact_dense_ms > 0; })) {
    add("over exact", [](const auto& row) {
      return row.exact_dense_ms > 0 ? fmt::format("{:.3f}", row.speedup_over_exact()) : "";
    });
  }
  report::Table table;
  for (const Column& column : columns) table.header.push_back(column.header);
  for (const BenchmarkRow& row : rows) {
    table.rows.emplace_back();
    for (const Column& column : columns) table.rows.back().push_back(column.cell(row));
  }
  return table;
}

std::string text_of(const BenchmarkGroup& group) {
  return fmt::format("{} of {}x{} in {}", pluralize(group.batch, "image"), group.size.height,
                     group.size.width, precision_name(group.precision));
}

std::vector<std::string> kernel_lines(const std::vector<BenchmarkRow>& rows) {
  std::vector<std::string> lines;
  for (const BenchmarkRow& row : rows) {
    const std::string dtype = precision_name(row.group.precision);
    const KernelFacts& kernels = row.kernels;
    const std::string operands = kernels.dtype == dtype ? "" : " " + kernels.dtype;
    const std::string line =
        fmt::format("{}: {}{} kernels, {}", dtype, kernels.isa, operands, kernels.why);
    const bool known = std::find(lines.begin(), lines.end(), line) != lines.end();
    if (!kernels.why.empty() && !known) lines.push_back(line);
  }
  return lines;
}

std::string benchmark_caption(const std::vector<BenchmarkRow>& rows) {
  return same_group(rows) ? text_of(rows.front().group) : "";
}

std::string benchmark_doubt(const std::vector<BenchmarkRow>& rows) {
  constexpr double kTolerated = 1.5;
  double spread = 1;
  for (const BenchmarkRow& row : rows) {
    spread = std::max(spread, row.times.quantile(0.9) / row.times.quantile(0.1));
  }
  if (spread <= kTolerated) return "";
  return fmt::format(
      "times differ {:.1f}-fold from run to run: the machine is busy with other work, "
      "and these ratios mean little",
      spread);
}

report::Table benchmark_numbers(const std::vector<BenchmarkRow>& rows) {
  report::Table table;
  table.header = {"what",
                  "dtype",
                  "batch",
                  "height",
                  "width",
                  "density",
                  "ms",
                  "ms_p10",
                  "ms_p90",
                  "gflop",
                  "gflops_per_second",
                  "of_peak",
                  "theoretical_speedup",
                  "speedup",
                  "realised"};
  for (const BenchmarkRow& row : rows) {
    const BenchmarkGroup& group = row.group;
    std::vector<std::string> cells = {row.what, precision_name(group.precision)};
    for (double value :
         {double(group.batch), double(group.size.height), double(group.size.width), row.density,
          row.times.median(), row.times.quantile(0.1), row.times.quantile(0.9), row.flops * 1e-9,
          row.rate() * 1e-9, row.peak > 0 ? row.rate() / row.peak : 0.0, row.theoretical(),
          row.speedup, row.speedup / row.theoretical()}) {
      cells.push_back(fmt::format("{}", value));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

report::Table layer_table(const TimedLayers& timed) {
  report::Table table;
  const bool on_device = !timed.layers.empty() && timed.layers.front().ceiling_seconds() > 0;
  table.header = {"layer", "rows", "product"};
  for (const char* header :
       on_device ? std::vector{"MB", "GFLOP", "ms", "ceiling ms", "of it %", "GFLOP/s"}
                 : std::vector{"taps", "threads", "ms", "GFLOP/s"}) {
    table.header.emplace_back(header);
  }
  for (const LayerTime& layer : timed.layers) {
    std::vector<std::string> cells = {layer.name, std::to_string(layer.rows), layer.product()};
    const std::string ms = fmt::format("{:.3f}", 1e3 * layer.seconds);
    if (on_device) {
      cells.push_back(fmt::format("{:.2f}", 1e-6 * layer.bytes));
      cells.push_back(fmt::format("{:.3f}", 1e-9 * layer.operations()));
      cells.push_back(ms);
      cells.push_back(fmt::format("{:.4f}", 1e3 * layer.ceiling_seconds()));
      cells.push_back(fmt::format("{:.0f}", 100 * layer.ceiling_seconds() / layer.seconds));
    } else {
      cells.push_back(layer.tap_order);
      cells.push_back(fmt::format("{} x {}", layer.row_parts, layer.column_parts));
      cells.push_back(ms);
    }
    cells.push_back(fmt::format("{:.0f}", 1e-9 * layer.operations() / layer.seconds));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace sact::app
