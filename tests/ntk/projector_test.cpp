#include <gtest/gtest.h>

#include <stdexcept>

#include "slimbayes/ntk/enrichment.h"
#include "tests/ntk/networks.h"

namespace slimbayes {
namespace {

TEST(Enrichment, TheProjectorSolvesLeastSquares) {
  at::Tensor features = Stream(4).normal({11, 5});
  EXPECT_LT(relative_error(features.t().mm(projector(features)), at::eye(5, at::kDouble)), 1e-12);
  features.select(1, 3).zero_();  // a dead unit
  const at::Tensor q = projector(features), rest = features.t().mm(q);
  EXPECT_LT(relative_error(features.mm(rest), features), 1e-12);
  EXPECT_EQ(q.select(1, 3).abs().max().item<double>(), 0);
  const at::Tensor few = Stream(5).normal({3, 5});  // fewer rows than features
  EXPECT_LT(relative_error(few.mm(projector(few).t()), at::eye(3, at::kDouble)), 1e-9);
}

TEST(Enrichment, TheProjectorWithARidgeSolvesRidgeRegression) {
  at::Tensor features = Stream(4).normal({11, 5});
  features.select(1, 3).zero_();  // a dead unit
  const double ridge = 0.3, m = features.square().sum().item<double>() / 11;
  const at::Tensor gram = features.t().mm(features) + ridge * m * at::eye(5, at::kDouble);
  EXPECT_LT(relative_error(gram.mm(projector(features, ridge).t()), features.t()), 1e-12);
  // The features' unit does not count.
  EXPECT_LT(relative_error(projector(1000 * features, ridge), projector(features, ridge) / 1000), 1e-12);
  EXPECT_THROW(projector(features, -1), std::invalid_argument);
}

TEST(Enrichment, TheProjectorCountsARowOfWeightTwoTwice) {
  const at::Tensor features = Stream(4).normal({11, 5}), times = 1 + at::arange(11).remainder(3);
  const at::Tensor which = at::repeat_interleave(at::arange(11), times);
  for (const double ridge : {0.0, 0.3}) {
    const at::Tensor own = projector(features, ridge, {}, times.to(at::kDouble)),
                     copies = projector(features.index_select(0, which), ridge);
    const at::Tensor sums = at::zeros_like(own).index_add(0, which, copies);
    EXPECT_LT(relative_error(own, sums), 1e-11) << ridge;
    EXPECT_GT(relative_error(projector(features, ridge), sums), 1e-2) << ridge;
  }
  EXPECT_THROW(projector(features, 0, {}, at::ones({10}, at::kDouble)), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
