// One page about a run that opens in any browser: facts, curves, tables and pictures in one file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/image.h"
#include "report/plot.h"
#include "report/table.h"

namespace sact::report {

struct Fact {
  std::string name, value;
};

struct PageTable {
  std::string title;
  Table table;
  bool folded = false;  // shown when asked for, for long ones
};

/// A drawing at its own size, or smaller where the screen is.
struct PageDrawing {
  std::string title, caption, svg;
};

/// A picture inside the page, or beside it in a file.
struct PagePicture {
  std::string caption;
  std::string file;            // path from the page's folder, with '/'; empty when embedded
  std::vector<std::byte> png;  // empty when in a file
};

/// A picture that travels with the page; costs 4/3 of its PNG in the page's size.
PagePicture embedded_picture(const io::RgbImage& image, std::string caption);

/// The same from a PNG file that is there already.
PagePicture embedded_picture(std::vector<std::byte> png, std::string caption);

/// A picture that the page refers to by its path from the page's folder.
PagePicture linked_picture(std::string file, std::string caption);

/// Parts that are empty do not appear.
struct SummaryPage {
  std::string title, subtitle;
  std::vector<Fact> facts;     // the few numbers that matter, shown large
  std::vector<Fact> settings;  // all of them, folded away until asked for
  std::vector<Plot> plots;
  std::vector<PageTable> tables;
  std::vector<PageDrawing> drawings;
  std::vector<PagePicture> pictures;
};

/// The page as HTML that is well-formed XML too. It needs nothing but the linked pictures, runs no
/// scripts, follows the reader's choice of a light or dark screen, and fits a phone.
std::string to_html(const SummaryPage& page);

}  // namespace sact::report
