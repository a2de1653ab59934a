#include "results/plots.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/text.h"

namespace sact::results {
namespace {

using report::Plot;
using report::Series;

/// A row's place among the colours, and among the markers of its colour.
struct Look {
  int color = 0, marker = 0;
};

/// Numbers for names in the order in which they are first asked for.
class Numbering {
 public:
  int of(const std::string& name) {
    return numbers_.try_emplace(name, int(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, int> numbers_;
};

/// The same look for a row and for its baseline of the same label.
std::vector<Look> looks_of(const std::vector<Row>& rows) {
  Numbering colors;
  std::map<std::string, Numbering> markers;
  std::vector<Look> looks;
  for (const Row& row : rows) {
    const std::string main = row.main_series();
    const int color = colors.of(main);
    // Starting at the colour's own marker keeps a series' first row the same in all plots.
    looks.push_back({color, color + markers[main].of(row.label)});
  }
  return looks;
}

Series empty_series(const Row& row, int color) {
  Series series;
  series.markers = true;
  series.style = color;
  series.secondary = row.is_baseline();
  return series;
}

enum class Across { kFlops, kSide };

void add_point(Series& series, const Summary& summary, Size size, Across across) {
  const bool flops = across == Across::kFlops;
  series.x.push_back(flops ? summary.flops.mean * 1e-9 : std::sqrt(double(size.positions())));
  series.x_error.push_back(flops ? summary.flops.std * 1e-9 : 0);
  series.y.push_back(100 * summary.accuracy.mean);
  series.y_error.push_back(100 * summary.accuracy.spread);
}

Plot empty_plot(std::string title, std::string x_label) {
  Plot plot;
  plot.title = std::move(title);
  plot.x_label = std::move(x_label);
  plot.y_label = "accuracy (%)";
  plot.width = 480;
  plot.height = 360;
  return plot;
}

constexpr const char* kFlopsLabel = "GFLOP per image";

std::string size_text(Size size, const char* times) {
  return fmt::format("{}{}{}", size.height, times, size.width);
}

bool labelled_by_main(const Row& row, const std::vector<Row>& rows) {
  return row.is_baseline() && std::any_of(rows.begin(), rows.end(), [&](const Row& other) {
           return other.series == row.main_series() && other.label == row.label;
         });
}

/// Rows of a series are joined from the cheapest to the dearest, in whatever order they came.
Plot plot_at(const std::vector<Row>& rows, const std::vector<Look>& looks, Size size) {
  struct Point {
    size_t row;
    Summary summary;
  };
  std::vector<Point> points;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (auto s = summary(rows[i], size)) points.push_back({i, std::move(*s)});
  }
  std::vector<std::string> names;  // in the order of the rows, for the legend
  for (const Point& point : points) {
    const std::string& name = rows[point.row].series;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.summary.flops.mean < b.summary.flops.mean;
  });
  Plot plot = empty_plot("Tested at " + size_text(size, "×"), kFlopsLabel);
  for (const std::string& name : names) {
    Series series;
    for (const Point& point : points) {
      const Row& row = rows[point.row];
      if (row.series != name) continue;
      if (series.x.empty()) series = empty_series(row, looks[point.row].color);
      add_point(series, point.summary, size, Across::kFlops);
      // A baseline stands close to its main point, and the label there serves both.
      series.labels.push_back(labelled_by_main(row, rows) ? "" : row.label);
    }
    series.name = name;
    plot.series.push_back(std::move(series));
  }
  return plot;
}

/// One line for each row of `curves`, through all sizes.
Plot plot_of_sizes(const std::vector<Row>& rows, const std::vector<Look>& looks,
                   const std::vector<size_t>& curves, Across across) {
  Plot plot = across == Across::kFlops
                  ? empty_plot("FLOPs and accuracy for varying resolution", kFlopsLabel)
                  : empty_plot("Resolution and accuracy", "side of the test images (pixels)");
  const std::vector<Size> sizes = sizes_of(rows);
  // A legend of many lines goes below the plot and shall not eat it up.
  if (curves.size() > 6) plot.height += 9 * int(curves.size());
  for (const size_t i : curves) {
    Series series = empty_series(rows[i], looks[i].color);
    series.marker = looks[i].marker;
    series.name = rows[i].name();
    for (const Size size : sizes) {
      if (const auto s = summary(rows[i], size)) add_point(series, *s, size, across);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

/// The rows of these names, or all when there are none.
std::vector<size_t> rows_named(const std::vector<Row>& rows,
                               const std::vector<std::string>& names) {
  std::vector<size_t> found;
  for (size_t i = 0; i < rows.size(); ++i) found.push_back(i);
  if (names.empty()) return found;
  found.clear();
  for (const std::string& name : names) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& candidate) {
      return name == candidate.name() || name == candidate.series + ":" + candidate.label;
    });
    if (row == rows.end()) fail("there is no row '{}' to draw a curve of", printable(name));
    found.push_back(size_t(row - rows.begin()));
  }
  return found;
}

}  // namespace

std::vector<Size> default_plot_sizes(const std::vector<Row>& rows) {
  const std::vector<Size> sizes = sizes_of(rows);
  Size first = sizes.front();
  for (const Row& row : rows) {
    const auto& spec = row.seeds.front().spec;
    if (!spec) continue;
    const Size own{spec->input.size, spec->input.size};
    if (std::find(sizes.begin(), sizes.end(), own) != sizes.end()) first = own;
    break;
  }
  if (first == sizes.back()) return {first};
  return {first, sizes.back()};
}

std::vector<NamedPlot> paper_plots(const std::vector<Row>& rows, const std::vector<Size>& sizes,
                                   const std::vector<std::string>& curves) {
  const std::vector<Look> looks = looks_of(rows);
  std::vector<NamedPlot> plots;
  for (const Size size : sizes) {
    plots.push_back({"flops-at-" + size_text(size, "x"), plot_at(rows, looks, size)});
  }
  const std::vector<size_t> drawn = rows_named(rows, curves);
  if (sizes_of(rows).size() > 1) {
    plots.push_back({"resolution", plot_of_sizes(rows, looks, drawn, Across::kSide)});
    plots.push_back({"flops-of-resolutions", plot_of_sizes(rows, looks, drawn, Across::kFlops)});
  }
  return plots;
}

}  // namespace sact::results
