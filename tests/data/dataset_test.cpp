#include "slimbayes/data/dataset.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace slimbayes {
namespace {

Dataset small() {
  return dataset_of({{}, {"a", "b"}},
                    {{at::arange(8, at::kDouble).view({4, 2})}, at::arange(4, at::kDouble)});
}

at::Tensor indices(const std::vector<int64_t>& rows) { return at::tensor(rows, at::kLong); }

TEST(Dataset, RowsAndSubsetsTakeInputsAndTarget) {
  const Dataset data = small();
  EXPECT_EQ(data.size(), 4);
  EXPECT_EQ(data.schema.input, (Shape{{2}}));
  const Batch batch = data.rows(indices({3, 0}));
  EXPECT_TRUE(at::equal(batch.inputs[0], at::tensor({6.0, 7.0, 0.0, 1.0}, at::kDouble).view({2, 2})));
  EXPECT_TRUE(at::equal(batch.target, at::tensor({3.0, 0.0}, at::kDouble)));
  const Dataset part = data.subset(indices({3, 0, 2}));
  EXPECT_EQ(part.size(), 3);
  EXPECT_EQ(part.schema.features, data.schema.features);
  EXPECT_TRUE(at::equal(part.all().target, at::tensor({3.0, 0.0, 2.0}, at::kDouble)));
  EXPECT_TRUE(at::equal(part.subset(indices({2, 1})).all().target, at::tensor({2.0, 0.0}, at::kDouble)));
}

TEST(Dataset, IsNotCopied) {
  const Dataset data = small();
  EXPECT_EQ(data.all().inputs[0].const_data_ptr(), Dataset(data).all().inputs[0].const_data_ptr());
}

TEST(Dataset, MayHaveNoTargetAndNoRows) {
  const Dataset data = dataset_of({}, {{at::zeros({4, 2})}});
  EXPECT_FALSE(data.rows(indices({1})).target.defined());
  EXPECT_EQ(data.subset(at::empty({0}, at::kLong)).size(), 0);
  EXPECT_EQ(Dataset{}.size(), 0);
  EXPECT_TRUE(Dataset{}.all().inputs.empty());
}

TEST(Dataset, OfTensorsKeepsTheirNumbersAndShapes) {
  const at::Tensor x = at::rand({4, 3, 5}), y = at::tensor({2.0, 7.0, -1.0, 0.5}, at::kDouble);
  const Dataset data = regression_data(x, y.unsqueeze(1));
  EXPECT_EQ(data.schema.input, (Shape{{3, 5}}));
  EXPECT_TRUE(at::equal(data.all().target, y));
  EXPECT_EQ(data.schema.task.kind, TaskKind::regression);
  const Dataset texts = class_data(at::ones({4, 6}, at::kLong), at::tensor({0, 1, 2, 1}, at::kLong), 3);
  EXPECT_TRUE(texts.schema.input.tokens);
  EXPECT_EQ(texts.schema.task.outputs, 3);
  EXPECT_EQ(texts.schema.task.levels, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(class_data(x, y, 2, LikelihoodKind::bernoulli).schema.task.outputs, 1);
  EXPECT_THROW(regression_data(x, y.slice(0, 1)), std::invalid_argument);
  EXPECT_THROW(regression_data(y, y), std::invalid_argument);
  EXPECT_THROW(class_data(x, y, 3, LikelihoodKind::bernoulli), std::invalid_argument);
  EXPECT_THROW(class_data(x, y, 3, LikelihoodKind::poisson), std::invalid_argument);
}

TEST(Dataset, RefusesTensorsAndIndicesThatDoNotFit) {
  EXPECT_THROW(small().rows(at::zeros({2}, at::kDouble)), std::invalid_argument);
  EXPECT_THROW(small().rows(at::zeros({2, 1}, at::kLong)), std::invalid_argument);
  EXPECT_THROW(small().subset(indices({4})), std::invalid_argument);
  EXPECT_THROW(dataset_of({}, {{at::zeros({4, 2})}, at::zeros({3})}), std::invalid_argument);
  EXPECT_THROW(dataset_of({}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
