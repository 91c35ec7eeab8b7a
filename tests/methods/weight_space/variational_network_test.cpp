// Networks with random weights against the deterministic network, and the numbers that they hold.
#include "slimbayes/methods/weight_space/variational_network.h"

#include <ATen/ATen.h>
#include <c10/util/accumulate.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/answers.h"
#include "slimbayes/bayes/random_weights.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/methods/weight_space/low_rank/low_rank_plan.h"
#include "slimbayes/storage/error.h"
#include "tests/methods/contract.h"
#include "tests/methods/task_contract.h"

namespace slimbayes {
namespace {

using nlohmann::json;

const json kNet = {{"network", "mlp"}, {"hidden", 12}, {"blocks", 2}, {"steps", 200}};

json with(json more) {
  json all = kNet;
  all.update(more);
  return all;
}

/// Returns how many numbers a plan trains in an MLP of these widths.
int64_t parameters_of(const std::vector<int64_t>& widths, const WeightPlan& plan) {
  NetworkSpec spec{{{widths[0]}}};
  for (size_t i = 1; i < widths.size(); ++i) spec.layers.push_back(Linear{widths[i]});
  int64_t count = 0;
  const Network network(spec, "network");
  for (const ParameterSpec& one : RandomWeights(network.layout(), plan).parameters(Stream(0)))
    count += one.start.numel();
  return count;
}

NetworkLayout layout_of(const std::vector<int64_t>& widths) {
  NetworkSpec spec{{{widths[0]}}};
  for (size_t i = 1; i < widths.size(); ++i) spec.layers.push_back(Linear{widths[i]});
  return Network(spec, "network").layout();
}

WeightPlan without_biases(WeightPlan plan) {
  std::erase_if(plan.sites, [](const auto& one) { return one.first.ends_with(".bias"); });
  return plan;
}

WeightPlan factored(const std::vector<int64_t>& widths, int64_t rank, const char* which) {
  LowRankOptions options;
  options.rank = rank;
  options.factored = which;
  return low_rank_plan(layout_of(widths), options, "gaussian", "random");
}

// Tables 1, 14 and 20 of Toure and Stephens. MNIST's biases are deterministic.
TEST(VariationalNetwork, HoldsAsManyNumbersAsThePaperCounts) {
  const std::vector<int64_t> clinical = {44, 128, 128, 1}, mnist = {784, 1200, 1200, 10},
                             toy = {1, 100, 100, 1};
  const auto dense = [](const std::vector<int64_t>& widths) { return plan_for_all(layout_of(widths), {}); };
  EXPECT_EQ(parameters_of(clinical, {}), 22401);
  EXPECT_EQ(parameters_of(clinical, dense(clinical)), 44802);
  EXPECT_EQ(parameters_of(clinical, factored(clinical, 15, "all")), 13612);
  EXPECT_EQ(parameters_of(mnist, without_biases(dense(mnist))), 4788010);
  EXPECT_EQ(parameters_of(mnist, without_biases(factored(mnist, 25, "all"))), 245810);
  EXPECT_EQ(parameters_of(mnist, without_biases(plan_for_all(layout_of(mnist), {.structure = "rank_one"}))),
            2406398);
  EXPECT_EQ(parameters_of(toy, dense(toy)), 20802);
  EXPECT_EQ(parameters_of(toy, factored(toy, 16, "smaller")), 7202);
}

/// Returns how many numbers a method with a preset trains on rows of this shape, with two outputs.
int64_t parameters_with(const std::string& method, const std::string& preset, const Shape& input,
                        int64_t tokens) {
  const MethodInfo& info = find_method(method);
  const auto o = options_from_json<LowRankOptions>(preset_options(info, preset, json::object()), method);
  const Network network(trained_network_spec(o.variational.network, input, tokens, 2), "network");
  int64_t count = 0;
  for (const ParameterSpec& one :
       RandomWeights(network.layout(), low_rank_plan(network.layout(), o, "gaussian", "random"))
           .parameters(Stream(0)))
    count += one.start.numel();
  return count;
}

// Table 8: a vocabulary of 30,522 words, 64 tokens, two logits; every matrix has rank 16, the head too.
TEST(VariationalNetwork, HoldsAsManyNumbersAsThePaperCountsOnText) {
  const Shape text{{64}, true};
  constexpr int64_t kWords = 30522;
  const auto preset = options_from_json<LowRankOptions>(
      preset_options(find_method("low-rank"), "paper-sst2", json::object()), "low-rank");
  const Network network(trained_network_spec(preset.variational.network, text, kWords, 2), "network");
  const auto count = [&](const WeightPlan& plan) {
    int64_t all = 0;
    for (const auto& one : RandomWeights(network.layout(), plan).parameters(Stream(0)))
      all += one.start.numel();
    return all;
  };
  EXPECT_EQ(count({}), 9922562);
  EXPECT_EQ(count(plan_for_all(network.layout(), {})), 19841028);
  EXPECT_EQ(parameters_with("low-rank", "paper-sst2", text, kWords), 1470340);
}

TEST(LowRankPlan, TakesTheRanksOfTheLayersInTheirOrder) {
  LowRankOptions options;
  options.factored = "all";
  const NetworkSpec spec{{{24, 15}}, {Lstm{64, "one"}, Lstm{64, "one"}, LastStep{}, Linear{1}}};
  const NetworkLayout layout = Network(spec, "network").layout();
  const auto ranks = [&](std::vector<std::string> given) {
    options.layer_ranks = std::move(given);
    std::vector<int64_t> found;
    const WeightPlan plan = low_rank_plan(layout, options, "gaussian", "random");
    for (const MapSite& site : layout.sites) found.push_back(plan.sites.at(site.name).rank);
    return found;
  };
  EXPECT_EQ(ranks({"14,20"}), (std::vector<int64_t>{14, 14, 20, 20, 1}));  // the head has one output
  EXPECT_EQ(ranks({"14", "20", "1"}), (std::vector<int64_t>{14, 14, 20, 20, 1}));
  EXPECT_EQ(ranks({"99"}), (std::vector<int64_t>{15, 64, 64, 64, 1}));
  EXPECT_EQ(ranks({}), (std::vector<int64_t>{15, 16, 16, 16, 1}));
  options.clip_rank = false;
  EXPECT_EQ(ranks({"20"}), (std::vector<int64_t>{20, 20, 20, 20, 20}));
  for (const char* wrong : {"0", "14,", "x", "1,2,3,4", "2.5", "70000", "99999999999"})
    EXPECT_THROW(ranks({wrong}), std::invalid_argument) << wrong;
  options.factored = "smaller";
  EXPECT_THROW(ranks({}), std::invalid_argument);  // a rank that is not clipped needs "all"
}

// Without random biases a bias is one trained number.
TEST(VariationalNetwork, MayHaveDeterministicBiases) {
  VariationalOptions options;
  options.random_biases = false;
  for (const auto& [name, site] : independent_plan(layout_of({3, 4, 1}), options).sites)
    EXPECT_TRUE(name.ends_with(".weight")) << name;
  EXPECT_EQ(independent_plan(layout_of({3, 4, 1}), options).sites.size(), 2);
}

// A rare class gets more probability where every class counts equally.
TEST(VariationalNetwork, ClassWeightsRaiseTheRareClass) {
  const Split split = contract::task_split(LikelihoodKind::softmax);
  const at::Tensor y = split.train.all().target;
  const at::Tensor rows =
      at::cat({(y == 0).nonzero().squeeze(1).slice(0, 0, 6), (y != 0).nonzero().squeeze(1)});
  const Split rare{split.train.subset(rows), {}};
  for (const char* method : {"dnn", "full-rank"}) {
    const auto share = [&](const char* kind) {
      const auto fitted = registry_row(method).make(with({{"class_weights", kind}}))->fit(rare, {Stream(5)});
      return std::get<Classes>(fitted->predict(split.train)).probabilities.select(1, 0).mean().item<double>();
    };
    EXPECT_GT(share("balanced"), share("none") + 0.02) << method;
    EXPECT_THROW(registry_row(method)
                     .make(with({{"class_weights", "balanced"}}))
                     ->fit(contract::toy_split(), {Stream(5)}),
                 std::invalid_argument);
  }
}

// A model answers few rows by all draws at once, many rows draw by draw.
TEST(VariationalNetwork, AnswersFewRowsAsItAnswersMany) {
  for (const char* method : {"low-rank", "rank-1"}) {
    const auto fitted =
        registry_row(method).make(with({{"draws", 70}}))->fit(contract::toy_split(), {Stream(5)});
    const Dataset many = contract::toy(200, 9);
    const auto all = std::get<Regression>(fitted->predict(many)),
               few = std::get<Regression>(fitted->predict(many.subset(at::arange(64)))),
               one = std::get<Regression>(fitted->predict(many.subset(at::arange(1))));
    EXPECT_TRUE(at::allclose(few.mean, all.mean.narrow(0, 0, 64), 1e-4, 1e-5)) << method;
    EXPECT_TRUE(at::allclose(few.epistemic_var, all.epistemic_var.narrow(0, 0, 64), 1e-3, 1e-7)) << method;
    EXPECT_TRUE(at::allclose(one.mean, all.mean.narrow(0, 0, 1), 1e-4, 1e-5)) << method;
  }
}

// Full rank without spread, started at a trained network, is that network.
TEST(VariationalNetwork, OfFullRankWithoutSpreadAnswersAsTheTrainedNetwork) {
  const Dataset data = contract::toy(50, 9);
  for (const Split& split : {contract::toy_split(), contract::task_split(LikelihoodKind::softmax)}) {
    const auto dnn = registry_row("dnn").make(kNet)->fit(split, {Stream(5)});
    const json options = with({{"rank", 12},
                               {"factored", "all"},
                               {"start_share", 1e-9},
                               {"start_sd", 1e-9},
                               {"steps", 1},
                               {"learning_rate", 1e-8},
                               {"beta", 0}});
    const auto fitted =
        registry_row("low-rank-svd").make(options)->fit(split, {Stream(6), nullptr, {}, dnn->network()});
    const Predictive mine = fitted->predict(split.valid), theirs = dnn->predict(split.valid);
    if (const auto* p = std::get_if<Regression>(&mine)) {
      EXPECT_TRUE(at::allclose(p->mean, std::get<Regression>(theirs).mean, 1e-4, 1e-5));
      EXPECT_LT(p->epistemic_var.max().item<double>(), 1e-10);
    } else {
      EXPECT_TRUE(at::allclose(std::get<Classes>(mine).probabilities, std::get<Classes>(theirs).probabilities,
                               1e-4, 1e-5));
    }
  }
}

TEST(VariationalNetwork, OfCountsBeatsAConstantRate) {
  const Split split = contract::task_split(LikelihoodKind::poisson);
  const at::Tensor y = split.valid.all().target;
  const at::Tensor rate = split.train.all().target.mean().log().expand_as(y);
  const double constant = *mean_nll(Counts{{rate, at::zeros_like(rate)}}, y);
  for (const char* method : {"low-rank", "full-rank"}) {
    const auto fitted = registry_row(method).make(with({{"steps", 600}}))->fit(split, {Stream(5)});
    const auto answer = std::get<Counts>(fitted->predict(split.valid));
    EXPECT_LT(*mean_nll(answer, y), constant - 0.1) << method;
    EXPECT_GT(answer.rate.log_var.min().item<double>(), 0) << method;
  }
}

TEST(VariationalNetwork, RefusesFactorsOfOtherShapesAndAPlanWithoutItsSite) {
  const auto& row = registry_row("low-rank");
  const TensorFile file = row.make(with({{"rank", 3}}))->fit(contract::toy_split(), {Stream(5)})->save();
  TensorFile wrong = file;
  wrong.tensors.at("network.2.weight.a") = to_stored(at::zeros({12, 5}));
  EXPECT_THROW(row.load(wrong), std::invalid_argument);
  TensorFile absent = file;
  absent.tensors.erase("network.2.weight.b.spread");
  EXPECT_THROW(row.load(absent), DataError);
  TensorFile other = file;
  json plan = json::parse(other.metadata.at("weight_plan"));
  plan["network.9.weight"] = plan.at("network.2.weight");
  other.metadata["weight_plan"] = plan.dump();
  EXPECT_THROW(row.load(other), std::invalid_argument);
  EXPECT_THROW(row.make({{"rank", 0}}), std::invalid_argument);
  EXPECT_THROW(row.make({{"draws", 0}}), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
