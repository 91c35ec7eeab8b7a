#include "slimbayes/methods/deep_kernel/deep_kernel.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/basis/feature_map.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/registry.h"
#include "tests/methods/contract.h"

namespace slimbayes {
namespace {

using contract::answer;
using nlohmann::json;

std::unique_ptr<Fitted> fit_deep(const std::string& method, json more = json::object()) {
  json options = {{"steps", 60}};
  if (method != "dkl-exact") options["rank"] = 12;
  if (method != "sv-rbf") options.update({{"hidden", 8}, {"blocks", 1}});
  options.update(more);
  return registry_row(method)
      .make(find_method(method).resolve(options))
      ->fit(contract::toy_split(), {Stream(3)});
}

TEST(DeepKernel, FocusFallsToTheObjectiveItself) {
  FocusOptions focus{0.5, 0.7};
  EXPECT_EQ(focus_at(focus, 0, 100), 0.5);
  EXPECT_NEAR(focus_at(focus, 35, 100), 0.25, 1e-15);
  for (int64_t step : {70, 71, 99}) EXPECT_EQ(focus_at(focus, step, 100), 0) << step;
  EXPECT_EQ(focus_at({0.5, 0}, 0, 100), 0);
}

TEST(DeepKernel, WhatIsSelectedByIsTheNllOfWhatIsPredicted) {
  Dataset valid = contract::toy_split().valid;
  for (const char* method :
       {"dbk", "vbll", "sv-dkl", "pp-dkl", "sv-rbf", "sv-dbk", "dbk-exact", "dkl-exact"}) {
    auto fitted = fit_deep(method);
    EXPECT_NEAR(fitted->summary().best_score, regression_nll(answer(*fitted, valid), valid.all().target),
                2e-4)
        << method;
  }
}

// E-12 in prediction: the prior variance of a row is the largest one of the training rows, or its own if its
// own is larger.
TEST(DeepKernel, TheDiagonalCorrectionOfSvDbk) {
  json options = {{"basis", "silu"}, {"alpha", 1.0}, {"correction", true}};
  auto corrected = fit_deep("sv-dbk", options);
  NetworkFile file = network_file(corrected->save());
  Network::Lookup lookup = as_type(file.weights, at::kDouble);
  const FeatureMap map("silu", 12, file.spec, as_type(file.weights, at::kFloat), "test");
  const auto features = [&](const Dataset& data) {
    return map(data.all().inputs[0].to(at::kFloat)).features.to(at::kDouble);
  };
  auto prior_var = [&](const Dataset& data) { return features(data).square().sum(-1); };
  double largest = prior_var(contract::toy_split().train).max().item<double>();
  EXPECT_NEAR(lookup("largest_prior_var").item<double>(), largest, 1e-6 * largest);

  Dataset far = contract::toy(40, 3);
  far = contract::changed(far, [](Batch& b) { b.inputs[0] = 30 * b.inputs[0]; });
  VariationalPosterior q{lookup("posterior.mean"), lookup("posterior.log_diagonal"),
                         lookup("posterior.lower")};
  for (const Dataset& data : {contract::toy(40, 3), far}) {
    at::Tensor phi = features(data), own = prior_var(data);
    at::Tensor expected = at::matmul(phi, q.factor()[0]).square().sum(-1) + at::clamp_min(own, largest) - own;
    EXPECT_TRUE(at::allclose(answer(*corrected, data).epistemic_var, expected, 1e-6, 1e-9));
  }
}

/// sin(3 x) with noise of sd .1 whose tails are those of a Student-t distribution with `dof` degrees of
/// freedom, as the quotient of a normal and the root of a chi-squared variable.
Dataset tailed(int64_t rows, uint64_t seed, int64_t dof) {
  Dataset data = contract::changed(contract::toy(rows, seed), [&](Batch& b) {
    const Stream stream(seed + 100);
    const at::Tensor normal = stream.split("z").normal({rows}),
                     chi = stream.split("chi").normal({rows, dof}).square().mean(1);
    b.target = at::sin(3 * b.inputs[0].select(1, 0)) + 0.1 * normal / chi.sqrt();
  });
  return data;
}

Dataset with_student(Dataset data) {
  data.schema.task.likelihood = LikelihoodKind::student;
  return data;
}

TEST(DeepKernel, AStudentPredictiveLearnsTheTails) {
  const Split rows{tailed(2000, 1, 3), tailed(500, 2, 3)};
  const Dataset fresh = tailed(4000, 3, 3);
  for (const char* name : {"dbk", "pp-dkl"}) {
    const auto method = registry_row(name).make(
        find_method(name).resolve({{"steps", 1500}, {"rank", 16}, {"hidden", 16}, {"blocks", 1}}));
    const auto fit = [&](const Split& split) { return method->fit(split, {Stream(3)}); };
    const auto gaussian = fit(rows), heavy = fit({with_student(rows.train), with_student(rows.valid)});
    const Regression p = answer(*heavy, fresh);
    ASSERT_EQ(p.density.size(), 1U) << name;
    EXPECT_GT(p.density[0].dof, 2.2) << name;
    EXPECT_LT(p.density[0].dof, 6) << name;
    const at::Tensor y = fresh.all().target;
    EXPECT_LT(regression_nll(p, y), regression_nll(answer(*gaussian, fresh), y) - 0.1) << name;
    const auto again = registry_row(name).load(heavy->save());
    EXPECT_TRUE(at::equal(answer(*again, fresh).mean, p.mean));
    EXPECT_EQ(answer(*again, fresh).density[0].dof, p.density[0].dof);
    EXPECT_NEAR(heavy->summary().best_score,
                regression_nll(answer(*heavy, rows.valid), rows.valid.all().target), 2e-4);
  }
}

TEST(DeepKernel, RefusesAStudentPredictiveOfAnExpectation) {
  const Split toy = contract::toy_split();
  for (const char* name : {"vbll", "dnn", "dbk-exact", "auto"}) {
    const auto method = registry_row(name).make(find_method(name).resolve(json::object()));
    EXPECT_THROW(method->fit({with_student(toy.train), with_student(toy.valid)}, {Stream(3)}),
                 std::invalid_argument)
        << name;
  }
}

}  // namespace
}  // namespace slimbayes
