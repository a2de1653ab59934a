// The plots of the paper's figure on ImageNet: accuracy over FLOPs and over resolution.
#pragma once

#include <string>
#include <vector>

#include "report/plot.h"
#include "results/rows.h"

namespace sact::results {

struct NamedPlot {
  std::string name;  // of its file, without ending
  report::Plot plot;
};

/// The size that the networks were made for and the largest that any was evaluated at.
std::vector<Size> default_plot_sizes(const std::vector<Row>& rows);

/// Accuracy over FLOPs at each of `sizes`, one point for each row and one line for each series;
/// and, when there is more than one size in the results, accuracy over resolution and over the
/// FLOPs of all resolutions, one line for each row, or for those named in `curves`. A series has
/// one colour in all plots, and its baseline the same, dashed.
std::vector<NamedPlot> paper_plots(const std::vector<Row>& rows, const std::vector<Size>& sizes,
                                   const std::vector<std::string>& curves = {});

}  // namespace sact::results
