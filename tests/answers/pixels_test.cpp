#include "slimbayes/answers/pixels.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

TEST(PixelRows, GoImageByImageLineByLine) {
  const at::Tensor maps = at::arange(2 * 3 * 2 * 4, at::kDouble).view({2, 3, 2, 4});
  const at::Tensor rows = pixel_rows(maps);
  ASSERT_EQ(rows.sizes(), at::IntArrayRef({16, 3}));
  EXPECT_TRUE(at::equal(rows[8 + 4 + 2], maps[1].select(1, 1).select(1, 2)));  // image 1, line 1, column 2
  EXPECT_TRUE(pixel_rows(rows).is_same(rows));
}

TEST(Labelled, LeavesVoidPixelsOutAndOtherRowsAsTheyAre) {
  const at::Tensor maps = Stream(1).normal({2, 3, 1, 2});
  const Labelled some = labelled(maps, row({0, kVoid, 2, 1}).view({2, 2}));
  EXPECT_TRUE(at::equal(some.y, row({0, 2, 1})));
  EXPECT_TRUE(at::equal(some.output, pixel_rows(maps).index_select(0, at::tensor({0, 2, 3}, at::kLong))));
  EXPECT_EQ(labelled(maps, at::full({2, 2}, kVoid)).y.numel(), 0);
  const at::Tensor outputs = Stream(2).normal({4, 3}),
                   y = row({0, 1, -1, 2});  // -1 may be a number of a regression
  EXPECT_TRUE(labelled(outputs, y).output.is_same(outputs));
  EXPECT_TRUE(labelled(outputs, y).y.is_same(y));
  EXPECT_THROW(labelled(maps, at::zeros({2, 3})), std::invalid_argument);
}

TEST(MeanLoss, OfNoRowsIsZeroWithAGradient) {
  EXPECT_EQ(mean_loss(row({1, 2, 6})).item<double>(), 3);
  const at::Tensor weight = at::ones({2}, at::kDouble).requires_grad_(true);
  const at::Tensor none = mean_loss(weight.index_select(0, at::empty({0}, at::kLong)));
  none.backward();
  EXPECT_EQ(none.item<double>(), 0);
  EXPECT_TRUE(at::equal(weight.grad(), at::zeros({2}, at::kDouble)));
}

}  // namespace
}  // namespace slimbayes
