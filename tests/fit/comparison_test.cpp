// compare(): methods that start from the same network train it once, and their results do not change.
#include "slimbayes/fit/comparison.h"

#include <gtest/gtest.h>

#include "slimbayes/core/threads.h"
#include "slimbayes/data/synthetic.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/method/network_cache.h"
#include "slimbayes/model/model.h"
#include "slimbayes/storage/tensor_file.h"
#include "tests/train/thread_ranks.h"

namespace slimbayes {
namespace {

using nlohmann::json;

FitOptions steps_fit(const std::string& method, json more = json::object()) {
  FitOptions fit;
  fit.target = "y";
  fit.method = method;
  fit.ignore = {"true_mean", "true_sd"};
  fit.test_fraction = 0.2;
  json options = {{"steps", 100}, {"hidden", 16}, {"blocks", 1}};
  options.update(more);
  fit.options = find_method(method).resolve(options);
  return fit;
}

/// Returns a model's file without the times of its training.
std::vector<std::byte> untimed_bytes(const Model& model) {
  TensorFile file = model.to_file();
  json summary = json::parse(file.metadata.at("summary"));
  summary.erase("seconds");
  file.metadata["summary"] = summary.dump();
  return to_bytes(file);
}

TEST(NetworkCache, LeavesTheBitsOfSeparateFits) {
  const Table table = generate("steps", 130, Stream(1));  // few enough that folds estimate the noise
  NetworkCache cache;
  const std::vector<std::pair<FitOptions, int64_t>> fits = {
      {steps_fit("rich-bll"), 0},  // and how many of its networks were there
      {steps_fit("bll"), 6},       // main fit and 5 folds
      {steps_fit("ntk-gp"), 6},
      {steps_fit("dnn"), 0},  // scales the inputs otherwise
      {steps_fit("mc-dropout"), 0},
      {steps_fit("dnn", {{"dropout", 0.1}}), 6},
      {steps_fit("bll", {{"refit", true}}), 6},  // the first of its two trainings
      {steps_fit("swag"), 0},
      {steps_fit("bll", {{"steps", 101}}), 0}};
  for (const auto& [fit, expected] : fits) {
    const int64_t before = cache.taken();
    const Model shared = fit_model(table, fit, nullptr, nullptr, {}, &cache);
    EXPECT_EQ(cache.taken() - before, expected) << fit.method << fit.options;
    EXPECT_EQ(untimed_bytes(shared), untimed_bytes(fit_model(table, fit))) << fit.method << fit.options;
  }
  FitOptions same_scale = steps_fit("dnn");
  same_scale.scale = "standard";
  const int64_t before = cache.taken();
  fit_model(table, same_scale, nullptr, nullptr, {}, &cache);
  EXPECT_EQ(cache.taken() - before, 6);
}

TEST(Comparison, CountsTheTrainingForEveryMethod) {
  const Table table = generate("steps", 400, Stream(1));
  std::vector<MethodChoice> methods;
  for (const char* name : {"rich-bll", "bll", "dbk"}) methods.push_back({name, steps_fit(name).options});
  FitOptions fit = steps_fit("bll");
  const std::vector<MethodRuns> shared = compare(table, fit, methods, {2, 1}, {}, nullptr);
  const std::vector<MethodRuns> alone = compare(table, fit, {methods[1]}, {2, 1}, {}, nullptr);
  const auto noted = [](const MethodRun& run) {
    return fields_to_json(run).dump().find("took a network that was trained before") != std::string::npos;
  };
  for (size_t seed = 0; seed < 2; ++seed) {
    const MethodRun &shared_run = shared[1].runs[seed], &own_run = alone[0].runs[seed];
    EXPECT_GT(shared_run.fit.seconds_shared.value(), 0);
    EXPECT_GT(shared_run.fit.seconds, *shared_run.fit.seconds_shared);
    EXPECT_FALSE(own_run.fit.seconds_shared);
    for (const MethodRuns* other : {&shared[0], &shared[2], &alone[0]})
      EXPECT_FALSE(noted(other->runs[seed]));
    EXPECT_TRUE(noted(shared_run));
    json run = fields_to_json(shared_run), own = fields_to_json(own_run);
    for (json* one : {&run, &own}) {
      for (const char* key : {"seconds", "seconds_shared", "notes"}) one->erase(key);
    }
    EXPECT_EQ(run, own);
  }
}

/// Returns the results as JSON without their times.
json untimed(const std::vector<MethodRuns>& results) {
  json all = json::array();
  for (const MethodRuns& one : results) {
    json own = {{"method", one.method}, {"failure", one.failure}};
    for (const MethodRun& run : one.runs) {
      json fields = fields_to_json(run);
      for (const char* key : {"seconds", "seconds_shared"}) fields.erase(key);
      own["runs"].push_back(std::move(fields));
    }
    all.push_back(std::move(own));
  }
  return all;
}

TEST(Comparison, RanksShareTheFits) {
  const ThreadScope one_thread(1);
  const Table table = generate("steps", 400, Stream(1));
  const FitOptions fit = steps_fit("bll");
  std::vector<MethodChoice> methods;
  for (const char* name : {"rich-bll", "bll"}) methods.push_back({name, steps_fit(name).options});
  methods.push_back({"gp-exact", find_method("gp-exact").resolve({{"max_rows", 10}})});  // which fails
  std::vector<MethodRuns> shared;
  const auto thrown = run_ranks(2, [&](const Collective& ranks) {
    shared = compare(table, fit, methods, {2, 1}, {}, nullptr, &ranks);  // rank 1 throws
  });
  EXPECT_EQ(thrown, (std::vector<std::string>{"", "rank 0 has no more jobs"}));
  const json alone = untimed(compare(table, fit, methods, {2, 1}, {}, nullptr));
  EXPECT_EQ(untimed(shared), alone);
  EXPECT_NE(alone[2]["failure"], "");
}

TEST(Comparison, RanksOfOtherArgumentsAreRefused) {
  const Table table = generate("steps", 200, Stream(1));
  const std::vector<MethodChoice> methods = {{"ridge", find_method("ridge").resolve(json::object())}};
  const auto thrown = run_ranks(2, [&](const Collective& ranks) {
    compare(table, steps_fit("dnn"), methods, {ranks.rank() == 0 ? 2 : 3, 1}, {}, nullptr, &ranks);
  });
  EXPECT_NE(thrown[0].find("another: seeds"), std::string::npos) << thrown[0];
  EXPECT_NE(thrown[1], "");
}

// The second worker fits `constant` and then begins `ridge`, while the first one trains.
TEST(Comparison, StoppedItKeepsTheLaterFitsThatAreFinished) {
  struct StopsAtRidge : Callback {
    bool begun = false;
    void stage(const std::string& name) override { begun = begun || name.starts_with("ridge"); }
    bool stop() override { return begun; }
  } stop;
  FitOptions fit = steps_fit("dnn", {{"steps", 1000000}});
  fit.workers = 2;
  const std::vector<MethodChoice> methods = {{"dnn", fit.options},
                                             {"constant", find_method("constant").resolve(json::object())},
                                             {"ridge", find_method("ridge").resolve(json::object())}};
  const std::vector<MethodRuns> results =
      compare(generate("steps", 200, Stream(1)), fit, methods, {1, 1}, {}, &stop);
  ASSERT_GE(results.size(), 1U);
  EXPECT_EQ(results[0].method, "constant");
  EXPECT_EQ(results[0].runs.size(), 1U);
}

TEST(Comparison, RepeatsGiveEveryMethodTheSameSplits) {
  const Table table = generate("steps", 200, Stream(1));
  FitOptions fit = steps_fit("dnn");
  fit.split_seed = 7;
  const std::vector<MethodChoice> methods = {{"ridge", find_method("ridge").resolve(json::object())},
                                             {"constant", find_method("constant").resolve(json::object())}};
  const std::vector<MethodRuns> results = compare(table, fit, methods, {3, 4}, {}, nullptr);
  ASSERT_EQ(results.size(), 2U);
  std::vector<double> differences;
  for (size_t i = 0; i < 4; ++i) {  // neither method has a seed: one fit a split
    const json a = fields_to_json(results[0].runs.at(i)), b = fields_to_json(results[1].runs.at(i));
    EXPECT_EQ(a["split_seed"], 7 + i);
    EXPECT_EQ(b["split_seed"], 7 + i);
    EXPECT_EQ(a["nll_constant"], b["nll_constant"]);  // the same test rows
    differences.push_back(a["nll"].get<double>() - b["nll"].get<double>());
  }
  EXPECT_NE(results[0].runs[0].report.nll, results[0].runs[1].report.nll);
  const auto pair = leading_pair(results, 0.2);
  ASSERT_TRUE(pair);
  const bool ridge_first = pair->first == "ridge";
  if (!ridge_first)
    for (double& d : differences) d = -d;
  const PairedDifference expected = paired_difference(differences, 0.25);
  EXPECT_DOUBLE_EQ(pair->difference.mean, expected.mean);
  EXPECT_DOUBLE_EQ(pair->difference.bound, expected.bound);
  EXPECT_LE(pair->difference.mean, 0);
  EXPECT_FALSE(leading_pair({results[0]}, 0.2));
  EXPECT_FALSE(leading_pair(compare(table, fit, methods, {1, 1}, {}, nullptr), 0.2));  // one split
}

}  // namespace
}  // namespace slimbayes
