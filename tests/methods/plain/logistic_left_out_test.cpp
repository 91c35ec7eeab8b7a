// The choice of a logistic regression's prior and spread by left-out rows.
#include "slimbayes/methods/plain/logistic_left_out.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/method/registry.h"

namespace slimbayes {
namespace {

LogisticMode mode_of(const LogisticRows& rows, double sd) {
  return logistic_mode(rows, sd, at::zeros({rows.contrasts(), rows.columns() + 1}, at::kDouble), 1e-10);
}

/// Rows around one centre for each class, `apart` times a random direction.
Dataset blobs(int64_t n, int64_t columns, int64_t classes, double apart, uint64_t seed) {
  const at::Tensor centres = apart * Stream(41).normal({classes, columns});
  const at::Tensor y = at::arange(n).remainder(classes);
  return class_data(centres.index_select(0, y) + Stream(seed).normal({n, columns}), y, classes);
}

TEST(LeftOutLogits, AreThoseOfAFitWithoutTheRow) {
  for (const int64_t classes : {2, 3}) {
    const Dataset data = blobs(60, 2, classes, 1, 1);
    const LogisticRows rows(data, {}, /*full=*/true);
    const double sd = 0.7;
    const LogisticMode whole = mode_of(rows, sd);
    const LogisticBlock every{data.all().inputs[0], data.all().target.to(at::kLong),
                              at::ones({60}, at::kDouble)};
    const GaussianLogits found =
        left_out_logits(rows.design(sd), whole, laplace_posterior(whole.loss.matrix, 1), every);
    for (const int64_t row : {0, 7, 31}) {
      const at::Tensor others = at::arange(60).index_select(0, (at::arange(60) != row).nonzero().squeeze(1));
      const LogisticRows rest(data.subset(others), {}, /*full=*/true);
      const LogisticMode mode = mode_of(rest, sd);
      const at::Tensor phi = rest.design(sd).features(data.all().inputs[0].narrow(0, row, 1));
      EXPECT_TRUE(at::allclose(found.mean[row], phi.mm(mode.coefficients.t())[0], 0, 0.05)) << row;
      const at::Tensor covariance =
          logit_covariance(laplace_posterior(mode.loss.matrix, 1), phi, classes - 1)[0];
      EXPECT_TRUE(at::allclose(found.covariance[row], covariance, 0.1, 0.02)) << row;
    }
  }
}

// Where the classes are apart the evidence takes a wide prior, and the Gaussian around the mode is so wide
// that its average says next to nothing.
TEST(LogisticChoice, ClassesThatAreApartGetSureAnswers) {
  const Dataset rows = blobs(140, 13, 3, 1.5, 2), fresh = blobs(600, 13, 3, 1.5, 3);
  const auto fitted = registry_row("logistic").make(nlohmann::json::object())->fit({rows, {}}, {});
  const auto p = std::get<Classes>(fitted->predict(fresh));
  EXPECT_EQ(accuracy(p, fresh.all().target), 1);
  EXPECT_LT(class_nll(p, fresh.all().target), 0.05);
}

TEST(LogisticChoice, KeepsTheEvidenceWhereItsAnswersServe) {
  const LogisticRows rows(blobs(500, 4, 3, 0.5, 4), {}, /*full=*/true);
  const double sd = evidence_prior_sd(rows, nullptr);
  const LogisticChoice found = logistic_choice(rows, sd, nullptr);
  EXPECT_EQ(found.prior_sd, sd);
  EXPECT_EQ(found.spread, 1);
}

}  // namespace
}  // namespace slimbayes
