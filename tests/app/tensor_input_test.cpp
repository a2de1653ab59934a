// Prepared images of a safetensors file, and files that are refused.
#include "app/tensor_input.h"

#include <gtest/gtest.h>

#include <limits>

#include "io/safetensors.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact::app {
namespace {

class TensorInputFile : public ::testing::Test {
 protected:
  void write(const std::string& name, const io::Shape& shape, const std::vector<float>& values) {
    const io::NamedTensor tensor{name, {io::Dtype::kF32, shape, std::as_bytes(std::span(values))}};
    io::write_safetensors(path_, {&tensor, 1}, {});
  }
  std::string refusal() {
    return test::error_of([&] { read_tensor_input(path_); });
  }

  test::TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "in";
  std::vector<float> values_ = std::vector<float>(2 * 3 * 32 * 40, 0.5f);
};

TEST_F(TensorInputFile, PlanesAreTakenAsTheyAre) {
  values_[7] = -3;
  write("image", {2, 3, 32, 40}, values_);
  const TensorInput input = read_tensor_input(path_);
  EXPECT_EQ(input.planes, values_);
  EXPECT_TRUE(input.view().complete());
  EXPECT_EQ(input.view().count, 2);
  EXPECT_EQ(input.view().size, (Size{32, 40}));
  EXPECT_EQ(input.view().layout, InputLayout::kPlanes);
}

TEST_F(TensorInputFile, WhatNoNetworkTakesIsRefused) {
  write("picture", {2, 3, 32, 40}, values_);
  EXPECT_EQ(refusal(), path_.string() + ": has no tensor named 'image'");
  write("image", {3, 64, 40}, values_);
  EXPECT_EQ(refusal(), path_.string() +
                           ": tensor 'image' must have the shape [N, 3, H, W], found [3, 64, 40]");
  values_[7] = std::numeric_limits<float>::infinity();
  write("image", {2, 3, 32, 40}, values_);
  EXPECT_EQ(refusal(), path_.string() + ": tensor 'image' has values that are not finite");
}

}  // namespace
}  // namespace sact::app
