#include "slimbayes/data/rows/row_tensors.h"

#include <ATen/ATen.h>

#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

Table houses() {
  return table_of({numbers("x", {0, 1, 5, kNone}), categories("c", {0, kNone, 1, 0}, {"a", "b"}),
                   numbers("y", {1, 2, 3, 4})});
}

TEST(input_tensor, HoldsTheNumbersThatTheEncoderWrites) {
  const Table t = houses();
  const Encoder e = Encoder::fit(t, all_rows(t), {"y"});
  std::vector<float> expected(20);
  e.inputs(t, expected);
  const at::Tensor x = input_tensor(e, t);
  EXPECT_EQ(x.sizes(), at::IntArrayRef({4, 5}));
  EXPECT_TRUE(at::equal(x, at::tensor(expected).view({4, 5})));
  EXPECT_EQ(input_tensor(e, take_rows(t, {})).sizes(), at::IntArrayRef({0, 5}));
}

TEST(row_dataset, HasTargetsIfAskedForAndIfTheTaskHasThem) {
  const Table t = houses();
  const Encoder e = Encoder::fit(t, all_rows(t), {"y"});
  const Batch with = row_dataset(e, t, true).all(), without = row_dataset(e, t, false).all();
  EXPECT_TRUE(at::equal(with.inputs[0], input_tensor(e, t)));
  EXPECT_TRUE(at::equal(with.target, at::tensor(e.target(t), at::kDouble)));
  EXPECT_TRUE(at::equal(with.target, target_tensor(t, "y", e.schema().task)));
  EXPECT_FALSE(without.target.defined());
  const Table events = table_of({numbers("a", {0, 0.5, 1})});
  const Encoder places =
      Encoder::fit(events, all_rows(events), {"", "min-max", {}, "train", LikelihoodKind::cox, {{0, 1}}});
  EXPECT_FALSE(row_dataset(places, events, true).all().target.defined());
}

TEST(row_dataset, ListsBadRowsOrThrows) {
  const Table t = houses(), far = table_of({numbers("x", {1, 1e9}), categories("c", {0, 0}, {"a"})});
  const Encoder e = Encoder::fit(t, all_rows(t), {"y"});
  std::vector<BadRow> bad;
  const Batch rows = row_dataset(e, far, false, &bad).all();
  ASSERT_EQ(bad.size(), 1u);
  EXPECT_EQ(bad[0].row, 1);
  EXPECT_EQ(rows.inputs[0][1].abs().max().item<double>(), 0);
  EXPECT_THROW(row_dataset(e, far, false), DataError);
}

}  // namespace
}  // namespace slimbayes
