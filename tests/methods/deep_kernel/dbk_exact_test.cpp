#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/basis/feature_map.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/methods/deep_kernel/exact_features.h"
#include "slimbayes/objectives/exact_bound.h"
#include "tests/methods/contract.h"
#include "tests/objectives/plain_forms.h"

namespace slimbayes {
namespace {

using contract::answer;
using nlohmann::json;

std::unique_ptr<Fitted> fit_exact(json options, const Split& split = contract::toy_split()) {
  json all = {{"steps", 60}, {"hidden", 16}, {"blocks", 1}};
  all.update(options);
  return registry_row("dbk-exact").make(all)->fit(split, {Stream(3), nullptr, {}});
}

TEST(DbkExact, DoesNotDependOnTheChunkBeyondRounding) {
  Dataset data = contract::toy(50, 3);
  for (json extra : {json{{"alpha", 0.5}, {"correction", true}}, json{{"basis", "rbf"}, {"rank", 20}}}) {
    extra.update({{"steps", 3}, {"rank", 20}});
    json pieces = extra;
    pieces["chunk"] = 37;
    Regression whole = answer(*fit_exact(extra), data), chunked = answer(*fit_exact(pieces), data);
    EXPECT_TRUE(at::allclose(whole.mean, chunked.mean, 1e-3, 1e-4)) << extra.dump();
    EXPECT_TRUE(at::allclose(total_var(whole), total_var(chunked), 1e-2, 1e-5)) << extra.dump();
  }
}

TEST(DbkExact, EveryBasisLearns) {
  Dataset data = contract::toy(200, 3);
  for (const char* basis : {"silu", "linear", "rbf", "fourier"}) {
    Regression p = answer(*fit_exact({{"basis", basis}, {"rank", 32}, {"steps", 100}}), data);
    EXPECT_LT(root_mean_squared_error(p, data.all().target), 0.25) << basis;
    EXPECT_LT(regression_nll(p, data.all().target), 0.3) << basis;
  }
}

TEST(DbkExact, WithoutValidationRowsItSaysThatTheEvidenceOverfits) {
  auto said = [](const Fitted& model) {
    int64_t count = 0;
    for (const std::string& note : model.summary().notes) count += note.find("overfits") != std::string::npos;
    return count;
  };
  const nlohmann::json quick = {{"rank", 8}, {"steps", 2}};
  EXPECT_EQ(said(*fit_exact(quick, {contract::toy(40, 1), contract::toy(0, 2)})), 1);
  EXPECT_EQ(said(*fit_exact(quick, {contract::toy(40, 1), contract::toy(20, 2)})), 0);
}

// Compares E-12 with a dense Gaussian process: K = Phi Phi^T + diag(c) with c = M - ||phi||^2 on the training
// rows, so that k(x, x) = M. The covariance of a new row with the training rows is phi Phi^T.
TEST(DbkExact, TheCorrectionIsTheDenseProcessWithAConstantPriorVariance) {
  Split split{contract::toy(240, 1), contract::toy(0, 2)};
  auto fitted = fit_exact({{"alpha", 1.0}, {"correction", true}, {"rank", 20}}, split);
  NetworkFile file = network_file(fitted->save());
  Network::Lookup lookup = as_type(file.weights, at::kDouble);
  FeatureMap map("silu", 20, file.spec, lookup, "test");
  Dataset data = contract::toy(40, 3);
  data = contract::changed(data, [](Batch& b) { b.inputs[0] = 2 * b.inputs[0]; });  // some ||phi||^2 exceed M
  at::Tensor phi = map(split.train.all().inputs[0].to(at::kDouble)).features,
             y = split.train.all().target.to(at::kDouble);
  at::Tensor now = map(data.all().inputs[0].to(at::kDouble)).features;
  at::Tensor prior = phi.square().sum(-1), own = now.square().sum(-1);
  double largest = prior.max().item<double>(), noise = answer(*fitted, data).aleatoric_var[0].item<double>();

  at::Tensor k = at::mm(phi, phi.t()) + at::diag(largest - prior + noise), cross = at::mm(now, phi.t());
  at::Tensor ones = at::ones_like(y), inverse = at::linalg_inv(k);
  double constant = (at::mv(inverse, y).sum() / at::mv(inverse, ones).sum()).item<double>();
  at::Tensor mean = constant + at::mv(cross, at::mv(inverse, y - constant));
  at::Tensor solved = at::mv(inverse, ones);  // variance of the constant: Rasmussen and Williams, 2.42
  at::Tensor var = at::clamp_min(own, largest) - (at::mm(cross, inverse) * cross).sum(-1) +
                   (1 - at::mv(cross, solved)).square() / solved.sum();
  Regression p = answer(*fitted, data);
  EXPECT_TRUE(at::allclose(p.mean, mean, 1e-6, 1e-7));
  EXPECT_TRUE(at::allclose(p.epistemic_var, var, 1e-6, 1e-8));

  // The correction does not enter training: the fit without it has the same network and a smaller variance.
  Regression plain = answer(*fit_exact({{"alpha", 1.0}, {"rank", 20}}, split), data);
  EXPECT_EQ(plain.aleatoric_var[0].item<double>(), noise);
  EXPECT_TRUE((p.epistemic_var > plain.epistemic_var).all().item<bool>());
}

template <class Body>
std::string message(Body body) {
  try {
    body();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(DbkExact, BadOptionsGetOneSentence) {
  std::string rank = message([] { fit_exact({{"rank", 400}}); });
  EXPECT_NE(rank.find("a rank of at most the 240 training rows"), std::string::npos) << rank;
  EXPECT_NE(rank.find("received 400"), std::string::npos) << rank;
  EXPECT_NE(message([] {
              fit_exact({{"basis", "rbf"}, {"alpha", 1.0}});
            }).find("basis rbf"),
            std::string::npos);
  EXPECT_NE(message([] { fit_exact({{"alpha", -1.0}}); }).find("alpha"), std::string::npos);
  EXPECT_NE(message([] { fit_exact({{"noise_start", 1e-5}}); }).find("noise_floor"), std::string::npos);
}

TEST(DbkExact, ASmallTableGetsASmallerRank) {
  auto fitted = fit_exact({{"steps", 5}}, {contract::toy(30, 1), contract::toy(5, 2)});
  EXPECT_EQ(json::parse(fitted->save().metadata.at("options"))["rank"], 30);
}

TEST(DklExact, RefusesATableBeyondItsLimit) {
  std::string text = message([] {
    registry_row("dkl-exact").make({{"max_rows", 100}})->fit(contract::toy_split(), {Stream(3), nullptr, {}});
  });
  EXPECT_NE(text.find("at most 100 rows (max_rows)"), std::string::npos) << text;
  EXPECT_NE(text.find("received 240"), std::string::npos) << text;
}

TEST(DklExact, BlocksOfTheEvidenceLearnToo) {
  auto fitted = registry_row("dkl-exact")
                    .make({{"steps", 60}, {"hidden", 16}, {"blocks", 1}, {"evidence_rows", 60}})
                    ->fit(contract::toy_split(), {Stream(3), nullptr, {}});
  Dataset data = contract::toy(200, 3);
  EXPECT_LT(root_mean_squared_error(answer(*fitted, data), data.all().target), 0.25);
  ASSERT_EQ(fitted->summary().notes.size(), 1u);
  EXPECT_NE(fitted->summary().notes[0].find("60 of 240 rows"), std::string::npos);
}

/// Compares the gradient of the two passes over chunks, network included, with automatic differentiation of
/// the bound on all rows at once.
TEST(DbkExact, AStepsGradientIsThatOfTheBoundInEveryParameter) {
  Dataset data = contract::toy(41, 5);
  const at::Tensor x = data.all().inputs[0].to(at::kDouble), y = data.all().target.to(at::kDouble);
  const Dataset rows = dataset_of(data.schema, {{x}, y});
  const NetworkSpec spec = mlp(2, 5, 1, "tanh");
  for (const char* basis : {"silu", "linear", "rbf"}) {
    SCOPED_TRACE(basis);
    const double alpha = std::string(basis) == "rbf" ? 0.0 : 0.7;
    Weights start = snapshot(exact_parameters({basis, 6, {}}, spec, Stream(1))), ours, theirs;
    for (const auto& [name, value] : start) {
      for (Weights* leaves : {&ours, &theirs}) {
        (*leaves)[name] = value.to(at::kDouble).clone().set_requires_grad(true);
        (*leaves)[name].mutable_grad() = at::zeros_like(value, at::kDouble);
      }
    }
    NoiseOptions noise_options{.noise_floor = 1e-6};
    ExactFeatures model(basis, noise_options, spec, [&](const std::string& n) { return ours.at(n); });
    ExactFeatures twin(basis, noise_options, spec, [&](const std::string& n) { return theirs.at(n); });
    const double loss = ExactTraining(model, rows, alpha, 10).step();

    at::AutoGradMode graph(true);
    Expansion phi = twin(x);
    at::Tensor prior = phi.features.square().sum(-1);
    at::Tensor slack = phi.correction.defined() ? phi.correction : alpha * (prior.max() - prior);
    ExactSums sums = exact_sums(6);
    sums = added(sums, {phi.features.detach(), y, {}}, slack.detach(), 0);
    // The constant maximises the bound, so the bound's derivative with respect to it is zero.
    at::Tensor constant =
        at::full({}, exact_bound(sums, twin.noise_var(), 0).posterior.constant, at::kDouble);
    at::Tensor noise = at::exp(twin.noise_theta) + 1e-6;
    at::Tensor expected = -collapsed_bound(phi.features, slack, y, constant, noise) / 41;
    expected.backward();
    EXPECT_NEAR(loss, expected.item<double>(), 1e-10);
    for (const auto& [name, leaf] : ours)
      EXPECT_TRUE(at::allclose(leaf.grad(), theirs.at(name).grad(), 1e-8, 1e-11)) << name;
  }
}

/// Returns copies of these weights in `type`, each with a gradient of zeros.
Weights leaves_of(const Weights& start, at::ScalarType type) {
  Weights leaves;
  for (const auto& [name, value] : start) {
    leaves[name] = value.to(type).clone().set_requires_grad(true);
    leaves[name].mutable_grad() = at::zeros_like(value, type);
  }
  return leaves;
}

/// The engine trains float32 parameters, with sums and the features' derivatives in float64.
TEST(DbkExact, AStepOfTheEngineIsThatOfFloat64) {
  const NetworkSpec spec = mlp(2, 40, 2, "silu");
  const Dataset data = contract::toy(131, 5);
  const at::Tensor x = data.all().inputs[0], y = data.all().target.to(at::kDouble);
  const Weights start = snapshot(exact_parameters({"silu", 37, {}}, spec, Stream(1)));
  for (const double alpha : {0.0, 0.7}) {
    SCOPED_TRACE(alpha);
    const Weights fast = leaves_of(start, at::kFloat), exact = leaves_of(start, at::kDouble);
    const Dataset rows = dataset_of(data.schema, {{x.to(at::kFloat)}, y}),
                  wide = dataset_of(data.schema, {{x.to(at::kFloat).to(at::kDouble)}, y});
    const ExactFeatures model("silu", {}, spec, [&](const std::string& n) { return fast.at(n); });
    const ExactFeatures twin("silu", {}, spec, [&](const std::string& n) { return exact.at(n); });
    ASSERT_TRUE(model.tensors.has_value() && !twin.tensors.has_value());
    const double loss = ExactTraining(model, rows, alpha, 4096).step(),
                 expected = ExactTraining(twin, wide, alpha, 50).step();
    EXPECT_NEAR(loss, expected, 1e-5);
    for (const auto& [name, leaf] : exact) {
      const double size = leaf.grad().abs().max().item<double>();
      EXPECT_TRUE(at::allclose(fast.at(name).grad().to(at::kDouble), leaf.grad(), 1e-4, 1e-5 * size)) << name;
    }
  }
}

TEST(DbkExact, AValidationBetweenTwoStepsChangesNeitherAndSeesEveryChange) {
  const NetworkSpec spec = mlp(2, 8, 1, "silu");
  const Dataset data = contract::toy(60, 5);
  const Weights start = snapshot(exact_parameters({"silu", 9, {}}, spec, Stream(1)));
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const Weights kept = leaves_of(start, type), plain = leaves_of(start, type);
    const Dataset rows =
        dataset_of(data.schema, {{data.all().inputs[0].to(type)}, data.all().target.to(at::kDouble)});
    const auto blocks = [](const Weights& of) {
      std::vector<ParameterBlock> all;
      for (const auto& [name, each] : of) all.push_back({name, 1, 1, each.detach(), each.grad()});
      return all;
    };
    const ExactFeatures model("silu", {}, spec, [&](const std::string& n) { return kept.at(n); });
    const ExactFeatures twin("silu", {}, spec, [&](const std::string& n) { return plain.at(n); });
    ExactTraining exact(model, rows, 0, 4096, blocks(kept));
    for (int step = 0; step < 3; ++step) {
      const double before = exact.bound().evidence;  // as a validation does
      EXPECT_EQ(exact.bound().evidence, before);
      EXPECT_EQ(exact.step(), ExactTraining(twin, rows, 0, 4096).step()) << step;
      at::NoGradGuard no_grad;
      for (const auto& [name, leaf] : kept) {
        EXPECT_TRUE(at::equal(leaf.grad(), plain.at(name).grad())) << name << " " << step;
        for (const Weights* of : {&kept, &plain}) of->at(name).detach().add_(of->at(name).grad(), -0.01);
      }
      EXPECT_NE(exact.bound().evidence, before) << step;
    }
  }
}

TEST(DbkExact, AStepsNoiseGradientIsThatOfEachForm) {
  Dataset data = contract::toy(41, 5);
  const Dataset rows =
      dataset_of(data.schema, {{data.all().inputs[0].to(at::kDouble)}, data.all().target.to(at::kDouble)});
  const NetworkSpec spec = mlp(2, 5, 1, "tanh");
  for (const char* form : {"exp", "softplus", "variance", "sd"}) {
    SCOPED_TRACE(form);
    NoiseOptions noise{.noise_start = 0.3, .noise_floor = 1e-3, .noise_form = form};
    Weights start = snapshot(exact_parameters({"silu", 6, noise}, spec, Stream(1))), leaves;
    auto loss_at = [&](double shift) {
      for (const auto& [name, value] : start) {
        at::Tensor leaf = value.to(at::kDouble) + (name == "log_noise" ? shift : 0.0);
        leaves[name] = leaf.detach().set_requires_grad(true);
        leaves[name].mutable_grad() = at::zeros_like(leaf);
      }
      ExactFeatures model("silu", noise, spec, [&](const std::string& n) { return leaves.at(n); });
      return ExactTraining(model, rows, 0.7, 10).step();
    };
    const double h = 1e-5, difference = (loss_at(h) - loss_at(-h)) / (2 * h);
    loss_at(0);
    EXPECT_NEAR(leaves.at("log_noise").grad().item<double>(), difference, 1e-6 * (1 + std::abs(difference)));
  }
}

}  // namespace
}  // namespace slimbayes
