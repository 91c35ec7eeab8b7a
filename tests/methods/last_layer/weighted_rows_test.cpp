// Posteriors around a given network: rows with weights beside repeated rows.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/methods/last_layer/class_sums.h"
#include "slimbayes/methods/last_layer/posterior_choice.h"
#include "tests/methods/contract.h"
#include "tests/methods/repeated_rows.h"
#include "tests/methods/small_network.h"
#include "tests/methods/task_contract.h"

namespace slimbayes {
namespace {

using contract::answer;
using nlohmann::json;

struct RepeatedSplits {
  Split weighted, repeated;
};

RepeatedSplits counted_splits(const Split& split) {
  const RepeatedRows train = counted(split.train), valid = counted(split.valid);
  return {{train.weighted, valid.weighted}, {train.repeated, valid.repeated}};
}

double relative_distance(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

const json kByMse = {{"noise", "mse"}, {"prior", "unit"}};

TEST(WeightedLastLayer, OfARegressionIsThatOfRepeatedRows) {
  const Split split = contract::toy_split();
  const auto network = small_network(split);
  const RepeatedSplits counts = counted_splits(split);
  const Dataset data = contract::toy(25, 9);
  // A search for the noise and the prior sd ends within the root of the rounding of its score.
  const json select = {{"select", "nll"}, {"noise", "select"}, {"prior", "select"}};
  const json evidence = {{"select", "evidence"}, {"prior", "select"}};
  json posterior = kByMse, precise = kByMse, sketch = kByMse;
  posterior["mean"] = "posterior";
  sketch["sketch"] = 64;
  precise["ridge"] = 1e-7;  // gradients in float64
  const std::vector<std::tuple<std::string, json, double>> cases = {
      {"bll", kByMse, 1e-9},    {"bll", posterior, 1e-8},    {"bll", select, 1e-3},
      {"bll", evidence, 1e-3},  {"rich-bll", precise, 1e-5}, {"ntk-sketch", sketch, 1e-7},
      {"ntk-gp", kByMse, 1e-6}, {"ntk-gp", select, 1e-3},    {"last-layer-laplace", json::object(), 1e-3},
  };
  for (const auto& [method, options, tolerance] : cases) {
    const auto own = around(method, options, counts.weighted, network),
               copies = around(method, options, counts.repeated, network);
    const Regression a = answer(*own, data), b = answer(*copies, data);
    EXPECT_LT(relative_distance(a.epistemic_var, b.epistemic_var), tolerance) << method << options;
    EXPECT_LT(relative_distance(a.aleatoric_var, b.aleatoric_var), tolerance) << method << options;
    EXPECT_LT(relative_distance(a.mean, b.mean), tolerance) << method << options;
    if (tolerance < 1e-3) {  // a prior of another sd hides what the weights change
      const Regression once = answer(*around(method, options, split, network), data);
      EXPECT_GT(relative_distance(once.epistemic_var, b.epistemic_var), 1e-2) << method << options;
    }
    EXPECT_TRUE(
        at::equal(answer(*registry_row(method).load(own->save()), data).epistemic_var, a.epistemic_var))
        << method << options;
  }
}

TEST(WeightedNetwork, ItsNoiseIsTheMeanSquaredErrorByTheWeights) {
  const Dataset train = counted(contract::toy(60, 1)).weighted,
                valid = counted(contract::toy(30, 2)).weighted;
  const json options = {{"network", "mlp"}, {"hidden", 8}, {"blocks", 1}, {"steps", 20}};
  for (const bool held_out : {true, false}) {
    const auto dnn =
        registry_row("dnn").make(options)->fit({train, held_out ? valid : Dataset{}}, {Stream(5)});
    const Dataset& of = held_out ? valid : train;
    const at::Tensor squares = (answer(*dnn, of).mean - of.all().target).square(), w = of.weights();
    const double expected = ((squares * w).sum() / w.sum()).item<double>();
    EXPECT_NEAR(dnn->network()->head.noise_var, expected, 1e-4 * expected);
    EXPECT_GT(std::abs(squares.mean().item<double>() - expected), 1e-3 * expected);
  }
}

TEST(WeightedLastLayer, OfClassesIsThatOfRepeatedRows) {
  for (const LikelihoodKind kind : {LikelihoodKind::softmax, LikelihoodKind::bernoulli}) {
    const Split split = contract::task_split(kind);
    const auto network = small_network(split);
    const RepeatedSplits counts = counted_splits(split);
    const Dataset data = contract::task_toy(kind, 25, 9);
    const json many = {{"prior", "unit"}, {"class_rows", 100000}};
    const json by_nll = {{"prior", "select"}, {"class_rows", 100000}};
    const std::vector<std::tuple<std::string, json, double>> cases = {
        {"bll", many, 1e-9},
        {"bll", by_nll, 1e-5},
        {"last-layer-laplace", {{"prior", "unit"}, {"structure", "full"}}, 1e-8},
        {"last-layer-laplace", {{"prior", "unit"}, {"structure", "kronecker"}}, 1e-8},
        {"last-layer-laplace", {{"prior", "select"}, {"select", "evidence"}}, 1e-5},
        {"last-layer-laplace", {{"prior", "select"}, {"select", "nll"}}, 1e-5},
    };
    for (const auto& [method, options, tolerance] : cases) {
      const auto probabilities = [&](const Fitted& one) {
        return std::get<Classes>(one.predict(data)).probabilities;
      };
      const auto own = around(method, options, counts.weighted, network),
                 copies = around(method, options, counts.repeated, network);
      EXPECT_LT(relative_distance(probabilities(*own), probabilities(*copies)), tolerance)
          << method << options;
      EXPECT_TRUE(at::equal(probabilities(*registry_row(method).load(own->save())), probabilities(*own)))
          << method << options;
    }
  }
}

TEST(WeightedLastLayer, LearnsAndForgetsRowsByTheirWeights) {
  for (const LikelihoodKind kind : {LikelihoodKind::gaussian, LikelihoodKind::softmax}) {
    const bool regression = kind == LikelihoodKind::gaussian;
    const Split split = regression ? contract::toy_split() : contract::task_split(kind);
    const auto network = small_network(split);
    const RepeatedRows more = counted(regression ? contract::toy(40, 8) : contract::task_toy(kind, 40, 8));
    const Dataset data = regression ? contract::toy(25, 9) : contract::task_toy(kind, 25, 9);
    const auto numbers = [&](const Fitted& one) {
      const Predictive p = one.predict(data);
      return regression ? std::get<Regression>(p).epistemic_var : std::get<Classes>(p).probabilities;
    };
    std::vector<std::string> methods = {"bll"};
    if (!regression) methods.emplace_back("last-layer-laplace");
    for (const std::string& method : methods) {
      json options = {{"prior", "unit"}};
      if (method == "bll" && !regression) options["class_rows"] = 100000;
      const auto fitted = around(method, options, split, network);
      const ExactPosterior& start = *fitted->exact_posterior();
      const auto own = start.updated(more.weighted, {}), copies = start.updated(more.repeated, {});
      EXPECT_LT(relative_distance(numbers(*own), numbers(*copies)), 1e-8) << method;
      EXPECT_LT(relative_distance(numbers(*own->updated({}, more.weighted)), numbers(start)), 1e-6) << method;
      // A posterior of a shard, which has learned nothing else, and none once that is forgotten.
      const auto shard = start.prior()->updated(more.weighted, {});
      EXPECT_LT(relative_distance(numbers(*start.merged(*shard)), numbers(*copies)), 1e-8) << method;
      EXPECT_LT(relative_distance(numbers(*shard->updated({}, more.weighted)), numbers(*start.prior())), 1e-9)
          << method;
    }
  }
}

TEST(WeightedLastLayer, ASubsampleKeepsItsWeightsAndIsScaledToThoseOfAllRows) {
  const Split split = contract::toy_split();
  const auto network = small_network(split);
  const Dataset rows = counted(split.train).weighted;
  json options = kByMse;
  options["subsample"] = 60;
  const auto fitted = around("bll", options, {rows, split.valid}, network);
  const at::Tensor sums = stored_tensor(fitted->save(), "statistics.0.sums");
  const double total = rows.total_weight();
  EXPECT_NEAR(sums[4].item<double>(), total, 1e-9);  // the number of rows
  EXPECT_NEAR(sums[2].item<double>(), total, 1e-9);  // the sum of the weights of the sample, scaled
  ASSERT_GT(rows.size(), 60);
  ASSERT_GT(total, static_cast<double>(rows.size()));
}

TEST(WeightedLastLayer, ClassSumsOfWeightsAreThoseOfRepeatedRows) {
  const Split split = contract::task_split(LikelihoodKind::softmax);
  const auto network = small_network(split);
  const LastLayerFeatures features = statistics_features(*network, "bll");
  const RepeatedRows rows = counted(split.train);
  const auto own = class_sums(features, {rows.weighted}, 100000, Stream(1)),
             copies = class_sums(features, {rows.repeated}, 100000, Stream(1));
  ASSERT_EQ(own.size(), copies.size());
  double total = 0;
  for (size_t c = 0; c < own.size(); ++c) {
    EXPECT_LT(relative_distance(own[c].S, copies[c].S), 1e-12);
    EXPECT_EQ(own[c].n, copies[c].n);
    total += own[c].n;
  }
  EXPECT_EQ(total, rows.weighted.total_weight());
}

TEST(WeightedLastLayer, TheErrorsOfValidationRowsCountByTheirWeights) {
  const Stream s(3);
  const at::Tensor residual = s.split("y").normal({6}), features = s.split("phi").normal({6, 3});
  const at::Tensor times = 1 + at::arange(6).remainder(3),
                   which = at::repeat_interleave(at::arange(6), times);
  const LinearStatistics learned =
      added(linear_statistics(3), {s.split("train").normal({20, 3}), s.split("t").normal({20}), {}});
  const at::Tensor weights = at::ones({3}, at::kDouble);
  PosteriorSpectrum own = spectrum_of(learned, {}, weights, features, residual, true);
  own.weight = times.to(at::kDouble);
  const PosteriorSpectrum copies = spectrum_of(learned, {}, weights, features.index_select(0, which),
                                               residual.index_select(0, which), true);
  const PosteriorChoice a = chosen(own, {0.1}, {}, 0.5), b = chosen(copies, {0.1}, {}, 0.5);
  EXPECT_NEAR(a.noise_var, b.noise_var, 1e-5 * b.noise_var);
  PosteriorSpectrum once = own;
  once.weight = at::Tensor();
  EXPECT_GT(std::abs(chosen(once, {0.1}, {}, 0.5).noise_var - a.noise_var), 1e-3 * a.noise_var);
}

}  // namespace
}  // namespace slimbayes
