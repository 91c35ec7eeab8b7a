#include "tests/methods/task_contract.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "slimbayes/encoding/target.h"
#include "slimbayes/method/registry.h"
#include "tests/methods/once.h"
#include "tests/methods/quick_options.h"

namespace slimbayes {
namespace {

using contract::Subject;

constexpr LikelihoodKind kLikelihoods[] = {
    LikelihoodKind::bernoulli, LikelihoodKind::softmax,           LikelihoodKind::poisson,
    LikelihoodKind::cox,       LikelihoodKind::negative_binomial, LikelihoodKind::zero_inflated_poisson};

Subject subject_of(const RegistryRow& row, LikelihoodKind likelihood) {
  const MethodInfo& info = find_method(row.name);
  const nlohmann::json quick = contract::task_options(info, likelihood, 300),
                       brief = contract::task_options(info, likelihood, 80),
                       briefest = contract::task_options(info, likelihood,
                                                         info.candidates ? 80 : contract::kBriefestSteps);
  return {&info, [&row, quick] { return row.make(quick); }, row.load,
          {},    [&row, brief] { return row.make(brief); }, [&row, briefest] { return row.make(briefest); }};
}

/// Returns every pair of the index in the registry of a method for tables and a likelihood that it takes.
std::vector<std::pair<size_t, LikelihoodKind>> cases() {
  std::vector<std::pair<size_t, LikelihoodKind>> all;
  for (size_t i = 0; i < registry().size(); ++i) {
    if (!takes(find_method(registry()[i].name), InputKind::table)) continue;
    for (LikelihoodKind likelihood : kLikelihoods) {
      const MethodInfo& info = find_method(registry()[i].name);
      bool MethodInfo::*const fact = fact_of(likelihood);
      if (fact != nullptr && !(info.*fact)) continue;
      if (std::ranges::find(info.tasks, task_of(likelihood)) != info.tasks.end())
        all.emplace_back(i, likelihood);
    }
  }
  return all;
}

class TaskContract : public testing::TestWithParam<std::tuple<std::pair<size_t, LikelihoodKind>, size_t>> {};

TEST_P(TaskContract, Holds) {
  const auto& [index, likelihood] = std::get<0>(GetParam());
  const contract::TaskClause& clause = contract::task_clauses()[std::get<1>(GetParam())];
  const Subject subject = subject_of(registry()[index], likelihood);
  const Fitted& fitted = contract::fitted_once(
      fmt::format("task {} {}", subject.info->name, name_of(likelihood)), [&, kind = likelihood] {
        return subject.make()->fit(contract::task_split(kind), {Stream(contract::kSeed), nullptr, {}});
      });
  EXPECT_NO_THROW(clause.hold(subject, likelihood, fitted));
}

std::string name_of_task_case(const testing::TestParamInfo<TaskContract::ParamType>& info) {
  const auto& [subject, clause] = info.param;
  return contract::test_name(fmt::format("{}_{}_{}", registry()[subject.first].name, name_of(subject.second),
                                         contract::task_clauses()[clause].name));
}

INSTANTIATE_TEST_SUITE_P(Registry, TaskContract,
                         testing::Combine(testing::ValuesIn(cases()),
                                          testing::Range<size_t>(0, contract::task_clauses().size())),
                         name_of_task_case);

TEST(TaskContract, EveryTaskIsTakenAndTheOthersNameTheTakers) {
  for (LikelihoodKind likelihood : kLikelihoods) {
    int takers = 0;
    for (const RegistryRow& row : registry()) {
      const MethodInfo& info = find_method(row.name);
      takers += takes(info, likelihood);
      if (takes(info, likelihood) || !takes(info, InputKind::table)) continue;
      try {
        row.make(nlohmann::json::object())
            ->fit(contract::task_split(likelihood), {Stream(contract::kSeed), nullptr, {}});
        ADD_FAILURE() << info.name << " took " << name_of(likelihood);
      } catch (const std::invalid_argument& error) {
        bool MethodInfo::*const fact = fact_of(likelihood);
        const std::string names = fact ? methods_that(fact) : methods_taking(task_of(likelihood));
        EXPECT_NE(std::string(error.what()).find(names), std::string::npos) << error.what();
      }
    }
    EXPECT_GE(takers, 1) << name_of(likelihood);
  }
}

// The tests of the clauses: a classifier with one deliberate fault must fail the clause named beside the
// fault.

class Broken : public Fitted {
 public:
  Broken(std::string fault, std::shared_ptr<const Fitted> inner)
      : fault_(std::move(fault)), inner_(std::move(inner)) {}

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    auto p = std::get<Classes>(inner_->predict(data, options));
    if (fault_ == "unnormalised") p.probabilities = p.probabilities * 1.001;
    if (fault_ == "entropies") std::swap(p.predictive_entropy, p.expected_entropy);
    if (fault_ == "constant") p.probabilities = p.probabilities.mean(0, true).expand_as(p.probabilities);
    if (fault_ == "placed") p.probabilities = p.probabilities.roll(1, 0);
    if (fault_ == "other task") return Counts{{p.predictive_entropy, p.predictive_entropy}};
    return p;
  }
  TensorFile save() const override { return inner_->save(); }
  const Summary& summary() const override { return inner_->summary(); }

 private:
  std::string fault_;
  std::shared_ptr<const Fitted> inner_;
};

TEST(TaskContract, FaultsFailTheirClauses) {
  const RegistryRow& row = registry_row("sv-rbf");
  Subject subject = subject_of(row, LikelihoodKind::bernoulli);
  std::shared_ptr<const Fitted> good = subject.make()->fit(contract::task_split(LikelihoodKind::bernoulli),
                                                           {Stream(contract::kSeed), nullptr, {}});
  const std::pair<const char*, const char*> faults[] = {{"unnormalised", "shapes"},
                                                        {"entropies", "shapes"},
                                                        {"other task", "shapes"},
                                                        {"constant", "beats_constant"},
                                                        {"placed", "rows_apart"}};
  for (const auto& [fault, name] : faults) {
    Broken broken(fault, good);
    for (const contract::TaskClause& clause : contract::task_clauses()) {
      if (clause.name != name) continue;
      EXPECT_ANY_THROW(clause.hold(subject, LikelihoodKind::bernoulli, broken))
          << fault << " got through " << name;
    }
  }
}

}  // namespace
}  // namespace slimbayes
