// The kernels at the end of a network: on a GPU, or emulated on the CPU.
#include <gtest/gtest.h>

#include "base/random.h"
#include "engine/cuda/testing.h"

namespace sact::engine {
namespace {

TEST(CudaLinear, SumsTheSameForAnyNumberOfImages) {
  SACT_NEEDS_GPU();
  for (const int depth : {30, 36, 512}) {
    constexpr int kMost = 19, kColumns = 10;
    Random random(uint64_t(4 + depth));
    const auto values = [&](int count) {
      std::vector<float> made(static_cast<size_t>(count));
      for (float& value : made) value = float(random.normal());
      return made;
    };
    const auto input = values(kMost * depth), weights = values(kColumns * depth);
    const auto bias = values(kColumns);
    const auto on_input = test::on_device(input), on_weights = test::on_device(weights);
    const auto on_bias = test::on_device(bias);
    std::vector<float> first;
    for (const int images : {1, 7, 8, kMost}) {
      const auto output = test::on_device(std::vector<float>(size_t(images * kColumns), -1));
      cuda::Linear call{images, depth, kColumns};
      call.input = test::as<float>(on_input);
      call.weights = test::as<float>(on_weights);
      call.bias = test::as<float>(on_bias);
      call.output = test::as<float>(output);
      cuda::run(call, test::launch());
      test::wait();
      const auto found = test::from_device<float>(output, size_t(images * kColumns));
      for (int i = 0; i < images * kColumns; ++i) {
        double right = bias[size_t(i % kColumns)];
        for (int k = 0; k < depth; ++k) {
          right += double(input[size_t(i / kColumns * depth + k)]) *
                   double(weights[size_t(i % kColumns * depth + k)]);
        }
        EXPECT_NEAR(found[size_t(i)], right, 1e-4);
      }
      if (first.empty()) first = found;
      for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(found[i], first[i]);
    }
  }
}

}  // namespace
}  // namespace sact::engine
