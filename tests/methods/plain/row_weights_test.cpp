// Row weights in the plain methods: a row of weight w counts as w equal rows.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/methods/plain/logistic_fit.h"
#include "slimbayes/methods/plain/logistic_rows.h"
#include "slimbayes/methods/plain/tree.h"
#include "tests/methods/disk_source.h"
#include "tests/methods/whole_weights.h"

namespace slimbayes {
namespace {

using nlohmann::json;

std::unique_ptr<Fitted> plain_fit(const char* method, const Dataset& rows,
                                  const json& options = json::object()) {
  return registry_row(method).make(options)->fit({rows, {}}, {});
}

void expect_same_tensor(const Fitted& a, const Fitted& b, const std::string& name) {
  const at::Tensor x = stored_tensor(a.save(), name), y = stored_tensor(b.save(), name);
  EXPECT_TRUE(at::allclose(x, y, 1e-10, 1e-10)) << name << "\n" << x << "\n" << y;
}

Dataset counted_events() {
  Dataset rows = regression_data(Stream(1).normal({9, 2}), at::arange(9).remainder(4).to(at::kDouble));
  rows.schema.task.kind = TaskKind::counts;
  rows.schema.task.likelihood = LikelihoodKind::poisson;
  return rows;
}

TEST(PlainRowWeights, OfConstantAreRepeatedRows) {
  const at::Tensor x = Stream(1).normal({20, 2});
  for (const Dataset& rows : {regression_data(x, Stream(2).normal({20})),
                              class_data(x, at::arange(20).remainder(5).clamp_max(2), 4), counted_events()}) {
    const at::Tensor w = whole_weights(rows.size());
    const auto found = plain_fit("constant", weighted(rows, w));
    expect_same_tensor(*found, *plain_fit("constant", repeated(rows, w)), "posterior");
    EXPECT_EQ(found->summary().rows, rows.size());
  }
}

TEST(PlainRowWeights, MoveTheConstantToTheHeavyRows) {
  const Dataset rows = regression_data(at::zeros({4, 1}), at::tensor({0.0, 0.0, 1.0, 1.0}));
  const at::Tensor w = at::tensor({0.5, 0.5, 1.5, 1.5}, at::kDouble);
  const auto p = std::get<Regression>(plain_fit("constant", weighted(rows, w))->predict(rows));
  EXPECT_NEAR(p.mean[0].item<double>(), 0.75, 1e-14);
  EXPECT_NEAR(p.aleatoric_var[0].item<double>(), 4 * 0.75 * 0.25 / 3 * 1.25, 1e-14);
}

TEST(PlainRowWeights, OfEqualSizeGiveTheConstantTheVarianceOfNone) {
  const at::Tensor y = Stream(2).normal({20});
  const Dataset rows = regression_data(at::zeros({20, 1}), y);
  const double expected = stored_tensor(plain_fit("constant", rows)->save(), "posterior")[1].item<double>();
  for (const double size : {1e-3, 0.05, 0.051, 0.3, 1.0}) {  // 0.051: the sum is just above 1
    const auto found = plain_fit("constant", weighted(rows, at::full({20}, size, at::kDouble)));
    const at::Tensor posterior = stored_tensor(found->save(), "posterior");
    ASSERT_EQ(posterior.numel(), 3);
    EXPECT_NEAR(posterior[1].item<double>(), expected, 1e-12) << size;
    EXPECT_NEAR(posterior[2].item<double>(), 20 * size, 1e-6) << size;
  }
}

// The constant adds up what it knows of blocks; the weights of one sum to less than 1, or to more.
TEST(PlainRowWeights, OfBlocksAddUpToThoseOfAllRows) {
  const Dataset rows = regression_data(at::zeros({5000, 1}), Stream(2).normal({5000}));
  for (const double unit : {1e-5, 0.3, 1.0}) {
    const Dataset own = weighted(rows, unit * whole_weights(5000));
    expect_same_tensor(*plain_fit("constant", on_disk(own)), *plain_fit("constant", own), "posterior");
  }
}

// The search of the variances is by a bracket of finite width: the statistics agree to the digits of a
// double.
TEST(PlainRowWeights, OfRidgeAreRepeatedRows) {
  const at::Tensor x = Stream(1).normal({40, 3});
  const Dataset rows = regression_data(x, x.select(1, 0) + 0.5 * Stream(2).normal({40}));
  const at::Tensor w = whole_weights(40);
  const auto a = plain_fit("ridge", weighted(rows, w)), b = plain_fit("ridge", repeated(rows, w));
  for (const char* name : {"S", "c", "ones_phi", "sums"})
    expect_same_tensor(*a, *b, "statistics." + std::string(name));
  const at::Tensor found = stored_tensor(a->save(), "variances"),
                   same = stored_tensor(b->save(), "variances");
  EXPECT_TRUE(at::allclose(found, same, 1e-4, 0)) << found << same;
  const auto p = std::get<Regression>(a->predict(rows)), q = std::get<Regression>(b->predict(rows));
  EXPECT_TRUE(at::allclose(p.mean, q.mean, 0, 1e-5));
  EXPECT_FALSE(
      at::allclose(p.mean, std::get<Regression>(plain_fit("ridge", rows)->predict(rows)).mean, 0, 1e-4));
}

/// Rows of some classes with two columns.
Dataset logistic_weighted_rows(int64_t classes) {
  const at::Tensor x = Stream(3).normal({60, 2});
  const at::Tensor score = x.select(1, 0) + 0.8 * Stream(4).normal({60});
  const at::Tensor y =
      classes == 2 ? (score > 0).to(at::kLong) : (score > -0.5).to(at::kLong) + (score > 0.7);
  return class_data(x, y, classes);
}

TEST(PlainRowWeights, OfTheLogisticLossAreRepeatedRows) {
  for (const int64_t classes : {2, 3}) {
    for (const bool full : {true, false}) {
      const Dataset data = logistic_weighted_rows(classes);
      const at::Tensor w = whole_weights(60), v = 0.3 * Stream(5).normal({classes - 1, 3});
      const LogisticRows rows(weighted(data, w), {}, full), all(repeated(data, w), {}, full);
      const LogisticLoss a = rows.loss(v, 0.7), b = all.loss(v, 0.7);
      EXPECT_NEAR(a.value, b.value, 1e-10 * b.value);
      EXPECT_TRUE(at::allclose(a.gradient, b.gradient, 1e-10, 1e-10));
      if (full) {
        EXPECT_TRUE(at::allclose(a.matrix.full, b.matrix.full, 1e-10, 1e-10));
      } else {
        EXPECT_TRUE(at::allclose(rows.feature_values(0.7), all.feature_values(0.7), 1e-10, 1e-10));
        EXPECT_TRUE(at::allclose(rows.hessian_times(a, v, 0.7), all.hessian_times(b, v, 0.7), 1e-10, 1e-10));
      }
    }
  }
}

TEST(PlainRowWeights, OfTheLogisticModeAreRepeatedRows) {
  for (const bool full : {true, false}) {
    const Dataset data = logistic_weighted_rows(3);
    const at::Tensor w = whole_weights(60), zero = at::zeros({2, 3}, at::kDouble);
    const LogisticRows rows(weighted(data, w), {}, full), all(repeated(data, w), {}, full),
        once(data, {}, full);
    const LogisticMode a = logistic_mode(rows, 0.7, zero, 1e-10), b = logistic_mode(all, 0.7, zero, 1e-10);
    EXPECT_TRUE(at::allclose(a.coefficients, b.coefficients, 0, 1e-4));
    EXPECT_FALSE(at::allclose(a.coefficients, logistic_mode(once, 0.7, zero, 1e-10).coefficients, 0, 1e-2));
    EXPECT_NEAR(log_evidence(rows, a, 0.7), log_evidence(all, b, 0.7), 1e-4);
  }
}

std::vector<int64_t> times_of(const std::vector<int32_t>& rows, size_t n) {
  std::vector<int64_t> times(n, 0);
  for (const int32_t row : rows) ++times[static_cast<size_t>(row)];
  return times;
}

TEST(RepeatedRows, WholeWeightsAreExact) {
  const std::vector<double> weights = {3, 1, 2, 1, 5};
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(times_of(repeated_rows({0, 1, 2, 4}, weights, 1000, Stream(seed)), 5),
              (std::vector<int64_t>{3, 1, 2, 0, 5}));
}

TEST(RepeatedRows, OtherWeightsHoldOnAverage) {
  const std::vector<double> weights = {0.5, 1.25, 2, 0.25};
  constexpr uint64_t kTimes = 2000;
  std::vector<double> mean(4, 0.0);
  for (uint64_t seed = 0; seed < kTimes; ++seed) {
    const auto times = times_of(repeated_rows({0, 1, 2, 3}, weights, 1000, Stream(seed)), 4);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_LT(std::abs(static_cast<double>(times[i]) - weights[i]), 1);
      mean[i] += static_cast<double>(times[i]) / kTimes;
    }
  }
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(mean[i], weights[i], 0.06);  // five standard errors
}

TEST(RepeatedRows, AreAtMostAsManyAsATreeMayHave) {
  EXPECT_EQ(repeated_rows({0, 1, 2}, {1e9, 1e9, 1e9}, 30, Stream(1)).size(), 30u);
  EXPECT_EQ(times_of(repeated_rows({0, 1, 2}, {1e9, 1e9, 1e9}, 30, Stream(1)), 3),
            (std::vector<int64_t>{10, 10, 10}));
  EXPECT_EQ(repeated_rows({0, 1, 2}, {1e-3, 1e-3, 1e-3}, 30, Stream(1)).size(), 1u);
}

TEST(PlainRowWeights, OfALeafAreRepeatedRows) {
  const at::Tensor x = Stream(6).normal({60, 2}, at::kFloat), y = at::arange(60).remainder(2);
  const at::Tensor w = whole_weights(60);
  const std::vector<double> weights(w.const_data_ptr<double>(), w.const_data_ptr<double>() + 60);
  std::vector<int32_t> all(60);
  std::iota(all.begin(), all.end(), 0);
  const ClassRows rows(x, y, 2, 120);
  const Tree tree = grown_tree(rows, repeated_rows(all, weights, 1000, Stream(1)), 2, Stream(2));
  std::vector<int32_t> expected(tree.counts.size(), 0);
  for (int64_t i = 0; i < 60; ++i) {
    const int32_t leaf = leaf_of(tree.nodes, x.const_data_ptr<float>() + i * 2);
    expected[static_cast<size_t>(2 * leaf + y[i].item<int64_t>())] +=
        static_cast<int32_t>(w[i].item<double>());
  }
  EXPECT_EQ(tree.counts, expected);
}

// Rows of equal inputs are one leaf, so that the trees do not differ.
TEST(PlainRowWeights, OfExtraTreesAreRepeatedRowsInALeaf) {
  const Dataset rows = class_data(at::ones({30, 2}), at::arange(30).remainder(3), 3);
  const at::Tensor w = whole_weights(30);
  const json options = {{"trees", 8}, {"split_columns", "all"}, {"parent_rows", 1}};
  const Dataset one = rows.subset(at::zeros({1}, at::kLong));
  const auto p = std::get<Classes>(plain_fit("extra-trees", weighted(rows, w), options)->predict(one)),
             q = std::get<Classes>(plain_fit("extra-trees", repeated(rows, w), options)->predict(one)),
             once = std::get<Classes>(plain_fit("extra-trees", rows, options)->predict(one));
  EXPECT_TRUE(at::allclose(p.probabilities, q.probabilities, 1e-12, 0));
  EXPECT_FALSE(at::allclose(p.probabilities, once.probabilities, 1e-3, 0));
}

}  // namespace
}  // namespace slimbayes
