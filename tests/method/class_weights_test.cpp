#include "slimbayes/method/class_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace slimbayes {
namespace {

Dataset of_classes(const std::vector<double>& labels, int64_t classes) {
  Schema schema;
  schema.features = {"x"};
  schema.task.kind = TaskKind::classification;
  schema.task.likelihood = LikelihoodKind::softmax;
  schema.task.outputs = classes;
  const at::Tensor y = at::tensor(labels, at::kDouble);
  return dataset_of(schema, {{at::zeros({y.size(0), 1}, at::kDouble)}, y});
}

// Three rows of class 0, one of class 1, none of class 2: n / (2 n_c) for the two classes with rows.
TEST(ClassWeights, GiveEveryClassWithRowsTheSameSum) {
  const at::Tensor w = class_weights("balanced", of_classes({0, 0, 1, 0}, 3), "test", nullptr);
  EXPECT_FLOAT_EQ(w[0].item<float>(), 4.0F / 6);
  EXPECT_FLOAT_EQ(w[1].item<float>(), 2);
  EXPECT_EQ(w[2].item<float>(), 0);
  EXPECT_FALSE(class_weights("none", of_classes({0, 1}, 2), "test", nullptr).defined());
}

TEST(ClassWeights, MultiplyTheLossOfARowByItsClass) {
  const at::Tensor loss = at::tensor({1.0, 2.0, 4.0}), y = at::tensor({1.0, 0.0, 1.0});
  const at::Tensor weights = at::tensor({0.5, 3.0});
  EXPECT_TRUE(at::equal(weighted(loss, y, weights), at::tensor({3.0, 1.0, 12.0})));
  EXPECT_TRUE(at::equal(weighted(loss, y, {}), loss));
  const Classes p{at::tensor({0.25, 0.75, 0.5, 0.5}, at::kDouble).view({2, 2}), {}, {}};
  const at::Tensor two = at::tensor({1.0, 0.0}, at::kDouble);
  EXPECT_NEAR(weighted_nll(p, two, weights), (-3 * std::log(0.75) - 0.5 * std::log(0.5)) / 2, 1e-12);
}

// Class 0 has the weights 2 and 1, class 1 has 3: each is half of the rows.
TEST(ClassWeights, CountRowsByTheirWeights) {
  const at::Tensor times = at::tensor({2.0, 3.0, 1.0}, at::kDouble);
  const Dataset rows = weighted(of_classes({0, 1, 0}, 2), times);
  EXPECT_TRUE(at::equal(class_weights("balanced", rows, "test", nullptr), at::ones({2}, at::kFloat)));
  const Classes p{at::tensor({0.25, 0.75, 0.5, 0.5, 0.9, 0.1}, at::kDouble).view({3, 2}), {}, {}};
  const double expected = -(2 * 0.5 * std::log(0.25) + 3 * 3 * std::log(0.5) + 0.5 * std::log(0.9)) / 6;
  EXPECT_NEAR(weighted_nll(p, rows.all().target, at::tensor({0.5, 3.0}), times), expected, 1e-12);
}

}  // namespace
}  // namespace slimbayes
