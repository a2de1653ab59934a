// What the plots of results show.
#include "results/plots.h"

#include <gtest/gtest.h>

#include "examples.h"
#include "support/errors.h"

namespace sact::results {
namespace {

constexpr Size k128{128, 128}, k192{192, 192};

std::vector<Row> example() {
  return rows_of({{"ResNet", test::plain(0.76, {128, 192}, 3e9)},
                  {"SACT:0.001", test::adaptive(0.75, {128, 192}, 2e9)},
                  {"SACT baseline:0.001", test::plain(0.74, {128, 192}, 2.1e9)},
                  {"SACT:0.01", test::adaptive(0.70, {128, 192}, 1e9)},
                  {"SACT:0.01", test::adaptive(0.72, {128, 192}, 1e9)},
                  {"SACT baseline:0.01", test::plain(0.69, {128}, 1.1e9)}});
}

const report::Plot& plot_named(const std::vector<NamedPlot>& plots, const std::string& name) {
  for (const NamedPlot& plot : plots) {
    if (plot.name == name) return plot.plot;
  }
  ADD_FAILURE() << "no plot " << name;
  return plots.front().plot;
}

const report::Series& series_named(const report::Plot& plot, const std::string& name) {
  for (const report::Series& series : plot.series) {
    if (series.name == name) return series;
  }
  ADD_FAILURE() << "no series " << name;
  return plot.series.front();
}

TEST(ResultPlots, SeriesRunsFromCheapToDearWithErrorBars) {
  const auto plots = paper_plots(example(), {k128, k192});
  const report::Plot& plot = plot_named(plots, "flops-at-128x128");
  ASSERT_EQ(plot.series.size(), 3u);
  const report::Series& sact = series_named(plot, "SACT");
  EXPECT_EQ(sact.x, (std::vector<double>{1, 2}));
  EXPECT_EQ(sact.labels, (std::vector<std::string>{"0.01", "0.001"}));
  ASSERT_EQ(sact.y.size(), 2u);
  EXPECT_NEAR(sact.y[0], 71, 1e-9);
  EXPECT_NEAR(sact.y_error[0], 1, 1e-9) << "half the range of two seeds";
  EXPECT_EQ(sact.y_error[1], 0);
  EXPECT_NEAR(sact.x_error[1], 0.1, 1e-9) << "over images";
}

TEST(ResultPlots, BaselineHasTheColourOfItsSeries) {
  const auto plots = paper_plots(example(), {k128});
  const report::Plot& plot = plots.front().plot;
  const report::Series &sact = series_named(plot, "SACT"),
                       &baseline = series_named(plot, "SACT baseline");
  EXPECT_EQ(sact.style, baseline.style);
  EXPECT_TRUE(baseline.secondary);
  EXPECT_FALSE(sact.secondary);
  EXPECT_NE(sact.style, series_named(plot, "ResNet").style);
}

TEST(ResultPlots, RowsAreLinesOverResolution) {
  const auto plots = paper_plots(example(), {k128, k192});
  ASSERT_EQ(plots.size(), 4u);
  const report::Plot& plot = plot_named(plots, "resolution");
  ASSERT_EQ(plot.series.size(), 5u);
  const report::Series& row = series_named(plot, "SACT 0.01");
  EXPECT_EQ(row.x, (std::vector<double>{128, 192}));
  EXPECT_EQ(series_named(plot, "SACT baseline 0.01").x, (std::vector<double>{128}));
  EXPECT_EQ(row.style, series_named(plot, "SACT 0.001").style);
  EXPECT_NE(row.marker, series_named(plot, "SACT 0.001").marker);
  EXPECT_EQ(row.marker, series_named(plot, "SACT baseline 0.01").marker);
  const report::Series& work = series_named(plot_named(plots, "flops-of-resolutions"), "SACT 0.01");
  EXPECT_EQ(work.x, (std::vector<double>{1, 2.25}));
}

TEST(ResultPlots, ALabelStandsOnceForAPointAndItsBaseline) {
  const auto plots = paper_plots(example(), {k128});
  EXPECT_EQ(series_named(plots.front().plot, "SACT baseline").labels,
            (std::vector<std::string>{"", ""}));
  const auto alone = paper_plots(rows_of({{"SACT baseline:0.1", test::plain(0.5)}}), {k128});
  EXPECT_EQ(alone.front().plot.series[0].labels, (std::vector<std::string>{"0.1"}));
}

TEST(ResultPlots, NamedCurvesKeepTheirLook) {
  const auto all = paper_plots(example(), {k128});
  const auto some = paper_plots(example(), {k128}, {"SACT:0.01", "ResNet"});
  const report::Plot& plot = plot_named(some, "resolution");
  ASSERT_EQ(plot.series.size(), 2u);
  const report::Series& before = series_named(plot_named(all, "resolution"), "SACT 0.01");
  EXPECT_EQ(plot.series[0].name, "SACT 0.01");
  EXPECT_EQ(plot.series[0].style, before.style);
  EXPECT_EQ(plot.series[0].marker, before.marker);
  const auto message = test::error_of([] { paper_plots(example(), {k128}, {"SACT 0.1"}); });
  EXPECT_NE(message.find("'SACT 0.1'"), std::string::npos) << message;
}

TEST(ResultPlots, OneSizeGivesOnePlot) {
  const auto plots = paper_plots(rows_of({{"A", test::adaptive(0.5)}}), {k128});
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_EQ(plots[0].name, "flops-at-128x128");
}

TEST(ResultPlots, DefaultSizesAreTheNetworksOwnAndTheLargest) {
  EvalResult result = test::adaptive(0.5, {96, 128, 160, 192});
  EXPECT_EQ(text_of(default_plot_sizes(rows_of({{"A", result}}))), "96x96, 192x192")
      << "no spec: the smallest";
  result.spec.emplace().input.size = 128;
  EXPECT_EQ(text_of(default_plot_sizes(rows_of({{"A", result}}))), "128x128, 192x192");
  result.spec->input.size = 192;
  EXPECT_EQ(text_of(default_plot_sizes(rows_of({{"A", result}}))), "192x192");
}

}  // namespace
}  // namespace sact::results
