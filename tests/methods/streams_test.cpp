// Methods that fit rows on disk (MethodInfo::streams): they read them block by block (DiskSource throws
// otherwise). What follows from sums is that of rows in memory, up to rounding; what batches train has the
// same level.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/answers/answers.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/plain/logistic_rows.h"
#include "tests/methods/disk_source.h"
#include "tests/methods/once.h"
#include "tests/methods/task_contract.h"
#include "tests/train/thread_ranks.h"

namespace slimbayes {
namespace {

using nlohmann::json;

constexpr int64_t kRows = 10000, kHeldOut = 300;

Dataset rows_of(LikelihoodKind likelihood, int64_t rows, uint64_t seed) {
  return likelihood == LikelihoodKind::gaussian ? contract::toy(rows, seed)
                                                : contract::task_toy(likelihood, rows, seed);
}

Split split_of(LikelihoodKind likelihood, bool disk) {
  const Dataset train = rows_of(likelihood, kRows, 1);
  return {disk ? on_disk(train) : train, rows_of(likelihood, kHeldOut, 2)};
}

struct DiskCase {
  std::string method;
  LikelihoodKind likelihood;
};

void PrintTo(const DiskCase& of, std::ostream* out) { *out << of.method << " " << name_of(of.likelihood); }

std::vector<DiskCase> disk_cases() {
  std::vector<DiskCase> cases;
  for (const MethodInfo& info : method_catalog()) {
    if (!info.streams) continue;
    for (const LikelihoodKind likelihood :
         {LikelihoodKind::gaussian, LikelihoodKind::softmax, LikelihoodKind::poisson})
      if (takes(info, task_of(likelihood))) cases.push_back({info.name, likelihood});
  }
  return cases;
}

/// Returns options of a quick fit.
json quick(const std::string& method, json options = json::object()) {
  const MethodInfo& info = find_method(method);
  const json small = {{"hidden", 16},  {"blocks", 1},  {"rank", 16},   {"draws", 4},
                      {"averaged", 3}, {"steps", 100}, {"sketch", 24}, {"inducing_rows", 8}};
  for (const OptionDoc& doc : info.options)
    if (small.contains(doc.name) && !options.contains(doc.name)) options[doc.name] = small.at(doc.name);
  if (method == "dbk-exact") options["steps"] = 30;
  if (method.starts_with("low-rank") || method == "rank-1") options.erase("rank");
  return info.resolve(options);
}

std::unique_ptr<Fitted> fitted_on(const std::string& method, const json& options, const Split& split,
                                  std::shared_ptr<const TrainedNetwork> start = nullptr,
                                  const Collective* ranks = nullptr) {
  FitContext context{Stream(5)};
  context.start = std::move(start);
  context.ranks = ranks;
  return registry_row(method).make(options)->fit(split, context);
}

/// Returns the means, rates or probabilities of an answer.
at::Tensor first_numbers(const Predictive& p) {
  if (const auto* classes = std::get_if<Classes>(&p)) return classes->probabilities;
  if (const auto* counts = std::get_if<Counts>(&p)) return counts->rate.log_mean;
  return std::get<Regression>(p).mean;
}

class OnDisk : public testing::TestWithParam<DiskCase> {};

TEST_P(OnDisk, HasTheLevelOfRowsInMemory) {
  const auto& [method, likelihood] = GetParam();
  const Dataset others = rows_of(likelihood, 500, 3);
  const auto nll = [&, &method = method, &likelihood = likelihood](bool disk) {
    const auto fitted = fitted_on(method, quick(method), split_of(likelihood, disk));
    EXPECT_EQ(fitted->summary().rows, kRows);
    return mean_nll(fitted->predict(others), others.all().target).value_or(NAN);
  };
  const double from_disk = nll(true);
  EXPECT_TRUE(std::isfinite(from_disk));
  EXPECT_LT(from_disk, nll(false) + 0.2);
}

TEST_P(OnDisk, NeedsNoValidationRows) {
  const auto& [method, likelihood] = GetParam();
  const Dataset others = rows_of(likelihood, 500, 3);
  json options = quick(method);
  for (const char* one : {"steps", "averaged"})
    if (options.contains(one)) options[one] = 2;
  const auto fitted = fitted_on(method, options, {on_disk(rows_of(likelihood, kRows, 1)), {}});
  EXPECT_TRUE(std::isfinite(mean_nll(fitted->predict(others), others.all().target).value_or(NAN)));
}

// Each rank can read a part of the rows alone.
TEST_P(OnDisk, IsFittedOnThePartsOfRanks) {
  const auto& [method, likelihood] = GetParam();
  if (!find_method(method).shares_batches) return;
  const Dataset train = rows_of(likelihood, kRows, 1), valid = rows_of(likelihood, kHeldOut, 2),
                others = rows_of(likelihood, 500, 3);
  json options = quick(method);
  for (const char* one : {"steps", "averaged"})
    if (options.contains(one)) options[one] = 4;
  if (options.contains("class_weights") && likelihood == LikelihoodKind::softmax)
    options["class_weights"] = "balanced";
  for (const bool held_out : {true, false}) {
    std::vector<at::Tensor> means(2);
    const auto thrown = run_ranks(2, [&](const Collective& ranks) {
      const Split split{on_disk(train, &ranks), held_out ? valid : Dataset{}};
      const auto fitted = fitted_on(method, options, split, nullptr, &ranks);
      EXPECT_EQ(fitted->summary().rows, kRows);
      const Predictive p = fitted->predict(others);
      EXPECT_TRUE(std::isfinite(mean_nll(p, others.all().target).value_or(NAN)));
      means[static_cast<size_t>(ranks.rank())] = first_numbers(p);
    });
    EXPECT_EQ(thrown, (std::vector<std::string>{"", ""}));
    EXPECT_TRUE(at::equal(means[0], means[1]));
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, OnDisk, testing::ValuesIn(disk_cases()), [](const auto& info) {
  return contract::test_name(info.param.method + "_" + std::string(name_of(info.param.likelihood)));
});

/// A fit whose model follows from sums over the rows: of the columns, or of the features of one network.
struct ExactCase {
  const char* method;
  LikelihoodKind likelihood;
  json options = json::object();
  bool around_network = false;
};

std::vector<ExactCase> exact_cases() {
  const auto gaussian = LikelihoodKind::gaussian, softmax = LikelihoodKind::softmax;
  return {{"ridge", gaussian},
          {"constant", gaussian},
          {"constant", softmax},
          {"constant", LikelihoodKind::poisson},
          {"dbk-exact", gaussian},
          {"logistic", softmax},
          {"bll", gaussian, json::object(), true},
          {"bll", softmax, {{"class_rows", kRows}}, true},
          {"bll", gaussian, {{"mean", "posterior"}, {"select", "evidence"}, {"prior", "select"}}, true},
          {"ntk-sketch", gaussian, json::object(), true},
          {"last-layer-laplace", gaussian, json::object(), true},
          {"last-layer-laplace", softmax, json::object(), true},
          {"last-layer-laplace", softmax, {{"structure", "kronecker"}}, true}};
}

std::shared_ptr<const TrainedNetwork> network_of(LikelihoodKind likelihood) {
  return fitted_on("dnn", quick("dnn"), split_of(likelihood, false))->network();
}

/// Expects the numbers of both models to be equal up to rounding. A noise and a prior come from searches for
/// the flat top of a score.
void expect_same(const TensorFile& a, const TensorFile& b, const std::string& what) {
  ASSERT_EQ(a.tensors.size(), b.tensors.size()) << what;
  for (const auto& [name, x] : a.tensors) {
    const at::Tensor one = stored_tensor(a, name).to(at::kDouble),
                     other = stored_tensor(b, name).to(at::kDouble);
    const double most = name.find("statistics") != std::string::npos || name == "posterior" ? 1e-10 : 1e-6;
    ASSERT_EQ(one.sizes(), other.sizes()) << what << ": " << name;
    if (one.numel() == 0) continue;
    const double apart = (one - other).abs().max().item<double>();
    EXPECT_LE(apart, most * (1 + one.abs().max().item<double>())) << what << ": " << name;
  }
}

TEST(SumsOnDisk, AreThoseOfRowsInMemory) {
  for (const ExactCase& of : exact_cases()) {
    const auto start = of.around_network ? network_of(of.likelihood) : nullptr;
    const json options = quick(of.method, of.options);
    const TensorFile in_memory = fitted_on(of.method, options, split_of(of.likelihood, false), start)->save();
    expect_same(in_memory, fitted_on(of.method, options, split_of(of.likelihood, true), start)->save(),
                of.method);
  }
}

TEST(SumsOnDisk, AreThoseOfAllRanks) {
  for (const ExactCase& of : exact_cases()) {
    const auto start = of.around_network ? network_of(of.likelihood) : nullptr;
    const json options = quick(of.method, of.options);
    const Split split = split_of(of.likelihood, false);
    const TensorFile alone = fitted_on(of.method, options, split, start)->save();
    const bool trained = std::string(of.method) == "dbk-exact";  // rounding grows from step to step
    const auto thrown = run_ranks(3, [&](const Collective& ranks) {
      const auto own =
          fitted_on(of.method, options, {on_disk(split.train, &ranks), split.valid}, start, &ranks);
      if (!trained) expect_same(alone, own->save(), of.method);
    });
    EXPECT_EQ(thrown, std::vector<std::string>(3, "")) << of.method;
  }
}

TEST(LogisticOnDisk, HasTheDerivativesOfRowsInMemory) {
  const Dataset rows = rows_of(LikelihoodKind::softmax, kRows, 1);
  const at::Tensor coefficients = Stream(3).normal({2, 3}), along = Stream(4).normal({2, 3});
  for (const bool full : {true, false}) {
    const LogisticRows in_memory(rows, {}, full);
    const LogisticLoss expected = in_memory.loss(coefficients, 0.7);
    const auto compare = [&](const LogisticRows& from_disk) {
      const LogisticLoss found = from_disk.loss(coefficients, 0.7);
      EXPECT_NEAR(found.value, expected.value, 1e-10 * expected.value);
      EXPECT_TRUE(at::allclose(found.gradient, expected.gradient, 1e-10, 1e-8));
      if (!full) {
        EXPECT_TRUE(at::allclose(from_disk.hessian_times(found, along, 0.7),
                                 in_memory.hessian_times(expected, along, 0.7), 1e-10, 1e-8));
      }
    };
    compare(LogisticRows(on_disk(rows), {}, full));
    const auto thrown = run_ranks(
        3, [&](const Collective& ranks) { compare(LogisticRows(on_disk(rows, &ranks), {}, full, &ranks)); });
    EXPECT_EQ(thrown, std::vector<std::string>(3, ""));
  }
}

TEST(ClassesOnDisk, HaveAsManyRowsOfEachClassAsAskedFor) {
  const auto start = network_of(LikelihoodKind::softmax);
  const Split split = split_of(LikelihoodKind::softmax, true);
  const json options = quick("bll", {{"class_rows", 100}});
  const auto rows_of_logit = [](const TensorFile& file) {
    std::vector<int64_t> rows;
    for (const auto& [name, x] : file.tensors)  // of "sums" the fifth number is that of the rows
      if (name.ends_with(".sums"))
        rows.push_back(static_cast<int64_t>(stored_tensor(file, name)[4].item<double>()));
    return rows;
  };
  const TensorFile alone = fitted_on("bll", options, split, start)->save();
  const std::vector<int64_t> found = rows_of_logit(alone);
  EXPECT_EQ(found, std::vector<int64_t>(3, 100));
  const auto thrown = run_ranks(3, [&](const Collective& ranks) {
    const Split own{on_disk(rows_of(LikelihoodKind::softmax, kRows, 1), &ranks), split.valid};
    EXPECT_EQ(rows_of_logit(fitted_on("bll", options, own, start, &ranks)->save()), found);
  });
  EXPECT_EQ(thrown, std::vector<std::string>(3, ""));
}

TEST(SamplesOnDisk, StandForAllRows) {
  const auto start = network_of(LikelihoodKind::gaussian);
  const json options = quick("bll", {{"subsample", 2000}});
  const Dataset others = contract::toy(200, 3);
  const auto sd = [&](bool disk) {
    const auto fitted = fitted_on("bll", options, split_of(LikelihoodKind::gaussian, disk), start);
    return contract::answer(*fitted, others).epistemic_var.mean().sqrt().item<double>();
  };
  EXPECT_NEAR(sd(true) / sd(false), 1, 0.2);
}

TEST(RefitOnDisk, TakesTheValidationRowsToo) {
  const auto fitted =
      fitted_on("bll", quick("bll", {{"refit", true}}), split_of(LikelihoodKind::gaussian, true));
  EXPECT_EQ(fitted->summary().rows, kRows + kHeldOut);
}

}  // namespace
}  // namespace slimbayes
