// Deep kernels on counts with more noise than Poisson's: they find its parameter and the truth's NLL.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/count_metrics.h"
#include "slimbayes/answers/mixture.h"
#include "slimbayes/data/synthetic_counts.h"
#include "slimbayes/engine/spec/answer_spec.h"
#include "slimbayes/method/registry.h"
#include "tests/methods/contract.h"
#include "tests/methods/task_contract.h"

namespace slimbayes {
namespace {

using nlohmann::json;

constexpr double kDispersion = 1.25, kZeroShare = 0.3;  // 1 / kDispersion is the shape 0.8

/// Counts around the rate exp(1.5 + sin(3 x0)), and what they were drawn from.
struct DrawnCounts {
  Dataset rows;
  Counts truth;
};

/// Returns a gamma variable of the mean 1 and the variance 1.25, by the method of Marsaglia and Tsang (2000)
/// at the shape 1.8, times u^(1 / 0.8).
double gamma_factor(const Stream& stream, uint64_t i) {
  constexpr double kShape = 0.8, kD = kShape + 1 - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * kD);
  const Stream own = stream.split(i);
  for (uint64_t attempt = 0;; ++attempt) {
    const Stream at = own.split(attempt);
    const double x = at.split("x").normal({1}).item<double>();
    const at::Tensor u = at.split("u").uniform({2}).to(at::kDouble);
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(u[0].item<double>()) < 0.5 * x * x + kD * (1 - v + std::log(v)))
      return kD * v * std::pow(std::max(u[1].item<double>(), 1e-12), 1 / kShape) / kShape;
  }
}

DrawnCounts drawn(LikelihoodKind likelihood, int64_t n, uint64_t seed) {
  Dataset rows = contract::task_toy(likelihood, n, seed);
  const at::Tensor log_rate = 1.5 + at::sin(3 * rows.all().inputs[0].select(1, 0).to(at::kDouble));
  const Stream stream(seed + 500);
  at::Tensor y = at::zeros({n}, at::kDouble);
  double* cells = y.mutable_data_ptr<double>();
  const at::Tensor zeros = stream.split("zeros").uniform({n});
  const bool dispersed = likelihood == LikelihoodKind::negative_binomial;
  for (int64_t i = 0; i < n; ++i) {
    const auto key = static_cast<uint64_t>(i);
    const double rate = std::exp(log_rate[i].item<double>());
    const double factor = dispersed ? gamma_factor(stream.split("gamma"), key) : 1;
    if (!dispersed && zeros[i].item<double>() < kZeroShare) continue;
    cells[i] = static_cast<double>(poisson_draw(rate * factor, stream.split("y"), key));
  }
  Counts truth{{log_rate, at::zeros_like(log_rate)}};
  (dispersed ? truth.dispersion : truth.zero_share) =
      at::full_like(log_rate, dispersed ? kDispersion : kZeroShare);
  return {contract::changed(rows, [&](Batch& b) { b.target = y; }), truth};
}

Dataset as_poisson(Dataset data) {
  data.schema.task.likelihood = LikelihoodKind::poisson;
  return data;
}

std::unique_ptr<Method> vbll_of_counts() {
  return registry_row("vbll").make(
      find_method("vbll").resolve({{"steps", 1200}, {"rank", 16}, {"hidden", 16}, {"blocks", 1}}));
}

TEST(OverdispersedDeepKernel, FindsTheNoiseAndTheNllOfTheTruth) {
  for (const LikelihoodKind kind :
       {LikelihoodKind::negative_binomial, LikelihoodKind::zero_inflated_poisson}) {
    const DrawnCounts train = drawn(kind, 2500, 1), valid = drawn(kind, 600, 2), fresh = drawn(kind, 3000, 3);
    const auto method = vbll_of_counts();
    const auto own = method->fit({train.rows, valid.rows}, {Stream(3)}),
               poisson = method->fit({as_poisson(train.rows), as_poisson(valid.rows)}, {Stream(3)});
    const at::Tensor y = fresh.rows.all().target;
    const Counts p = std::get<Counts>(own->predict(fresh.rows)),
                 plain = std::get<Counts>(poisson->predict(as_poisson(fresh.rows)));
    const bool dispersed = kind == LikelihoodKind::negative_binomial;
    const double found = (dispersed ? p.dispersion : p.zero_share)[0].item<double>(),
                 expected = dispersed ? kDispersion : kZeroShare;
    EXPECT_NEAR(found, expected, 0.2 * expected) << name_of(kind);
    EXPECT_LT(count_nll(p, y), count_nll(fresh.truth, y) + 0.03) << name_of(kind);
    EXPECT_LT(count_nll(p, y), count_nll(plain, y) - 0.1) << name_of(kind);
    EXPECT_TRUE(plain.is_poisson());
    EXPECT_NEAR(own->summary().best_score,
                count_nll(std::get<Counts>(own->predict(valid.rows)), valid.rows.all().target), 2e-4);
    const Counts again = std::get<Counts>(registry_row("vbll").load(own->save())->predict(fresh.rows));
    EXPECT_TRUE(at::equal(again.rate.log_mean, p.rate.log_mean));
    EXPECT_EQ((dispersed ? again.dispersion : again.zero_share)[0].item<double>(), found);
    EXPECT_FALSE(own->answer_spec().has_value());  // the engine knows Poisson counts alone
    EXPECT_TRUE(poisson->answer_spec().has_value());
  }
}

TEST(OverdispersedDeepKernel, ThePoissonModelFileHasNoParameterOfTheNoise) {
  const Split split = contract::task_split(LikelihoodKind::poisson);
  const auto fitted = registry_row("vbll")
                          .make(find_method("vbll").resolve({{"steps", 20}, {"rank", 8}, {"hidden", 8}}))
                          ->fit(split, {Stream(3)});
  const TensorFile file = fitted->save();
  EXPECT_FALSE(file.tensors.contains("log_dispersion"));
  EXPECT_FALSE(file.tensors.contains("zero_logit"));
}

TEST(OverdispersedDeepKernel, AnEnsembleMixesTheDispersions) {
  const auto kind = LikelihoodKind::negative_binomial;
  const Split split = contract::task_split(kind);
  const json options = {{"of", "vbll"}, {"members", 2}, {"steps", 60}, {"rank", 8}, {"hidden", 8}};
  const auto fitted =
      registry_row("ensemble").make(find_method("ensemble").resolve(options))->fit(split, {Stream(3)});
  const Counts p = std::get<Counts>(fitted->predict(contract::task_toy(kind, 20, 5)));
  ASSERT_TRUE(p.dispersion.defined());
  EXPECT_TRUE((p.dispersion > 0).all().item<bool>());
  EXPECT_FALSE(fitted->answer_spec().has_value());
}

TEST(OverdispersedDeepKernel, OtherMethodsOfCountsRefuse) {
  for (const char* name : {"full-rank", "batch-ensemble", "constant", "auto", "dnn"}) {
    const auto method = registry_row(name).make(find_method(name).resolve(json::object()));
    EXPECT_THROW(method->fit(contract::task_split(LikelihoodKind::negative_binomial), {Stream(3)}),
                 std::invalid_argument)
        << name;
  }
}

}  // namespace
}  // namespace slimbayes
