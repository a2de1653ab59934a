// Tests of the summary page by reading its HTML back.
#include "report/summary_page.h"

#include <gtest/gtest.h>

#include "elements.h"

namespace sact::report {
namespace {

using test::Element;

SummaryPage full_page() {
  SummaryPage page;
  page.title = "SACT & <friends>";
  page.subtitle = "\"run\" 1";
  page.facts = {{"accuracy <top-1>", "93.4 %"}};
  page.settings = {{"data", "a&b"}, {"τ", "0.005"}};
  Plot plot;
  plot.title = "loss";
  plot.series = {Series{}};
  plot.series[0].x = {0, 1};
  plot.series[0].y = {1, 0};
  page.plots = {plot, plot};
  page.tables = {{"per class", {{"name", "n"}, {{"<b>", "12"}, {"cat"}}, {}}}};
  page.pictures = {embedded_picture(io::RgbImage(4, 3), "a \"map\""),
                   linked_picture("maps/epoch 1.png", "")};
  return page;
}

TEST(SummaryPage, IsWellFormedAndEscaped) {
  const std::string html = to_html(full_page());
  const std::vector<Element> all =
      test::ElementReader::read(html);  // fails where tags do not match
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(test::texts_of(html, "h1").at(0), "SACT &amp; &lt;friends&gt;");
  EXPECT_EQ(test::texts_of(html, "title").at(0), "SACT &amp; &lt;friends&gt;");
  EXPECT_EQ(test::texts_of(html, "dt").at(0), "accuracy &lt;top-1&gt;");
  EXPECT_EQ(test::texts_of(html, "dd").at(0), "93.4 %");
  EXPECT_EQ(test::elements_named(html, "svg").size(), 2u);
  for (const Element& element : all) EXPECT_NE(element.name, "script");
}

TEST(SummaryPage, NumbersOfTablesAreOnTheRight) {
  const std::vector<Element> cells = test::elements_named(to_html(full_page()), "td");
  ASSERT_GE(cells.size(), 4u);
  EXPECT_EQ(cells[0].text, "&lt;b&gt;");
  EXPECT_EQ(cells[0]["class"], "");
  EXPECT_EQ(cells[1].text, "12");
  EXPECT_EQ(cells[1]["class"], "number");
  EXPECT_EQ(cells[3].text, "");  // the cell that the short row lacks
}

TEST(SummaryPage, PicturesAreInsideOrBeside) {
  const std::vector<Element> pictures = test::elements_named(to_html(full_page()), "img");
  ASSERT_EQ(pictures.size(), 2u);
  EXPECT_TRUE(pictures[0]["src"].starts_with("data:image/png;base64,iVBORw0KGgo"));
  EXPECT_EQ(pictures[0]["alt"], "a &quot;map&quot;");
  EXPECT_EQ(pictures[1]["src"], "./maps/epoch%201.png");
}

TEST(SummaryPage, LongTablesAreFoldedAndDrawingsKeepTheirTitles) {
  SummaryPage page;
  page.tables = {{"all <1000> classes", {{"name"}, {{"cat"}}, {}}, /*folded=*/true}};
  page.drawings = {{"Confusion & more", "darker: <more>", "<svg></svg>"}};
  const std::string html = to_html(page);
  EXPECT_EQ(test::texts_of(html, "summary"),
            (std::vector<std::string>{"all &lt;1000&gt; classes"}));
  EXPECT_EQ(test::texts_of(html, "h3"), (std::vector<std::string>{"Confusion &amp; more"}));
  EXPECT_EQ(test::texts_of(html, "figcaption"), (std::vector<std::string>{"darker: &lt;more&gt;"}));
  EXPECT_EQ(test::elements_named(html, "svg").size(), 1u);
  EXPECT_EQ(test::texts_of(html, "h2"), (std::vector<std::string>{"Results"}));
}

TEST(SummaryPage, NeedsNothingFromElsewhere) {
  std::string html = to_html(full_page());
  const std::string name_space = "http://www.w3.org/2000/svg";
  for (size_t at; (at = html.find(name_space)) != std::string::npos;)
    html.erase(at, name_space.size());
  EXPECT_EQ(html.find("http"), std::string::npos);
  EXPECT_EQ(html.find("url("), std::string::npos);
  EXPECT_EQ(html.find("<link"), std::string::npos);
}

TEST(SummaryPage, EmptyPartsDoNotAppear) {
  SummaryPage page;
  page.title = "new";
  const std::string html = to_html(page);
  EXPECT_TRUE(test::elements_named(html, "h2").empty());
  EXPECT_TRUE(test::elements_named(html, "table").empty());
  EXPECT_TRUE(test::elements_named(html, "dl").empty());
  EXPECT_EQ(test::elements_named(html, "h1").size(), 1u);
}

}  // namespace
}  // namespace sact::report
