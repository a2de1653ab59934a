// Detectors of the CPU engine with chosen kernels.
#pragma once

#include "detect/detector.h"
#include "engine/cpu/detector_session.h"

namespace sact::engine::test {

inline std::unique_ptr<CpuDetectorSession> detector_session(const ModelFile& file,
                                                            const kernels::Table& table,
                                                            kernels::DataType type, int threads) {
  const NetworkSource source = detector_of(file);
  return std::make_unique<CpuDetectorSession>(
      std::make_shared<DetectorPlan>(source.spec, source.weights, table, type), threads);
}

inline detect::ObjectDetector detector_on(const ModelFile& file, const kernels::Table& table,
                                          kernels::DataType type, int threads) {
  return {file.spec(), detector_session(file, table, type, threads)};
}

/// Features without the space between their rows.
inline std::vector<float> values_of(const detect::FeatureMap& features) {
  std::vector<float> values;
  for (int64_t position = 0; position < features.size.positions(); ++position) {
    const float* row = features.row(position);
    values.insert(values.end(), row, row + features.channels);
  }
  return values;
}

}  // namespace sact::engine::test
