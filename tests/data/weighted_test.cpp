#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "slimbayes/data/dataset.h"

namespace slimbayes {
namespace {

Dataset numbered_places(int64_t n) {
  const at::Tensor x = at::arange(n, at::kDouble).unsqueeze(1);
  return regression_data(x, 10 * x.squeeze(1));
}

at::Tensor doubles_of(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

/// A source that is not in memory.
class PlacesOnDemand : public Source {
 public:
  explicit PlacesOnDemand(int64_t n) : n_(n) {}
  int64_t size() const override { return n_; }
  Batch rows(const at::Tensor& indices, const RowContext&) const override {
    return {{indices.to(at::kDouble).unsqueeze(1)}, 10 * indices.to(at::kDouble)};
  }
  at::Tensor lengths() const override { return at::arange(n_); }

 private:
  int64_t n_;
};

TEST(Weighted, RowsAndSubsetsHaveTheirWeights) {
  const at::Tensor w = doubles_of({0.5, 2, 1, 4});
  for (const Dataset& plain :
       {numbered_places(4), Dataset{numbered_places(4).schema, std::make_shared<PlacesOnDemand>(4)}}) {
    const Dataset data = weighted(plain, w);
    EXPECT_TRUE(at::equal(data.weights(), w));
    EXPECT_EQ(data.total_weight(), 7.5);
    EXPECT_EQ(data.size(), 4);
    EXPECT_TRUE(at::equal(data.all().weight, w));
    const at::Tensor which = at::tensor({3, 0, 3}, at::kLong);
    const Batch some = data.rows(which);
    EXPECT_TRUE(at::equal(some.weight, doubles_of({4, 0.5, 4})));
    EXPECT_TRUE(at::equal(some.target, doubles_of({30, 0, 30})));
    const Dataset part = data.subset(which);
    EXPECT_TRUE(at::equal(part.weights(), some.weight));
    EXPECT_TRUE(at::equal(part.all().weight, some.weight));
    EXPECT_EQ(part.total_weight(), 8.5);
    // Other weights take the place of these, also those of a subset.
    const Dataset other = weighted(part, doubles_of({1, 2, 3}));
    EXPECT_TRUE(at::equal(other.all().weight, doubles_of({1, 2, 3})));
    EXPECT_TRUE(at::equal(other.weights(), doubles_of({1, 2, 3})));
    EXPECT_EQ(weighted(data, at::ones({4})).total_weight(), 4);
    EXPECT_EQ(data.source->lengths().defined(), plain.source->lengths().defined());
  }
}

TEST(Weighted, OfOnesIsTheDatasetItself) {
  const Dataset data = numbered_places(4);
  EXPECT_FALSE(data.weights().defined());
  EXPECT_EQ(data.total_weight(), 4);
  EXPECT_EQ(weighted(data, at::ones({4}, at::kLong)).source, data.source);
  EXPECT_FALSE(weighted(weighted(data, doubles_of({1, 2, 3, 4})), at::ones({4})).weights().defined());
  EXPECT_EQ(Dataset{}.total_weight(), 0);
}

TEST(Weighted, RefusesWhatIsNoWeight) {
  const Dataset data = numbered_places(3);
  for (const double wrong : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(weighted(data, doubles_of({1, wrong, 1})), std::invalid_argument) << wrong;
  EXPECT_THROW(weighted(data, doubles_of({1, 2})), std::invalid_argument);
  EXPECT_THROW(weighted(data, doubles_of({1, 1e101, 1})), std::invalid_argument);
  EXPECT_EQ(weighted(data, doubles_of({1, 1e100, 1})).total_weight(), 1e100);
}

TEST(Weighted, JoinedRowsWithoutWeightsCountOnce) {
  const Dataset heavy = weighted(numbered_places(3), doubles_of({2, 3, 4})), plain = numbered_places(2);
  for (const bool first : {true, false}) {
    const Dataset all = first ? joined(heavy, plain) : joined(plain, heavy);
    const at::Tensor w = first ? doubles_of({2, 3, 4, 1, 1}) : doubles_of({1, 1, 2, 3, 4});
    EXPECT_TRUE(at::equal(all.weights(), w));
    EXPECT_TRUE(at::equal(all.all().weight, w));
    EXPECT_EQ(all.total_weight(), 11);
    for (const at::Tensor& which : {at::tensor({4, 0}, at::kLong), at::tensor({0, 1}, at::kLong),
                                    at::tensor({4, 3}, at::kLong), at::empty({0}, at::kLong)})
      EXPECT_TRUE(at::equal(all.rows(which).weight, w.index_select(0, which))) << which;
  }
  EXPECT_FALSE(joined(plain, plain).all().weight.defined());
  EXPECT_FALSE(joined(plain, plain).weights().defined());
}

}  // namespace
}  // namespace slimbayes
