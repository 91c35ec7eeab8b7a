#include "slimbayes/data/text/text_dataset.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/data/tables.h"

namespace slimbayes {
namespace {

Table film_reviews() {
  return table_of(
      {categories("text", {0, 1, 2, 0, 3, 4}, {"a good film", "a bad film", "good good", "", "zebra !"}),
       categories("label", {0, 1, 0, 0, 1, 1}, {"up", "down"})});
}

TEST(text_dataset, PadsABatchToItsLongestText) {
  const Table table = film_reviews();
  const TextEncoder encoder = TextEncoder::fit(table, all_rows(table), {"text", 20000, 256}, {"label"});
  const Dataset data = text_dataset(encoder, table, true);
  const Batch batch = data.source->rows(at::arange(6), {});
  const at::Tensor expected =
      at::tensor(std::vector<int64_t>{3, 2, 4, 3, 1, 4, 2, 2, 0, 3, 2, 4, 1, 0, 0, 1, 1, 0}).view({6, 3});
  EXPECT_TRUE(at::equal(batch.inputs[0], expected));
  EXPECT_TRUE(at::equal(batch.mask.sum(1), at::tensor(std::vector<int64_t>{3, 3, 2, 3, 1, 2})));
  EXPECT_TRUE(at::equal(data.source->lengths(), batch.mask.sum(1)));
  EXPECT_TRUE(at::equal(batch.target, at::tensor({1.0, 0.0, 1.0, 1.0, 0.0, 0.0}, at::kDouble)));
  // A batch is padded to its own longest text, not to the table's.
  const Batch some = data.source->rows(at::tensor(std::vector<int64_t>{2, 4}), {});
  EXPECT_EQ(some.inputs[0].sizes(), at::IntArrayRef({2, 2}));
  EXPECT_EQ(data.source->rows(at::empty({0}, at::kLong), {}).inputs[0].size(0), 0);
  EXPECT_FALSE(text_dataset(encoder, table, false).all().target.defined());
}

}  // namespace
}  // namespace slimbayes
