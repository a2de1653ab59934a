// Crops of features on a GPU, or with the kernel emulated on the CPU: against the CPU's.
#include "detect/crop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "engine/cuda/testing.h"

namespace sact::engine {
namespace {

struct CropCase {
  Size size;
  int channels = 1;
  detect::CropSettings settings;
  cuda::Element type = cuda::Element::kFloat32;
};

std::vector<detect::CropBox> boxes_of_all_kinds(Random& random) {
  std::vector<detect::CropBox> boxes = {{},
                                        {0.2f, 0.3f, 0.2f, 0.9f},
                                        {0.9f, 0.8f, 0.1f, 0.2f},
                                        {-0.4f, 0.5f, 0.6f, 1.7f},
                                        {2, 2, 3, 3},
                                        {0, std::numeric_limits<float>::quiet_NaN(), 1, 1}};
  for (int i = 0; i < 6; ++i) {
    const auto edge = [&] { return float(random.uniform()); };
    boxes.push_back({edge(), edge(), edge(), edge()});
  }
  return boxes;
}

void expect_crops_of(const CropCase& one) {
  Random random(uint64_t(one.channels + one.size.width));
  std::vector<float> values(size_t(one.size.positions() * one.channels));
  for (float& value : values) value = rounded_to(float(random.normal()), one.type);
  const std::vector<detect::CropBox> boxes = boxes_of_all_kinds(random);
  const size_t cells = size_t(one.settings.cells());
  std::vector<float> right(boxes.size() * cells * cells * size_t(one.channels));
  ThreadTeam team(1);
  detect::crop_and_pool({values.data(), one.size, one.channels}, boxes, one.settings, team,
                        right.data());

  const auto input = test::elements_on_device(values, one.type);
  const auto places = test::on_device(boxes);
  const auto output = test::elements_on_device(std::vector<float>(right.size(), -1), one.type);
  cuda::Crops call;
  call.features = {1, one.size.height, one.size.width};
  call.channels = one.channels;
  call.input = input.data();
  call.boxes = test::as<detect::CropBox>(places);
  call.count = int(boxes.size());
  call.crop = one.settings.crop;
  call.pool = one.settings.pool;
  call.output = output.data();
  cuda::run(call, one.type, test::launch());
  test::wait();
  const auto found = test::elements_from_device(output, right.size(), one.type);
  const float rounding = one.type == cuda::Element::kFloat32    ? 1e-6f
                         : one.type == cuda::Element::kBFloat16 ? 1.0f / 256
                                                                : 1.0f / 2048;
  for (size_t i = 0; i < right.size(); ++i) {
    ASSERT_NEAR(found[i], right[i], rounding * (std::fabs(right[i]) + 0.01f)) << i;
  }
}

TEST(CudaCrops, HaveTheMaximaThatTheCpuFinds) {
  SACT_NEEDS_GPU();
  for (const cuda::Element type :
       {cuda::Element::kFloat32, cuda::Element::kBFloat16, cuda::Element::kFloat16}) {
    SCOPED_TRACE(int(type));
    expect_crops_of({{7, 9}, 5, {6, 2}, type});
    expect_crops_of({{4, 3}, 40, {28, 4}, type});
    expect_crops_of({{1, 13}, 16, {5, 5}, type});
    expect_crops_of({{6, 1}, 8, {4, 1}, type});
  }
}

TEST(CudaCheckFinite, FindsOneValueThatIsNot) {
  SACT_NEEDS_GPU();
  for (const float strange :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity(), 1e30f}) {
    for (const cuda::Element type : {cuda::Element::kFloat32, cuda::Element::kBFloat16}) {
      std::vector<float> values(10'000, 1.5f);
      values[7'777] = strange;
      const auto input = test::elements_on_device(values, type);
      const auto flag = test::on_device(std::vector<int32_t>{0});
      cuda::run(cuda::CheckFinite{int64_t(values.size()), input.data(), test::as<int32_t>(flag)},
                type, test::launch());
      test::wait();
      EXPECT_EQ(test::from_device<int32_t>(flag, 1)[0] != 0, !std::isfinite(strange)) << strange;
    }
  }
}

}  // namespace
}  // namespace sact::engine
