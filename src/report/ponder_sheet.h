// Many ponder cost maps at a glance: each over its photograph, all in the colours of one scale.
#pragma once

#include <string>
#include <vector>

#include "io/image.h"
#include "report/detection_picture.h"
#include "sact/types.h"

namespace sact::report {

class PonderSheet {
 public:
  struct Cell {
    io::RgbImage photo;
    Map ponder_cost;
    std::string caption;
    std::vector<DrawnObject> objects;
    Size size;  // of the photograph as it was given
  };

  /// `caption` stands under the picture; it may have several lines. `objects` are outlined. The
  /// photograph is shrunk to its cell at once: a sheet of many large photographs does not hold them
  /// all in memory.
  static Cell cell(const io::RgbImage& photo, Map ponder_cost, std::string caption,
                   std::vector<DrawnObject> objects = {});

  /// Where this build cannot draw pictures, the sheet stays empty.
  void add(Cell cell);
  void add(const io::RgbImage& photo, Map ponder_cost, std::string caption,
           std::vector<DrawnObject> objects = {}) {
    add(cell(photo, std::move(ponder_cost), std::move(caption), std::move(objects)));
  }

  size_t size() const { return cells_.size(); }

  /// The maps over their photographs in rows of `columns`, of more where there are very many,
  /// with one colour bar for all of them. At least one must have been added.
  io::RgbImage draw(int columns) const;

 private:
  std::vector<Cell> cells_;
};

}  // namespace sact::report
