#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "slimbayes/core/density.h"
#include "slimbayes/core/metrics.h"
#include "tests/methods/auto_case.h"

// The noise that `auto` finds: wild rows, and a spread that differs from row to row.

namespace slimbayes {
namespace {

using namespace auto_case;

TEST(Auto, AFewWildRowsDoNotRuinTheScore) {
  const auto model = fitted(line(600, 1, 0.01), kLines);
  const Dataset fresh = line(5000, 2, 0.01);
  const at::Tensor y = fresh.all().target;
  const auto ridge =
      registry_row("ridge").make(nlohmann::json::object())->fit({line(600, 1, 0.01), {}}, {Stream(7)});
  const Regression p = answer_to(*model, fresh), gaussian = answer_to(*ridge, fresh);
  EXPECT_LT(regression_nll(p, y), regression_nll(gaussian, y) - 0.5);
  EXPECT_LT(regression_nll(p, y), 0.55);  // without wild rows .21
  EXPECT_GT(coverage(p, y, 0.95), 0.92);
  EXPECT_LT(interval_width(p, 0.95), 0.6 * interval_width(gaussian, 0.95));
  EXPECT_TRUE(has_fact(*model, "wild rows with an sd"));
}

/// A straight line whose noise is five times as large on the right as on the left.
Dataset two_noises(int64_t n, uint64_t seed) {
  const Dataset rows = line(n, seed);
  const at::Tensor x = rows.all().inputs[0].to(at::kDouble), clean = x.select(1, 0) - 0.5 * x.select(1, 1);
  const at::Tensor sd = 0.2 + 0.8 * (x.select(1, 2) > 0).to(at::kDouble);
  return regression_data(x, clean + sd * (rows.all().target.to(at::kDouble) - clean));
}

// A candidate that knows one noise for all rows gets a factor of its variance for each row.
TEST(Auto, LearnsANoiseThatDiffersByRow) {
  const auto model = fitted(two_noises(600, 1), kLines);
  EXPECT_TRUE(has_fact(*model, "by row")) << nlohmann::json(model->summary().facts);
  const Dataset fresh = two_noises(4000, 2);
  const at::Tensor right = fresh.all().inputs[0].select(1, 2) > 0, y = fresh.all().target.to(at::kDouble);
  const auto ridge =
      registry_row("ridge").make(nlohmann::json::object())->fit({two_noises(600, 1), {}}, {Stream(7)});
  const Regression p = answer_to(*model, fresh);
  EXPECT_LT(regression_nll(p, y), regression_nll(answer_to(*ridge, fresh), y) - 0.2);
  const Interval i = interval(p, 0.95);
  const at::Tensor inside = ((i.lower <= y) & (y <= i.upper)).to(at::kDouble);
  for (const at::Tensor& side : {right, right.logical_not()})
    EXPECT_NEAR(inside.masked_select(side).mean().item<double>(), 0.95, 0.045);
  const auto again = registry_row("auto").load(model->save());
  EXPECT_TRUE(at::equal(answer_to(*again, fresh).aleatoric_var, p.aleatoric_var));
}

TEST(Auto, NamesTheRowsThatAreFarOff) {
  Batch all = line(400, 1).all();
  all.target = all.target.clone();
  all.target[17] += 8;
  all.target[230] -= 20;
  const Dataset rows = regression_data(all.inputs[0], all.target);
  EXPECT_EQ(fitted(rows, kLines)->wild_rows(), (std::vector<int64_t>{230, 17}));
  EXPECT_TRUE(fitted(line(400, 1), kLines)->wild_rows().empty());
}

}  // namespace
}  // namespace slimbayes
