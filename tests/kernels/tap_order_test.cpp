// When products take their taps one after the other.
#include <gtest/gtest.h>

#include "kernels/cpu/kernels.h"
#include "kernels/random_rows.h"

namespace sact::kernels {
namespace {

TEST(TapOrder, DeepTapsAreTakenInMemoryOnlyWhereTheBorderIsWorthIt) {
  std::vector<int32_t> inside(9 * 10, 0), border = inside;
  for (size_t i = 0; i < 9; ++i) border[i] = 4;  // a tenth of all
  const std::vector<int32_t> list = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  RowProduct product;
  product.rows = 10;
  product.taps = 9;
  product.depth = 256;
  product.input_rows = border.data();
  EXPECT_EQ(tap_order(product, DataType::kFloat32), TapOrder::kRegisters);
  product.zero_row = 4;
  EXPECT_EQ(tap_order(product, DataType::kFloat32), TapOrder::kMemory);
  EXPECT_EQ(tap_order(product, DataType::kBFloat16), TapOrder::kRegisters);
  product.input_rows = inside.data();
  EXPECT_EQ(tap_order(product, DataType::kFloat32), TapOrder::kRegisters);
  product.input_rows = border.data();
  product.list = list.data();  // without the position at the border
  product.rows = 9;
  EXPECT_EQ(tap_order(product, DataType::kFloat32), TapOrder::kRegisters);
  product.list = nullptr;
  product.depth = 64;
  EXPECT_EQ(tap_order(product, DataType::kFloat32), TapOrder::kRegisters);
}

}  // namespace
}  // namespace sact::kernels
