// What every method for tables does in a model of several targets: it answers each, together with the others.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "slimbayes/fit/joint_fit.h"
#include "slimbayes/method/registry.h"
#include "tests/data/tables.h"
#include "tests/methods/once.h"
#include "tests/methods/quick_options.h"

namespace slimbayes {
namespace {

/// A task that a method takes for its targets, and the likelihood that asks for it.
struct TargetTask {
  std::string method;
  LikelihoodKind likelihood;
};

/// Returns every method for tables of numbers with a task of the first kind that it takes: numbers, classes
/// or counts.
std::vector<TargetTask> target_tasks() {
  std::vector<TargetTask> all;
  for (const MethodInfo& info : method_catalog()) {
    if (!takes(info, InputKind::table)) continue;
    for (const LikelihoodKind likelihood :
         {LikelihoodKind::gaussian, LikelihoodKind::bernoulli, LikelihoodKind::poisson})
      if (takes(info, task_of(likelihood))) {
        all.push_back({info.name, likelihood});
        break;
      }
  }
  return all;
}

/// Two inputs and two targets of this kind, of which every fourth row lacks the second.
Table pair_of_targets(int64_t rows, LikelihoodKind likelihood, uint64_t seed) {
  std::vector<double> x, z, a, b;
  for (int64_t i = 0; i < rows; ++i) {
    const Stream row = Stream(seed).split(static_cast<uint64_t>(i));
    x.push_back(row.normal(0));
    z.push_back(row.normal(1));
    const double error = row.normal(2);
    a.push_back(x.back() + error);
    b.push_back(2 - x.back() + error + 0.5 * row.normal(3));
    if (likelihood != LikelihoodKind::gaussian)
      for (std::vector<double>* y : {&a, &b})
        y->back() = likelihood == LikelihoodKind::poisson ? std::floor(std::exp(0.5 * y->back()))
                                                          : static_cast<double>(y->back() > 1);
    if (i % 4 == 3) b.back() = kMissing;
  }
  if (likelihood == LikelihoodKind::bernoulli)
    return table_of({numbers("x", x), numbers("z", z), categories("a", a, {"no", "yes"}),
                     categories("b", b, {"no", "yes"})});
  return table_of({numbers("x", x), numbers("z", z), numbers("a", a), numbers("b", b)});
}

class TargetsContract : public testing::TestWithParam<TargetTask> {};

TEST_P(TargetsContract, AnswersEachTargetAndAllTogether) {
  const auto& [method, likelihood] = GetParam();
  JointRequest request;
  request.fit.target = "a,b";
  request.fit.method = method;
  request.fit.likelihood = likelihood;
  request.fit.options = contract::quick_options(find_method(method), task_of(likelihood));
  request.fit.valid_fraction = 0.3;
  request.fit.noise_folds = 0;
  Callback silent;
  const JointOutcome out = fit_joint(pair_of_targets(60, likelihood, 1), request, nullptr, {}, silent);
  ASSERT_TRUE(out.model);
  const Table fresh = pair_of_targets(12, likelihood, 2);
  const JointModel read = JointModel::from_file(out.model->to_file(), "m");
  const JointAnswers here = out.model->answers(fresh), there = read.answers(fresh);
  ASSERT_EQ(here.rows.size(), 12u);
  const at::Tensor draws = out.model->draws(here, 3, Stream(4));
  EXPECT_EQ(draws.sizes(), (at::IntArrayRef{3, 12, 2}));
  EXPECT_TRUE(at::isfinite(draws).all().item<bool>());
  EXPECT_TRUE(at::equal(draws, read.draws(there, 3, Stream(4))));
  const JointReport report = out.model->evaluate(fresh);
  EXPECT_EQ(report.targets[0]->n, 12);
  EXPECT_EQ(report.targets[1]->n, 9);
  EXPECT_EQ(report.joint.has_value(), likelihood != LikelihoodKind::bernoulli);
  EXPECT_TRUE(!report.joint || std::isfinite(report.joint->nll_joint));
}

INSTANTIATE_TEST_SUITE_P(Catalogue, TargetsContract, testing::ValuesIn(target_tasks()),
                         [](const auto& info) { return contract::test_name(info.param.method); });

}  // namespace
}  // namespace slimbayes
