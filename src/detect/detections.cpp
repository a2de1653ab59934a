#include "detect/detections.h"

#include <cmath>

#include "base/error.h"
#include "detect/box_coding.h"
#include "detect/nms.h"

namespace sact::detect {

std::vector<Detection> find_detections(std::span<const Box> proposals,
                                       std::span<const float> outputs, int classes, Size image,
                                       const DetectionOptions& options) {
  const size_t row_size = 1 + 5 * size_t(classes);
  SACT_ASSERT(outputs.size() == proposals.size() * row_size);
  std::vector<Box> boxes;
  std::vector<float> scores;
  std::vector<int32_t> labels, sources;
  for (size_t i = 0; i < proposals.size(); ++i) {
    const float* row = outputs.data() + i * row_size;
    const float* codes = row + 1 + classes;
    const float largest = *std::max_element(row, row + 1 + classes);
    double sum = 0;
    for (int c = 0; c <= classes; ++c) sum += std::exp(double(row[c] - largest));
    for (int c = 0; c < classes; ++c) {
      const float score = float(std::exp(double(row[1 + c] - largest)) / sum);
      if (!(score >= options.least_score)) continue;
      const float* code = codes + 4 * c;
      const Box box = clipped(decode({code[0], code[1], code[2], code[3]}, proposals[i]), image);
      if (!(area(box) > 0)) continue;
      boxes.push_back(box);
      scores.push_back(score);
      labels.push_back(c);
      sources.push_back(int32_t(i));
    }
  }
  std::vector<Detection> found;
  for (int32_t i : nms_by_class(boxes, scores, labels, {options.max_overlap, options.most})) {
    found.push_back({boxes[size_t(i)], labels[size_t(i)], scores[size_t(i)], sources[size_t(i)]});
  }
  return found;
}

}  // namespace sact::detect
