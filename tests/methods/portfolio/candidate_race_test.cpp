#include "slimbayes/methods/portfolio/candidate_race.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/methods/portfolio/auto_case.h"

namespace slimbayes {
namespace {

using auto_case::answer_to;
using auto_case::fitted;
using auto_case::has_fact;
using auto_case::line;
using nlohmann::json;

const json kSmallNet = {{"candidates", "constant,ridge,gp-exact,dnn"},
                        {"steps", 600},
                        {"hidden", 16},
                        {"blocks", 1},
                        {"patience", 0},
                        {"log_target", "never"},
                        {"time_limit", 3000}};

json with(json options, const char* name, const json& value) {
  options[name] = value;
  return options;
}

TEST(CandidateRace, TheGainIsAPairedMean) {
  const at::Tensor without = at::tensor({1.0, 2.0, 4.0}, at::kDouble),
                   with = at::tensor({1.0, 1.0, 2.0}, at::kDouble);
  const HeldOutGain gain = gain_of(without, with);
  EXPECT_NEAR(gain.mean, 1, 1e-15);
  EXPECT_NEAR(gain.standard_error, 1 / std::sqrt(3.0), 1e-15);
  EXPECT_TRUE(std::isinf(gain_of(without.narrow(0, 0, 1), with.narrow(0, 0, 1)).standard_error));
}

TEST(CandidateRace, ACandidateLeavesIfItsGainIsUnlikelyToBeWorthTheTime) {
  EXPECT_FALSE(adds_little({0.02, 0.02}));
  EXPECT_FALSE(adds_little({0.005, 0.006}));
  EXPECT_TRUE(adds_little({0.005, 0.004}));
  EXPECT_TRUE(adds_little({0, 0}));
  EXPECT_TRUE(adds_little({-0.02, 0.01}));
  EXPECT_FALSE(adds_little({0, INFINITY}));  // one row says nothing
  EXPECT_TRUE(adds_little({NAN, 0}));
}

// On a straight line with noise nothing adds to the line and its Gaussian process.
TEST(CandidateRace, WhatAddsNothingIsFittedToTheFirstFoldsAlone) {
  const Dataset rows = line(400, 1), fresh = line(3000, 2);
  const auto raced = fitted(rows, kSmallNet), whole = fitted(rows, with(kSmallNet, "fits", "all"));
  EXPECT_TRUE(has_fact(*raced, "left out: dnn (adds ")) << json(raced->summary().facts);
  EXPECT_TRUE(has_fact(*whole, "dnn: held-out NLL")) << json(whole->summary().facts);
  EXPECT_LT(raced->summary().steps, whole->summary().steps - 2 * 600);
  const auto nll = [&](const Fitted& model) {
    return regression_nll(answer_to(model, fresh), fresh.all().target);
  };
  EXPECT_LT(nll(*raced), nll(*whole) + 0.01);
}

// The Gaussian process comes after the network and knows more: it is fitted to every fold, and to all rows.
TEST(CandidateRace, WhatAddsIsFittedToEveryFold) {
  const at::Tensor x = Stream(1).split("x").normal({400, 2}), noise = Stream(1).split("noise").normal({400});
  const at::Tensor y = (2 * x.select(1, 0)).sin() * (2 * x.select(1, 1)).cos() + 0.05 * noise;
  const auto model =
      fitted(regression_data(x, y), with(kSmallNet, "candidates", "constant,ridge,dnn,gp-exact"));
  EXPECT_TRUE(has_fact(*model, "gp-exact: held-out NLL")) << json(model->summary().facts);
  EXPECT_LT(model->summary().best_score, -1) << json(model->summary().facts);
}

/// Keeps what each fit is called.
struct Stages : Callback {
  std::vector<std::string> names;
  void stage(const std::string& name) override { names.push_back(name); }
  int64_t count(const std::string& name) const { return std::ranges::count(names, name); }
};

// One that learns all rows is fitted to all of them once it is known to answer.
TEST(CandidateRace, OnlyWhatAnswersIsFittedToAllRows) {
  const at::Tensor x = Stream(1).split("x").normal({150, 2});
  const at::Tensor y = (2 * x.select(1, 0)).sin() * (2 * x.select(1, 1)).cos();
  const json options = {
      {"candidates", "constant,ridge,gp-exact"}, {"log_target", "never"}, {"time_limit", 3000}};
  for (const std::string fits : {"needed", "all"}) {
    Stages told;
    FitContext context{Stream(7)};
    context.callback = &told;
    const auto model = fitted(regression_data(x, y), with(options, "fits", fits.c_str()), context);
    EXPECT_TRUE(has_fact(*model, "ridge: held-out NLL")) << json(model->summary().facts);
    EXPECT_EQ(told.count("ridge 5/6"), 1) << json(told.names);
    EXPECT_EQ(told.count("ridge 6/6"), fits == "all" ? 1 : 0) << json(told.names);
    EXPECT_EQ(told.count("gp-exact 6/6"), 1) << json(told.names);
  }
}

// 40 rows, 8 of which the first fold holds out, say too little.
TEST(CandidateRace, FewRowsDecideNothing) {
  const auto model = fitted(line(40, 1), with(kSmallNet, "steps", 30));
  EXPECT_TRUE(has_fact(*model, "dnn: held-out NLL")) << json(model->summary().facts);
}

TEST(CandidateRace, ClassesHaveEveryFit) {
  const Dataset rows = class_data(Stream(1).normal({60, 2}), (at::arange(60) % 2).to(at::kLong), 2);
  const json options = {
      {"candidates", "constant,extra-trees,dnn"}, {"steps", 20}, {"hidden", 8}, {"blocks", 1}};
  EXPECT_TRUE(has_fact(*fitted(rows, options), "dnn: held-out NLL"));
}

}  // namespace
}  // namespace slimbayes
