// What every method for tables does with the weights of rows: it takes them, and its answers move towards the
// heavy rows.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/answers/density.h"
#include "slimbayes/method/registry.h"
#include "tests/methods/once.h"
#include "tests/methods/quick_options.h"

namespace slimbayes {
namespace {

/// Returns the task of the first kind that the method takes, of tables of numbers, classes and counts.
std::optional<TaskKind> first_task(const MethodInfo& info) {
  if (!takes(info, InputKind::table)) return {};
  for (const TaskKind task : {TaskKind::regression, TaskKind::classification, TaskKind::counts})
    if (takes(info, task)) return task;
  return {};
}

/// Rows whose inputs say nothing of the target: the second half has the inputs of the first, the high targets
/// and the weight `heavy`. n is even.
Dataset halves(int64_t n, TaskKind task, double heavy, uint64_t seed) {
  const at::Tensor half = Stream(seed).split("x").normal({n / 2, 2}, at::kFloat), x = at::cat({half, half});
  const at::Tensor high = (at::arange(n) >= n / 2).to(at::kDouble);
  Dataset rows;
  if (task == TaskKind::classification) {
    rows = class_data(x, high.to(at::kLong), 2);
  } else {
    const bool counts = task == TaskKind::counts;
    const at::Tensor noise = 0.1 * Stream(seed).split("noise").normal({n});
    rows = regression_data(x, counts ? 1 + 6 * high : 2 * high - 1 + noise);
    if (counts) {
      rows.schema.task.kind = task;
      rows.schema.task.likelihood = LikelihoodKind::poisson;
    }
  }
  return heavy == 1 ? rows : weighted(rows, 1 + (heavy - 1) * high);
}

/// Returns the mean over the answers of the target, the probability of the second class or the log rate.
double mean_answer(const Predictive& p) {
  if (const auto* r = std::get_if<Regression>(&p)) return r->mean.mean().item<double>();
  if (const auto* c = std::get_if<Classes>(&p)) return c->probabilities.select(1, 1).mean().item<double>();
  return std::get<Counts>(p).rate.log_mean.mean().item<double>();
}

bool is_finite(const Predictive& p) {
  const auto all = [](const at::Tensor& x) { return x.isfinite().all().item<bool>(); };
  if (const auto* r = std::get_if<Regression>(&p)) return all(r->mean) && all(total_var(*r));
  if (const auto* c = std::get_if<Classes>(&p)) return all(c->probabilities);
  return all(std::get<Counts>(p).rate.log_mean) && all(std::get<Counts>(p).rate.log_var);
}

std::vector<size_t> of_tables() {
  std::vector<size_t> all;
  for (size_t i = 0; i < registry().size(); ++i)
    if (first_task(find_method(registry()[i].name))) all.push_back(i);
  return all;
}

class WeightsContract : public testing::TestWithParam<size_t> {};

TEST_P(WeightsContract, AnswersMoveToTheHeavyRows) {
  const RegistryRow& row = registry()[GetParam()];
  const MethodInfo& info = find_method(row.name);
  const TaskKind task = first_task(info).value();
  const Dataset fresh =
      halves(40, task, 1, 1).subset(at::arange(12));  // a Gaussian process keeps its mean elsewhere
  const auto answer_with = [&](double heavy) {
    const Split split{halves(40, task, heavy, 1), halves(16, task, heavy, 2)};
    const auto fitted = row.make(contract::quick_options(info, task))->fit(split, {Stream(5), nullptr, {}});
    const Predictive p = fitted->predict(fresh);
    EXPECT_TRUE(is_finite(p)) << "weight " << heavy;
    return mean_answer(p);
  };
  const double once = answer_with(1), heavy = answer_with(20);
  EXPECT_GT(heavy, once + 0.1) << "of the heavy rows and without weights: " << heavy << ", " << once;
}

INSTANTIATE_TEST_SUITE_P(Registry, WeightsContract, testing::ValuesIn(of_tables()), [](const auto& info) {
  return contract::test_name(std::string(registry()[info.param].name));
});

}  // namespace
}  // namespace slimbayes
