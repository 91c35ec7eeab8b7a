// Of single rows in plain numbers the same as the tensors of likelihoods.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/answers/conformal.h"
#include "slimbayes/answers/count_distribution.h"
#include "slimbayes/answers/prediction_set.h"
#include "slimbayes/core/random.h"
#include "slimbayes/density/class_average.h"
#include "slimbayes/density/conformal_rank.h"
#include "slimbayes/density/count.h"
#include "slimbayes/density/philox.h"

namespace slimbayes {
namespace {

const double* data_of(const at::Tensor& x) { return x.const_data_ptr<double>(); }

TEST(AverageSigmoid, IsTheTensorsOfBothRules) {
  for (const double mean : {-60.0, -4.0, 0.0, 0.3, 7.0, 200.0})
    for (const double var : {0.0, 1e-9, 0.5, 8.9, 9.1, 400.0, 1e6}) {
      const at::Tensor m = at::full({1}, mean, at::kDouble), v = at::full({1}, var, at::kDouble);
      const auto expected = std::get<Classes>(BernoulliLikelihood().predictive({m, v}));
      double p[2];
      const double entropy = average_sigmoid(mean, var, p);
      for (int c = 0; c < 2; ++c) {
        const double one = expected.probabilities[0][c].item<double>();
        EXPECT_NEAR(p[c], one, 1e-12 * one + 1e-300) << mean << " " << var;
      }
      EXPECT_NEAR(entropy, expected.expected_entropy.item<double>(), 1e-13) << mean << " " << var;
    }
}

TEST(Softmax, OfOneLogitHasTwoClasses) {
  for (const double f : {-800.0, -1.0, 0.0, 3.0, 800.0}) {
    double p[2];
    softmax({&f, 1}, p);
    const auto expected = classes_of_logits(at::full({1, 1}, f, at::kDouble));
    EXPECT_NEAR(p[1], expected.probabilities[0][1].item<double>(), 1e-15);
    EXPECT_NEAR(entropy_of(p), expected.expected_entropy.item<double>(), 1e-12);
  }
}

TEST(CountOfARow, HasTheCdfAndTheQuantilesOfTheTensors) {
  for (const double mean : {-3.0, 0.0, 2.5, 9.0})
    for (const double var : {0.0, 1e-6, 0.04, 1.0, 30.0}) {
      const LogRate rate{mean, var};
      const LogNormalRate rates{at::full({1}, mean, at::kDouble), at::full({1}, var, at::kDouble)};
      for (const double k : {-1.0, 0.0, 3.0, 40.0, 9000.0})
        EXPECT_NEAR(count_cdf(rate, k),
                    poisson_lognormal_cdf(rates, at::full({1}, k, at::kDouble)).item<double>(), 1e-12)
            << mean << " " << var << " " << k;
      for (const double p : {0.013, 0.24, 0.77, 0.991})
        EXPECT_EQ(count_quantile(rate, p), poisson_lognormal_quantile(rates, p).item<double>())
            << mean << " " << var << " " << p;
    }
  EXPECT_GT(count_quantile({40, 1}, 0.5), 1e13);
}

TEST(RowUniform, IsThatOfTheTensors) {
  const at::Tensor x = Stream(3).normal({5, 4}, at::kFloat), u = row_uniforms(x);
  for (int64_t i = 0; i < 5; ++i) {
    const auto* bytes = reinterpret_cast<const char*>(x.const_data_ptr<float>() + 4 * i);
    EXPECT_EQ(row_uniform({bytes, 4 * sizeof(float)}), u[i].item<double>());
  }
}

TEST(MarkSet, IsThePredictionSet) {
  const at::Tensor p = at::softmax(Stream(5).normal({40, 5}), 1);
  p[3] = at::tensor({0.2, 0.2, 0.2, 0.2, 0.2}, at::kDouble);
  const at::Tensor u = Stream(6).uniform({40}), y = p.argmax(1);
  std::vector<int64_t> group(40);
  std::iota(group.begin(), group.end(), 0);
  const Classes classes{p, {}, {}};
  const ConformalScores scores = sorted_scores(set_scores(classes, y, u), group);
  const at::Tensor expected = prediction_set(classes, u, scores, 0.7);
  const double factor = conformal_factor(scores, 0.7);
  for (int64_t i = 0; i < 40; ++i) {
    unsigned char set[5];
    mark_set({data_of(p) + 5 * i, 5}, u[i].item<double>(), factor, set);
    for (int64_t c = 0; c < 5; ++c) EXPECT_EQ(set[c] != 0, expected[i][c].item<bool>()) << i << " " << c;
  }
}

}  // namespace
}  // namespace slimbayes
