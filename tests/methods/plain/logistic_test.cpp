// logistic against an independent implementation and against the distribution that made the rows.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/methods/plain/logistic_fit.h"

namespace slimbayes {
namespace {

std::unique_ptr<Fitted> logistic(const Dataset& rows,
                                 const nlohmann::json& options = nlohmann::json::object()) {
  return registry_row("logistic").make(options)->fit({rows, {}}, {});
}

Classes answer(const Fitted& fitted, const at::Tensor& x) {
  return std::get<Classes>(fitted.predict(dataset_of({}, {{x}})));
}

double prior_sd_of(const Fitted& fitted) { return stored_tensor(fitted.save(), "prior_sd").item<double>(); }

/// Rows of a softmax of random linear logits, which `logits` receives.
Dataset logit_made(int64_t n, int64_t columns, int64_t classes, uint64_t seed, at::Tensor* logits = nullptr) {
  const Stream stream(seed);
  const at::Tensor x = stream.split("x").normal({n, columns});
  const at::Tensor all = x.mm(Stream(77).normal({columns, classes}));
  if (logits != nullptr) *logits = all;
  const at::Tensor gumbel = -(-stream.split("y").uniform({n, classes}).log()).log();
  return class_data(x, (all + gumbel).argmax(1), classes);
}

const at::Tensor& small_x() {
  static const at::Tensor x = at::tensor({-1.5, 0.3, -0.7, -1.1, 0.2,  0.9,  1.1, -0.4, 0.4, 1.6,  -1.2, 0.1,
                                          0.9,  0.5, 1.8,  -1.3, -0.3, -0.6, 0.1, -0.8, 0.6, -0.2, -0.9, 1.4},
                                         at::kDouble)
                                  .view({12, 2});
  return x;
}

const at::Tensor& new_x() {
  static const at::Tensor x = at::tensor({0.5, 0.5, -2.0, 0.0, 6.0, -6.0}, at::kDouble).view({3, 2});
  return x;
}

Dataset small_rows(int64_t classes, LikelihoodKind likelihood = LikelihoodKind::softmax) {
  const at::Tensor y = classes == 2 ? at::tensor({0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 0})
                                    : at::tensor({0, 0, 1, 2, 1, 0, 0, 2, 1, 0, 2, 1});
  return class_data(small_x(), y, classes, likelihood);
}

// The numbers of this test come from scipy 1.17.1: the evidence by Newton's method in all K logits and a
// bounded search, two classes by adaptive quadrature, three by 8 million draws. The prior sd is known to the
// 16 bits of the search, on which the probabilities depend to 1e-5; the house's 1,024 draws for three classes
// have an error of some 0.005.
TEST(Logistic, AgreesWithAnIndependentImplementation) {
  const auto two = logistic(small_rows(2, LikelihoodKind::bernoulli)), three = logistic(small_rows(3));
  EXPECT_NEAR(prior_sd_of(*two), 1.217861, 2e-3);
  EXPECT_NEAR(prior_sd_of(*three), 1.616033, 2e-3);
  const at::Tensor p = answer(*two, new_x()).probabilities.select(1, 1);
  EXPECT_TRUE(at::allclose(p, at::tensor({0.633725, 0.138088, 0.877983}, at::kDouble), 0, 2e-4)) << p;
  const at::Tensor expected =
      at::tensor({0.305213, 0.454194, 0.240593, 0.693234, 0.264853, 0.041914, 0.074047, 0.019439, 0.906514},
                 at::kDouble);
  const at::Tensor q = answer(*three, new_x()).probabilities;
  EXPECT_TRUE(at::allclose(q, expected.view({3, 3}), 0, 0.015)) << q;
}

TEST(Logistic, TheEvidenceIsTheDenseOneAndGreatestAtItsPriorSd) {
  for (const int64_t classes : {2, 3}) {
    const Dataset data = small_rows(classes);
    const LogisticRows rows(data, {}, /*full=*/true);
    const auto evidence = [&](double sd) {
      return log_evidence(rows, logistic_mode(rows, sd, at::zeros({classes - 1, 3}, at::kDouble), 1e-10), sd);
    };
    const double sd = prior_sd_of(*logistic(data)), best = evidence(sd);
    EXPECT_NEAR(best, classes == 2 ? -9.600590 : -14.970479, 1e-4);
    for (const double by : {std::sqrt(0.5), std::sqrt(2.0)}) EXPECT_GT(best, evidence(sd * by) + 1e-3);
  }
}

TEST(Logistic, TheGradientVanishesAtTheModeOfBothSolvers) {
  const Dataset data = logit_made(300, 4, 3, 1);
  const at::Tensor start = at::zeros({2, 5}, at::kDouble);
  const LogisticRows full(data, {}, true), factored(data, {}, false);
  const LogisticMode a = logistic_mode(full, 0.8, start, 1e-10),
                     b = logistic_mode(factored, 0.8, start, 1e-10);
  EXPECT_LT(a.loss.gradient.abs().max().item<double>(), 1e-6);
  EXPECT_LT(b.loss.gradient.abs().max().item<double>(), 1e-3);
  EXPECT_TRUE(at::allclose(a.coefficients, b.coefficients, 1e-4, 1e-5));
  // The gradient against finite differences of the loss.
  const at::Tensor v = Stream(5).normal({2, 5});
  const at::Tensor gradient = full.loss(v, 0.8).gradient;
  for (int64_t i = 0; i < 10; ++i) {
    at::Tensor up = v.clone(), down = v.clone();
    up.view(-1)[i] += 1e-5;
    down.view(-1)[i] -= 1e-5;
    const double slope = (full.loss(up, 0.8).value - full.loss(down, 0.8).value) / 2e-5;
    EXPECT_NEAR(gradient.view(-1)[i].item<double>(), slope, 1e-5 * (1 + std::abs(slope)));
  }
}

TEST(Logistic, TheBoundIsAboveTheHessianWhichTheProductsShow) {
  const Dataset data = logit_made(200, 3, 4, 2);
  const LogisticRows full(data, {}, true), factored(data, {}, false);
  const at::Tensor v = 0.3 * Stream(6).normal({3, 4}), u = Stream(7).normal({3, 4});
  const at::Tensor hessian = full.loss(v, 0.6).matrix.full + at::eye(12, at::kDouble);
  const at::Tensor product = factored.hessian_times(factored.loss(v, 0.6), u, 0.6);
  EXPECT_TRUE(at::allclose(product.flatten(), at::mv(hessian, u.flatten()), 1e-9, 1e-9));
  const at::Tensor bounded = factored.over_bound(product, 0.6);  // bound^-1 H u
  EXPECT_LE((bounded * product).sum().item<double>(), (u * product).sum().item<double>());
}

// Two classes have one logit in both, and so the same prior and posterior.
TEST(Logistic, TwoClassesOfSoftmaxAreThoseOfBernoulli) {
  const auto a = logistic(small_rows(2, LikelihoodKind::bernoulli)), b = logistic(small_rows(2));
  EXPECT_TRUE(at::equal(answer(*a, new_x()).probabilities, answer(*b, new_x()).probabilities));
}

TEST(Logistic, SeparableRowsAClassWithoutRowsAndLoneRowsStayFinite) {
  const at::Tensor x = at::linspace(-1, 1, 30, at::kDouble).unsqueeze(1);
  const Dataset separable = class_data(x, (x > 0).squeeze(1), 2);
  const Dataset absent = class_data(x, (x > 0).squeeze(1), 3);
  const Dataset lone = class_data(x.narrow(0, 0, 3), at::arange(3), 3);
  const Dataset one = class_data(x, at::zeros({30}), 2),
                flat = class_data(at::ones({30, 2}), (x > 0).squeeze(1), 2);
  for (const Dataset& rows : {separable, absent, lone, one, flat}) {
    const auto fitted = logistic(rows);
    const Classes p = answer(*fitted, rows.all().inputs[0]);
    EXPECT_TRUE(p.probabilities.isfinite().all().item<bool>() && p.probabilities.gt(0).all().item<bool>());
    EXPECT_GE(mutual_information(p).min().item<double>(), 0);
  }
  EXPECT_EQ(accuracy(answer(*logistic(separable), x), (x > 0).squeeze(1)), 1);
  EXPECT_NEAR(answer(*logistic(flat), at::ones({1, 2})).probabilities[0][0].item<double>(), 0.5, 1e-6);
  // A third class that no row of two overlapping ones has.
  const at::Tensor z = Stream(3).normal({100, 2}), y = z.select(1, 0) + Stream(4).normal({100}) > 0;
  EXPECT_LT(answer(*logistic(class_data(z, y, 3)), z).probabilities.select(1, 2).max().item<double>(), 0.1);
}

TEST(Logistic, PredictsNearlyAsWellAsTheDistributionOfTheRows) {
  for (const int64_t classes : {2, 4}) {
    at::Tensor logits;
    const Dataset rows = logit_made(1500, 5, classes, 3), fresh = logit_made(4000, 5, classes, 4, &logits);
    const auto fitted = logistic(rows);
    const at::Tensor y = fresh.all().target;
    const Classes p = answer(*fitted, fresh.all().inputs[0]), truth = classes_of_logits(logits);
    EXPECT_LT(class_nll(p, y), class_nll(truth, y) + 0.015) << classes;
    EXPECT_GT(accuracy(p, y), accuracy(truth, y) - 0.02) << classes;
  }
}

TEST(Logistic, FarFromTheRowsTheClassIsLessCertainThanTheModeSays) {
  const auto fitted = logistic(small_rows(2));
  const at::Tensor away = at::tensor({0.0, 3.0, 0.0, 30.0, 0.0, 300.0}, at::kDouble).view({3, 2});
  const Classes p = answer(*fitted, away);
  const at::Tensor information = mutual_information(p);
  EXPECT_GT(information[1].item<double>(), information[0].item<double>());
  EXPECT_LT(p.probabilities.max().item<double>(), 0.75);  // the mode alone would say 1
  EXPECT_GT(fitted->ood(dataset_of({}, {{away}})).at("logit_var")[2].item<double>(), 1);
}

TEST(Logistic, ManyColumnsTakeTheFactoredCovariance) {
  const int64_t n = 210, columns = 100,
                classes = 21;  // 20 (100 + 1) coefficients: no full Hessian (full_logistic)
  const at::Tensor x = 0.2 * Stream(8).normal({n, columns});
  const at::Tensor y = at::arange(n).remainder(classes);
  const at::Tensor moved = x + at::one_hot(y, columns);
  const auto fitted = logistic(class_data(moved, y, classes));
  EXPECT_TRUE(fitted->save().tensors.contains("of_features"));
  const Classes p = answer(*fitted, moved);
  EXPECT_GT(accuracy(p, y.to(at::kDouble)), 0.9);
  EXPECT_TRUE(p.probabilities.isfinite().all().item<bool>());
  EXPECT_TRUE(at::equal(p.probabilities,
                        answer(*registry_row("logistic").load(fitted->save()), moved).probabilities));
}

TEST(Logistic, BalancedWeightsRaiseARareClass) {
  const at::Tensor x = Stream(9).normal({400, 1});
  const Dataset rows = class_data(x, (x.squeeze(1) + Stream(10).normal({400}) > 2.2).to(at::kDouble), 2);
  const auto plain = logistic(rows), balanced = logistic(rows, {{"class_weights", "balanced"}});
  EXPECT_GT(answer(*balanced, x).probabilities.select(1, 1).mean().item<double>(),
            2 * answer(*plain, x).probabilities.select(1, 1).mean().item<double>());
}

TEST(Logistic, RefusesMoreColumnsThanItMay) {
  EXPECT_THROW(logistic(logit_made(20, 6, 2, 1), {{"max_columns", 5}}), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
