// Running networks that were imported.
#pragma once

#include <cmath>
#include <memory>

#include "engine/cpu/session.h"
#include "import/import.h"
#include "import/samples.h"
#include "support/temporary.h"

namespace sact::test {

/// Logits of two images of noise, whose colours may come in reverse.
inline std::vector<float> logits_of(const ModelSpec& spec, const std::vector<Weight>& weights,
                                    bool reversed_colours = false) {
  constexpr int kImages = 2;
  const Size size{45, 38};
  std::vector<float> planes = random_planes(kImages, size, 5);
  if (reversed_colours) {
    const auto plane = ptrdiff_t(size.positions());
    for (auto image = planes.begin(); image != planes.end(); image += 3 * plane) {
      std::swap_ranges(image, image + plane, image + 2 * plane);
    }
  }
  TemporaryDirectory directory;
  write_model(directory / "m", spec, weights);
  engine::CpuSession session(
      std::make_shared<engine::Plan>(ModelFile(directory / "m"), kernels::scalar_table()), 1);
  std::vector<float> logits;
  for (const ImageResult& result : session.run(planes, kImages, size)) {
    logits.insert(logits.end(), result.logits.begin(), result.logits.end());
  }
  return logits;
}

inline void expect_near(const std::vector<float>& found, const std::vector<float>& expected,
                        double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

/// What was found of something, with where.
inline std::string finding(const importing::ImportedNetwork& network, const std::string& what) {
  for (const importing::Finding& finding : network.findings) {
    if (finding.what == what) return finding.value + " (" + finding.from + ")";
  }
  return "nothing";
}

}  // namespace sact::test
