#include <span>
#include <string_view>

#include "fuzz/seeds.h"

namespace sact::test {

std::vector<std::vector<std::byte>> fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  for (const std::string_view text : {
           R"({"images": [{"id": 1, "file_name": "a", "width": 9, "height": 8}, {"id": 2}],
               "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 1, 2.5, 3],
                                "area": 5, "iscrowd": 0, "segmentation": [[1, 2], {"a": null}]},
                               {"id": 2, "image_id": 2, "category_id": 1, "bbox": [0, 1, 40, 50],
                                "iscrowd": 1}],
               "categories": [{"id": 1, "name": "\u00e9"}]})",
           R"([{"image_id": 1, "category_id": 1, "bbox": [0, 1, 2, 3], "score": 0.5},
               {"image_id": 1, "category_id": 1, "bbox": [0, 1, 2e1, 3], "score": -1}])",
           R"(<?xml version="1.0"?><annotation><size><width>9</width><height>8</height></size>
              <object><name>a</name><difficult>1</difficult><bndbox><xmin>1</xmin><ymin>2</ymin>
              <xmax>3</xmax><ymax>4</ymax></bndbox><part x=">"/></object></annotation>)",
       }) {
    const auto bytes = std::as_bytes(std::span(text));
    seeds.emplace_back(bytes.begin(), bytes.end());
  }
  return seeds;
}

}  // namespace sact::test
