#include "app/saliency.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "io/resize.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/preprocess.h"
#include "report/montage.h"
#include "report/overlay.h"
#include "saliency/center_file.h"

namespace sact::app {
namespace {

using saliency::CategorySummary;
using saliency::kAucJudd;
using saliency::kMetricCount;
using saliency::kMetricNames;
using saliency::Mean;
using saliency::Scores;
using saliency::Summary;

/// The summaries of one row of a table.
struct Row {
  std::string category;
  Summary scores, center, gain;  // the last two without images where there is no centre map
};

std::vector<std::string> categories_of(const SaliencyResult& result) {
  std::vector<std::string> categories;
  for (const saliency::Stimulus& item : result.items) categories.push_back(item.category);
  return categories;
}

/// One row for each category, and one for all images at the end.
std::vector<Row> rows_of(const SaliencyResult& result) {
  const auto summaries = [&](const std::vector<Scores>& scores) {
    auto all = saliency::summarize_categories(scores, categories_of(result));
    all.push_back({"all images", saliency::summarize(scores)});
    return all;
  };
  std::vector<Row> rows;
  for (const CategorySummary& scores : summaries(result.scores)) {
    rows.push_back({scores.category, scores.summary, {}, {}});
  }
  if (result.center.empty()) return rows;
  const auto center = summaries(result.center);
  const auto gain = summaries(saliency::differences(result.scores, result.center));
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].center = center[i].summary;
    rows[i].gain = gain[i].summary;
  }
  return rows;
}

io::Json summary_json(const Summary& summary) {
  io::Json json = {{"images", summary.images}}, errors;
  for (size_t metric = 0; metric < kMetricCount; ++metric) {
    const std::string key(kMetricNames[metric].key);
    json[key] = summary.means[metric].mean;  // a number that is none becomes null
    errors[key] = summary.means[metric].error;
  }
  json["standard_errors"] = std::move(errors);
  return json;
}

io::Json row_json(const Row& row) {
  io::Json json = summary_json(row.scores);
  if (row.center.images > 0) {
    json["center"] = summary_json(row.center);
    json["gain"] = summary_json(row.gain);
  }
  return json;
}

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : std::string();
}

std::string with_error(const Mean& mean, bool sign) {
  if (!std::isfinite(mean.mean)) return "n/a";
  std::string text = sign ? fmt::format("{:+.4f}", mean.mean) : fmt::format("{:.4f}", mean.mean);
  if (std::isfinite(mean.error)) text += fmt::format(" ± {:.4f}", mean.error);
  return text;
}

}  // namespace

Center::Center(const CenterOptions& options) : sigma_(options.sigma) {
  if (!options.file.empty()) map_ = saliency::read_center(options.file, options.variable);
}

Map Center::at(Size size) const {
  return map_ ? io::resized(*map_, size) : saliency::center_gaussian(size, sigma_);
}

PonderMap ponder_map(NetworkSession& session, const ModelSpec& spec, const io::RgbImage& photo,
                     int side, const std::string& name) {
  const View view = view_of(photo, spec.input, {Framing::kKeepAspect, {side, side}});
  session.expect_memory(1, view.size);
  const std::vector<float> pixels = network_pixels(photo, view, spec.input);
  const ImageResult result = std::move(session.run(pixels_view(pixels, 1, view.size)).front());
  check_finite(result, name);
  return {ponder_cost_map(result), view.size, result.flops,
          dense_flops(image_network(spec), view.size)};
}

void add_maps(const Map& ponder_cost, const Center& center, double temperature,
              SaliencyPicture& picture) {
  const Map small_center = center.at({ponder_cost.height, ponder_cost.width});
  const auto shown = [&](double center_weight) {
    const Map map =
        saliency::saliency_map(ponder_cost, small_center, {picture.settings.blur, center_weight});
    return saliency::softmax(saliency::normalized(map), temperature);
  };
  picture.ponder = shown(0);
  if (picture.settings.center_weight > 0) picture.combined = shown(picture.settings.center_weight);
}

io::Json saliency_json(const SaliencyResult& result) {
  const std::vector<Row> rows = rows_of(result);
  io::Json json = row_json(rows.back());
  json["per_category"] = io::Json::array();
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    io::Json category = row_json(rows[i]);
    category["category"] = rows[i].category;
    json["per_category"].push_back(std::move(category));
  }
  return json;
}

report::Table saliency_table(const SaliencyResult& result) {
  const bool compared = !result.center.empty();
  report::Table table;
  table.header = {"category", "images", "AUC-Judd"};
  if (compared) table.header.insert(table.header.end(), {"centre map", "gain"});
  for (size_t metric = kAucJudd + 1; metric < kMetricCount; ++metric) {
    table.header.emplace_back(kMetricNames[metric].title);
  }
  for (const Row& row : rows_of(result)) {
    std::vector<std::string> cells = {printable(row.category), fmt::format("{}", row.scores.images),
                                      with_error(row.scores.means[kAucJudd], false)};
    if (compared) {
      cells.push_back(fmt::format("{:.4f}", row.center.means[kAucJudd].mean));
      cells.push_back(with_error(row.gain.means[kAucJudd], true));
    }
    for (size_t metric = kAucJudd + 1; metric < kMetricCount; ++metric) {
      const double mean = row.scores.means[metric].mean;
      cells.push_back(std::isfinite(mean) ? fmt::format("{:.3f}", mean) : "n/a");
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

report::Table saliency_numbers(const SaliencyResult& result) {
  report::Table table;
  table.header = {"category", "images"};
  const auto add_names = [&](const std::string& prefix) {
    for (const auto& name : kMetricNames) {
      table.header.push_back(fmt::format("{}{}", prefix, name.key));
      table.header.push_back(fmt::format("{}{}_standard_error", prefix, name.key));
    }
  };
  add_names("");
  if (!result.center.empty()) {
    add_names("center_");
    add_names("gain_");
  }
  for (const Row& row : rows_of(result)) {
    std::vector<std::string> cells = {row.category, fmt::format("{}", row.scores.images)};
    for (const Summary* summary : {&row.scores, &row.center, &row.gain}) {
      if (summary->images == 0) continue;
      for (const Mean& mean : summary->means) {
        cells.push_back(number(mean.mean));
        cells.push_back(number(mean.error));
      }
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

report::Table image_numbers(const SaliencyResult& result) {
  report::Table table;
  table.header = {"image", "category"};
  for (const auto& name : kMetricNames) table.header.emplace_back(name.key);
  if (!result.center.empty()) {
    for (const auto& name : kMetricNames)
      table.header.push_back(fmt::format("center_{}", name.key));
  }
  for (size_t i = 0; i < result.items.size(); ++i) {
    std::vector<std::string> cells = {result.items[i].image.string(), result.items[i].category};
    for (const double score : result.scores[i]) cells.push_back(number(score));
    if (!result.center.empty()) {
      for (const double score : result.center[i]) cells.push_back(number(score));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

io::RgbImage draw_saliency_picture(const SaliencyPicture& picture) {
  constexpr int kPanelSide = 420;
  const io::RgbImage& photo = picture.photo;
  const double scale = double(kPanelSide) / std::max(photo.width, photo.height);
  const int width = std::max(1, int(std::lround(photo.width * scale)));
  const int height = std::max(1, int(std::lround(photo.height * scale)));
  std::vector<io::RgbImage> panels = {photo};
  std::vector<std::string> captions = {printable(picture.name)};
  const auto add = [&](const Map& map, const std::string& caption) {
    if (map.values.empty()) return;
    panels.push_back(report::map_image(map, width, height, report::finite_range(map),
                                       report::Interpolation::kBilinear));
    captions.push_back(caption);
  };
  add(picture.people, "where people looked");
  add(picture.ponder, fmt::format("ponder cost alone\nblur {:g}", picture.settings.blur));
  add(picture.combined, fmt::format("ponder cost and centre\nblur {:g}, centre weight {:g}",
                                    picture.settings.blur, picture.settings.center_weight));
  const int columns = panels.size() == 4 ? 2 : int(panels.size());
  return report::montage(panels, columns, kPanelSide, captions);
}

}  // namespace sact::app
