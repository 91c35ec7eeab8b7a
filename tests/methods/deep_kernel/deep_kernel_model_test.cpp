// Tests the wiring of a variational fit: its start values, the weight decay and learning rate of each
// parameter, and that a step's gradient equals the objective's gradient in every parameter.
#include "slimbayes/methods/deep_kernel/deep_kernel_model.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/nn/weights.h"
#include "tests/methods/contract.h"
#include "tests/objectives/plain_forms.h"

namespace slimbayes {
namespace {

using nlohmann::json;
using Data = DataTerm;

constexpr int64_t kRank = 6, kRows = 100;

DeepKernel kernel(const std::string& basis, HeadObjective objective) {
  DeepKernel k;
  k.method = "test";
  k.basis = basis;
  k.rank = kRank;
  k.objective = objective;
  if (basis == "rbf") k.correction = DeepKernel::Correction::kernel;
  return k;
}

DeepKernel uncorrected(DeepKernel k) {
  k.correction = DeepKernel::Correction::none;
  return k;
}

NetworkSpec network() { return mlp(2, 5, 1, "tanh"); }

Parameters parameters(const DeepKernel& k) {
  return deep_kernel_parameters(k, network(), LikelihoodKind::gaussian, at::zeros({1}, at::kDouble),
                                Stream(1));
}

DeepKernelModel bound(const DeepKernel& k, const Weights& weights) {
  return DeepKernelModel(k, network(), LikelihoodKind::gaussian, 1,
                         [&](const std::string& name) { return weights.at(name); });
}

/// Returns copies of the weights as float64 leaves with gradients of zero.
Weights leaves(const Weights& start) {
  Weights out;
  for (const auto& [name, value] : start) {
    out[name] = value.to(at::kDouble).clone().set_requires_grad(true);
    out[name].mutable_grad() = at::zeros_like(out[name]);
  }
  return out;
}

TEST(DeepKernelModel, StartsAsThePaperSays) {
  DeepKernel k = kernel("silu", {});
  k.rank = 400;
  Parameters p = parameters(k);
  EXPECT_TRUE(at::equal(p["posterior.mean"], at::zeros({1, 400})));
  EXPECT_TRUE(at::allclose(p["posterior.log_diagonal"], at::full({1, 400}, -0.5 * std::log(400))));
  EXPECT_NEAR(p["posterior.lower"].std().item<double>() * 400, 1, 0.01);
  EXPECT_EQ(p["offset"].item<double>(), 0);
  EXPECT_NEAR(std::exp(p["log_noise"].item<double>()) + k.noise.noise_floor, 1e-2, 1e-8);
}

TEST(DeepKernelModel, AStepsGradientIsThatOfTheObjectiveInEveryParameter) {
  const std::pair<const char*, DeepKernel> cases[] = {{"dppgp", kernel("silu", {Data::predictive, 0.3, 0.7})},
                                                      {"vbll", kernel("linear", {Data::expected, 0.2, 1})},
                                                      {"ppgp", kernel("rbf", {Data::predictive, 0, 0.7})},
                                                      {"svgp", kernel("rbf", {Data::expected, 0, 1})}};
  at::Tensor x = Stream(2).normal({9, 2}), y = Stream(3).normal(at::IntArrayRef{9});
  for (const auto& [name, k] : cases) {
    SCOPED_TRACE(name);
    Weights start = snapshot(parameters(k));
    start["posterior.mean"] = Stream(4).normal({1, kRank});
    Weights ours = leaves(start), theirs = leaves(start);
    DeepKernelModel model = bound(k, ours), twin = bound(k, theirs);
    VariationalLoss got = model.backward(x, y, kRows, k.objective, 0);
    const Expansion phi = twin.expansion(x);
    VariationalLoss expected = gaussian_bound(phi.features, phi.correction, y, twin.posterior, twin.offset,
                                              twin.noise_var(), kRows, k.objective);
    expected.total.backward();
    EXPECT_NEAR(got.total.item<double>(), expected.total.item<double>(), 1e-12);
    for (const auto& [key, leaf] : ours)
      EXPECT_TRUE(at::allclose(leaf.grad(), theirs.at(key).grad(), 1e-9, 1e-12)) << key;
  }
}

TEST(DeepKernelModel, AStepOfTheEngineHasTheGradientOfFloat64) {
  struct Case {
    const char* name;
    DeepKernel kernel;
    double focus;
    int64_t rows = 130;
  };
  const Case cases[] = {{"dppgp", kernel("silu", {Data::predictive, 0.3, 0.7}), 0},
                        {"focus", kernel("silu", {Data::predictive, 0.3, 0.7}), 0.5},
                        {"ppgp", kernel("silu", {Data::predictive, 0, 0.1}), 0},
                        {"vbll", kernel("silu", {Data::expected, 0.2, 1}), 0.5},
                        {"pp-dkl", kernel("rbf", {Data::predictive, 0, 0.1}), 0},
                        {"pp-dkl with focus", kernel("rbf", {Data::predictive, 0, 0.1}), 0.5},
                        {"sv-dkl", kernel("rbf", {Data::expected, 0, 1}), 0},
                        {"dbk of rbf", uncorrected(kernel("rbf", {Data::predictive, 0.3, 0.7})), 0.5},
                        {"sv-rbf", kernel("rbf", {Data::expected, 0, 1}), 0},
                        {"dbk of three parts", kernel("silu", {Data::predictive, 0.3, 0.7}), 0.5, 700},
                        {"pp-dkl of three parts", kernel("rbf", {Data::predictive, 0, 0.1}), 0.5, 700}};
  for (const auto& [name, of, focus, rows] : cases) {
    SCOPED_TRACE(name);
    const at::Tensor x = Stream(2).normal({rows, 2}, at::kFloat),
                     y = 1 + Stream(3).normal(at::IntArrayRef{rows}, at::kFloat);
    const NetworkSpec spec =
        std::string_view(name) == "sv-rbf" ? NetworkSpec{{{2}}} : tabular_resnet(2, 20, 2);
    DeepKernel k = of;
    k.rank = spec.layers.empty() ? 12 : 37;  // more points in two inputs: too close for float32
    const Parameters single =
        deep_kernel_parameters(k, spec, LikelihoodKind::gaussian, at::full({1}, 0.2, at::kDouble), Stream(1));
    single["posterior.mean"].detach().copy_(Stream(4).normal({1, k.rank}, at::kFloat));
    const Weights exact = leaves(snapshot(single));
    const DeepKernelModel model(k, spec, LikelihoodKind::gaussian, 1,
                                [&](const std::string&key) { return single[key]; }),
        twin(k, spec, LikelihoodKind::gaussian, 1, [&](const std::string&key) { return exact.at(key); });
    ASSERT_TRUE(model.engine);
    EXPECT_FALSE(twin.engine);
    const VariationalLoss got = model.backward(x, y, kRows, k.objective, focus),
                          expected =
                              twin.backward(x.to(at::kDouble), y.to(at::kDouble), kRows, k.objective, focus);
    EXPECT_NEAR(got.total.item<double>(), expected.total.item<double>(),
                1e-6 * (1 + std::abs(expected.total.item<double>())));
    EXPECT_NEAR(got.kl.item<double>(), expected.kl.item<double>(), 1e-4);
    for (const auto& [key, leaf] : exact) {
      const double scale = leaf.grad().abs().max().item<double>();
      EXPECT_LE((single[key].grad() - leaf.grad()).abs().max().item<double>(), 1e-5 * scale) << key;
    }
  }
}

// Inducing points that are 100 lengthscales apart need squared distances by differences.
TEST(DeepKernelModel, AStepThatTheEngineDeclinesIsThatOfLibtorch) {
  const DeepKernel k = kernel("rbf", {Data::predictive, 0, 0.1});
  const at::Tensor x = Stream(2).normal({30, 2}, at::kFloat),
                   y = Stream(3).normal(at::IntArrayRef{30}, at::kFloat);
  const Parameters ours = parameters(k), theirs = parameters(k);
  for (const Parameters* each : {&ours, &theirs}) (*each)["basis.inducing_points"].detach()[1].add_(1e4);
  const auto bound_to = [&](const Parameters& p, Execution execution) {
    return DeepKernelModel(
        k, network(), LikelihoodKind::gaussian, 1, [&](const std::string& name) { return p[name]; },
        execution);
  };
  const DeepKernelModel engine = bound_to(ours, Execution::engine),
                        libtorch = bound_to(theirs, Execution::libtorch);
  ASSERT_TRUE(engine.engine);
  const VariationalLoss got = engine.backward(x, y, kRows, k.objective, 0),
                        wanted = libtorch.backward(x, y, kRows, k.objective, 0);
  EXPECT_NEAR(got.total.item<double>(), wanted.total.item<double>(), 1e-5);
  for (const std::string& name : ours.names())
    EXPECT_TRUE(at::allclose(ours[name].grad(), theirs[name].grad(), 1e-4, 1e-5)) << name;
  ours["basis.inducing_points"].detach()[1].fill_(NAN);
  EXPECT_THROW(engine.backward(x, y, kRows, k.objective, 0), NumericalError);
}

TEST(DeepKernelModel, AStepsNoiseGradientIsThatOfEachForm) {
  at::Tensor x = Stream(2).normal({9, 2}), y = Stream(3).normal(at::IntArrayRef{9});
  for (const char* form : {"exp", "softplus", "variance", "sd"}) {
    for (Data data : {Data::predictive, Data::expected}) {
      SCOPED_TRACE(form);
      DeepKernel k = kernel("silu", {data, 0.3, 0.7});
      k.noise = {.noise_start = 0.3, .noise_floor = 1e-3, .noise_form = form};
      Weights start = snapshot(parameters(k)), at_theta;
      auto loss_at = [&](double shift) {
        at_theta = leaves(start);
        at_theta.at("log_noise").detach().add_(shift);
        return bound(k, at_theta).backward(x, y, kRows, k.objective, 0).total.item<double>();
      };
      const double h = 1e-5, difference = (loss_at(h) - loss_at(-h)) / (2 * h);
      loss_at(0);
      EXPECT_NEAR(at_theta.at("log_noise").grad().item<double>(), difference,
                  1e-6 * (1 + std::abs(difference)));
    }
  }
}

/// Returns the weights after one step, or after options["steps"] steps.
Weights after_a_step(const std::string& method, json options) {
  if (!options.contains("steps")) options["steps"] = 1;
  options["schedule"] = "constant";
  if (method != "dbk-exact") options["batch"] = 60;  // one step per epoch
  if (method != "sv-rbf") options.update({{"hidden", 5}, {"blocks", 1}});
  auto fitted = registry_row(method)
                    .make(find_method(method).resolve(options))
                    ->fit({contract::toy(60, 1), {}}, {Stream(3), nullptr, {}});
  return network_file(fitted->save()).weights;
}

TEST(DeepKernelModel, TheBackboneAloneDecaysAndTheNoiseHasItsRate) {
  for (const char* method : {"dbk", "vbll", "pp-dkl", "sv-dkl", "sv-rbf", "sv-dbk", "dbk-exact"}) {
    SCOPED_TRACE(method);
    Weights plain = after_a_step(method, {{"weight_decay", 0.0}});
    Weights decayed = after_a_step(method, {{"weight_decay", 0.5}});
    Weights faster = after_a_step(method, {{"weight_decay", 0.0}, {"noise_rate", 0.1}});
    for (const auto& [name, value] : plain) {
      if (name.starts_with("statistics.") || name == "largest_prior_var")
        continue;  // computed from the final features
      bool decays = name.starts_with("network."), bias = name.ends_with(".bias");  // a zero bias cannot decay
      if (!decays || !bias) {
        EXPECT_EQ(at::equal(value, decayed.at(name)), !decays) << name;
      }
      EXPECT_EQ(at::equal(value, faster.at(name)), name != "log_noise") << name;
    }
  }
}

TEST(DeepKernelModel, EveryWeightOfAnObjectiveReachesIt) {
  int reached = 0;
  for (const char* method : {"dbk", "vbll", "pp-dkl", "sv-dkl", "sv-rbf", "sv-dbk", "dbk-exact"}) {
    for (const char* name : {"alpha", "beta", "focus"}) {
      if (std::ranges::find(find_method(method).options, name, &OptionDoc::name) ==
          find_method(method).options.end())
        continue;
      SCOPED_TRACE(std::string(method) + " " + name);
      Weights low = after_a_step(method, {{name, 0.0}, {"steps", 3}}),
              high = after_a_step(method, {{name, 1.0}, {"steps", 3}});
      bool differs = false;
      for (const auto& [key, value] : low) differs = differs || !at::equal(value, high.at(key));
      EXPECT_TRUE(differs);
      ++reached;
    }
  }
  EXPECT_GE(reached, 10);
}

}  // namespace
}  // namespace slimbayes
