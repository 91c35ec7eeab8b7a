#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "slimbayes/core/gaussian_linear.h"
#include "slimbayes/core/random.h"
#include "tests/core/linear_problem.h"

namespace slimbayes {
namespace {

TEST(GaussianLinear, EvidenceGradientEqualsCentralDifferences) {
  for (int prior : {0, 1, 3})
    for (bool fit_mean : {false, true}) {
      Problem q = problem(30, 5, 0.2, true, prior, fit_mean);
      LinearStatistics s = statistics(q.rows, 1.9);
      LinearPosterior p = linear_posterior(s, q.model);
      EvidenceGradient g = evidence_gradient(p);
      auto near = [&](double gradient, auto evidence) {
        double h = 1e-5, difference = (evidence(h) - evidence(-h)) / (2 * h);
        EXPECT_NEAR(gradient, difference, 1e-5 * std::max(1.0, std::abs(difference)));
      };
      near(g.log_sigma2, [&](double h) {
        return log_evidence(
            linear_posterior(s, {q.model.sigma2 * std::exp(h), q.model.prior_factor, fit_mean}));
      });
      near(g.log_prior_scale, [&](double h) {
        at::Tensor t = q.model.prior_factor.defined() ? q.model.prior_factor : at::ones({}, at::kDouble);
        return log_evidence(linear_posterior(s, {q.model.sigma2, t * std::exp(h), fit_mean}));
      });
      at::Tensor e = Stream(9).normal({5, 5}), v = Stream(8).normal({5});
      e = e + e.t();
      near((g.S * e).sum().item<double>(), [&](double h) {
        LinearStatistics moved = s;
        moved.S = s.S + h * e;
        return log_evidence(linear_posterior(moved, q.model));
      });
      near(g.c.dot(v).item<double>(), [&](double h) {
        LinearStatistics moved = s;
        moved.c = s.c + h * v;
        return log_evidence(linear_posterior(moved, q.model));
      });
      if (fit_mean)
        EXPECT_NEAR(g.constant, 0, 1e-9);
      else
        near(g.constant,
             [&](double h) { return log_evidence(linear_posterior(shifted(s, s.y_shift + h), q.model)); });
      EvidenceGradient exact = evidence_gradient(p, residual_sum(p, q.rows));
      EXPECT_NEAR(exact.log_sigma2, g.log_sigma2, 1e-10 * std::abs(g.log_sigma2));
    }
}

TEST(GaussianLinear, TwoPassGradientEqualsTheFullBatchOne) {
  for (bool d : {false, true})
    for (int prior : {0, 3})
      for (bool fit_mean : {false, true}) {
        Problem q = problem(60, 5, 0.05, d, prior, fit_mean);
        at::Tensor x = Stream(4).normal({60, 3}), w = Stream(5).normal({3, 5}).requires_grad_(true);
        auto rows = [&](int64_t from, int64_t to) {
          LinearRows out = part(q.rows, from, to);
          out.features = at::tanh(at::mm(x.slice(0, from, to), w));
          return out;
        };
        dense(rows(0, 60), q.model, q.test).log_evidence.backward();
        at::Tensor full = w.grad().clone();
        w.mutable_grad().zero_();

        const int64_t edges[] = {0, 1, 9, 30, 31, 60};
        LinearStatistics s = linear_statistics(5, fit_mean ? 1.0 : 0.0);
        for (int i = 0; i < 5; ++i) s = added(s, rows(edges[i], edges[i + 1]));
        LinearPosterior p = linear_posterior(s, q.model);
        EvidenceGradient g = evidence_gradient(p);
        for (int i = 0; i < 5; ++i) evidence_surrogate(p, g, rows(edges[i], edges[i + 1])).backward();
        EXPECT_LT(relative(w.grad(), full), 1e-10);
      }
}

}  // namespace
}  // namespace slimbayes
