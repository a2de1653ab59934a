// The style sheet and the sections of the summary page.
#include "report/summary_page.h"

#include <fmt/format.h>

#include "report/markup.h"

namespace sact::report {
namespace {

// Plots and pictures lie on white cards in both themes: their own colours are made for white.
constexpr std::string_view kStyle = R"(
:root {
  color-scheme: light dark;
  --page: #f6f6f8; --card: #fff; --text: #1f1f23; --faint: #66666e; --line: #dedee4;
  --stripe: #f4f4f7; --accent: #0961bb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #17171a; --card: #212126; --text: #ececf0; --faint: #a2a2ab; --line: #37373e;
    --stripe: #27272d; --accent: #7db8f5;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 84rem; background: var(--page);
  color: var(--text); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
}
h1 { margin: 0; font-size: 1.7rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 2.2rem 0 .7rem; font-size: 1.15rem; }
h3 { margin: 0; padding: .7rem .9rem .2rem; font-size: .95rem; }
.subtitle { margin: .3rem 0 0; color: var(--faint); overflow-wrap: anywhere; }
.facts { display: grid; gap: .7rem; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr));
  margin: 1.4rem 0 0; }
.facts div { padding: .6rem .9rem; }
.facts dt { color: var(--faint); font-size: .82rem; }
.facts dd { margin: 0; font-size: 1.2rem; font-weight: 600; overflow-wrap: anywhere;
  font-variant-numeric: tabular-nums; }
.card, .facts div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
.plots, .pictures, .results { display: grid; gap: 1rem; }
.results { grid-template-columns: repeat(auto-fill, minmax(min(100%, 32rem), 1fr));
  align-items: start; }
.results .wide { grid-column: 1 / -1; }
.plots { grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); }
.pictures { grid-template-columns: repeat(auto-fill, minmax(min(100%, 25rem), 1fr)); }
figure { margin: 0; overflow: hidden; }
.plots figure { padding: .4rem; background: #fff; }
svg, img { display: block; width: 100%; height: auto; }
img { background: #fff; }
figcaption { padding: .5rem .9rem .6rem; color: var(--faint); font-size: .88rem;
  overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
.drawing .sheet { padding: .4rem; margin: .5rem .9rem 0; background: #fff; border-radius: .3rem; }
.drawing svg { width: auto; max-width: 100%; }
.card + .card { margin-top: 1rem; }
.plots .card, .pictures .card, .results .card { margin-top: 0; }
table { width: 100%; border-collapse: collapse; font-size: .9rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .38rem .9rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 1px solid var(--line); color: var(--faint); font-weight: 600; }
tbody tr:nth-child(even) { background: var(--stripe); }
tbody th { font-weight: 400; color: var(--faint); }
.number { text-align: right; white-space: nowrap; }
summary { padding: .6rem .9rem; cursor: pointer; color: var(--accent); }
.settings td { overflow-wrap: anywhere; font-family: ui-monospace, monospace; font-size: .84rem; }
@media print { body { max-width: none; } .card { break-inside: avoid; } }
)";

std::string heading(std::string_view text) {
  return fmt::format("<h2>{}</h2>\n", text);
}

std::string facts_section(const std::vector<Fact>& facts) {
  if (facts.empty()) return {};
  std::string html = "<dl class=\"facts\">\n";
  for (const Fact& fact : facts) {
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_markup(fact.name),
                        escape_markup(fact.value));
  }
  return html + "</dl>\n";
}

std::string plots_section(const std::vector<Plot>& plots) {
  if (plots.empty()) return {};
  std::string html = heading("Curves") + "<div class=\"plots\">\n";
  for (const Plot& plot : plots) html += "<figure class=\"card\">\n" + to_svg(plot) + "</figure>\n";
  return html + "</div>\n";
}

std::string table_row(const Table& table, const std::vector<std::string>& cells,
                      std::string_view tag) {
  std::string html = "<tr>";
  for (size_t i = 0; i < table.columns(); ++i) {
    const std::string text = i < cells.size() ? escape_markup(cells[i]) : std::string();
    html += fmt::format("<{}{}>{}</{}>", tag, table.right_aligned(i) ? " class=\"number\"" : "",
                        text, tag);
  }
  return html + "</tr>\n";
}

std::string table_card(const PageTable& titled) {
  const Table& table = titled.table;
  const std::string title = escape_markup(titled.title);
  constexpr size_t kWideColumns = 7;  // those of two cards
  const char* kind = table.columns() >= kWideColumns ? "card wide" : "card";
  std::string html = titled.folded
                         ? fmt::format("<details class=\"{}\"><summary>{}</summary>\n", kind, title)
                         : fmt::format("<div class=\"{}\">\n", kind);
  if (!title.empty() && !titled.folded) html += "<h3>" + title + "</h3>\n";
  html += "<div class=\"scroll\"><table>\n";
  if (!table.header.empty()) {
    html += "<thead>\n" + table_row(table, table.header, "th") + "</thead>\n";
  }
  html += "<tbody>\n";
  for (const auto& row : table.rows) html += table_row(table, row, "td");
  return html + "</tbody>\n</table></div>\n" + (titled.folded ? "</details>\n" : "</div>\n");
}

std::string drawing_card(const PageDrawing& drawing) {
  std::string html = "<figure class=\"card drawing\">\n";
  if (!drawing.title.empty()) html += "<h3>" + escape_markup(drawing.title) + "</h3>\n";
  html += "<div class=\"sheet\">" + drawing.svg + "</div>\n";
  if (!drawing.caption.empty()) {
    html += "<figcaption>" + escape_markup(drawing.caption) + "</figcaption>\n";
  }
  return html + "</figure>\n";
}

std::string results_section(const std::vector<PageTable>& tables,
                            const std::vector<PageDrawing>& drawings) {
  if (tables.empty() && drawings.empty()) return {};
  std::string html = heading("Results") + "<div class=\"results\">\n";
  for (const PageTable& table : tables) html += table_card(table);
  for (const PageDrawing& drawing : drawings) html += drawing_card(drawing);
  return html + "</div>\n";
}

std::string pictures_section(const std::vector<PagePicture>& pictures) {
  if (pictures.empty()) return {};
  std::string html = heading("Pictures") + "<div class=\"pictures\">\n";
  for (const PagePicture& picture : pictures) {
    const std::string source = picture.png.empty() ? relative_url(picture.file)
                                                   : "data:image/png;base64," + base64(picture.png);
    const std::string caption = escape_markup(picture.caption);
    html += fmt::format("<figure class=\"card\"><img src=\"{}\" alt=\"{}\" />", source, caption);
    if (!caption.empty()) html += "<figcaption>" + caption + "</figcaption>";
    html += "</figure>\n";
  }
  return html + "</div>\n";
}

std::string settings_section(const std::vector<Fact>& settings) {
  if (settings.empty()) return {};
  std::string html = heading("Settings");
  html += fmt::format("<details class=\"card settings\"><summary>All {} settings</summary>\n",
                      settings.size());
  html += "<div class=\"scroll\"><table><tbody>\n";
  for (const Fact& setting : settings) {
    html += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", escape_markup(setting.name),
                        escape_markup(setting.value));
  }
  return html + "</tbody></table></div></details>\n";
}

}  // namespace

PagePicture embedded_picture(const io::RgbImage& image, std::string caption) {
  return {std::move(caption), {}, io::encode_png(image)};
}

PagePicture embedded_picture(std::vector<std::byte> png, std::string caption) {
  return {std::move(caption), {}, std::move(png)};
}

PagePicture linked_picture(std::string file, std::string caption) {
  return {std::move(caption), std::move(file), {}};
}

std::string to_html(const SummaryPage& page) {
  const std::string title = escape_markup(page.title);
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n";
  html += "<title>" + title + "</title>\n<style>" + std::string(kStyle) + "</style>\n</head>\n";
  html += "<body>\n<h1>" + title + "</h1>\n";
  if (!page.subtitle.empty()) {
    html += "<p class=\"subtitle\">" + escape_markup(page.subtitle) + "</p>\n";
  }
  html += facts_section(page.facts) + plots_section(page.plots) +
          results_section(page.tables, page.drawings) + pictures_section(page.pictures) +
          settings_section(page.settings);
  return html + "</body>\n</html>\n";
}

}  // namespace sact::report
