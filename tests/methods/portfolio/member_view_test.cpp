#include "slimbayes/methods/portfolio/member_view.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/density.h"
#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

/// Rows whose target in the user's units is exp(1 + .5 z), encoded to mean 0 and sd 1.
Dataset positive_rows(int64_t n) {
  const at::Tensor user = at::exp(1 + 0.5 * Stream(1).normal({n}));
  Dataset rows = regression_data(3 + 2 * Stream(2).normal({n, 2}), (user - 4) / 2.5);
  rows.schema.task.y_shift = 4;
  rows.schema.task.y_scale = 2.5;
  return rows;
}

TEST(MemberView, TheMemberSeesTheLogarithm) {
  const Dataset rows = positive_rows(5000);
  const Dataset own = rows_in_view(fitted_view(rows, false, TargetWarp::log), rows);
  const at::Tensor t = own.all().target.to(at::kDouble);
  EXPECT_NEAR(t.mean().item<double>(), 0, 1e-6);
  EXPECT_NEAR(t.std(false).item<double>(), 1, 1e-6);
  EXPECT_TRUE(at::equal(own.all().inputs[0], rows.all().inputs[0]));
}

/// The right answer to the logarithm, N(0, 1), is a log-normal one in the user's units.
TEST(MemberView, AnswersComeBack) {
  const Dataset rows = positive_rows(100000);
  const MemberView view = fitted_view(rows, false, TargetWarp::log);
  const Regression unit{at::zeros({1}, at::kDouble), at::full({1}, 0.9, at::kDouble),
                        at::full({1}, 0.1, at::kDouble)};
  const Regression user = rescaled(std::get<Regression>(answer_in_target_units(view, unit)), 4, 2.5);
  EXPECT_NEAR(median(user).item<double>(), std::exp(1), 0.05);
  EXPECT_NEAR(user.mean.item<double>(), std::exp(1.125), 0.08);
  EXPECT_GT(interval(user, 0.999).lower.item<double>(), 0);
  const double y = 3, t = (std::log(y) - 1) / 0.5;
  EXPECT_NEAR(regression_nll(user, at::tensor({y}, at::kDouble)),
              0.5 * t * t + std::log(0.5) + std::log(y) + 0.5 * std::log(2 * M_PI), 0.05);
}

TEST(MemberView, FarAnswersStayFinite) {
  const MemberView view = fitted_view(positive_rows(100), false, TargetWarp::log);
  const Regression far{at::tensor({1e6, 0.0, -1e6}, at::kDouble), at::tensor({1.0, 1e9, 1.0}, at::kDouble),
                       at::zeros({3}, at::kDouble)};
  const auto p = std::get<Regression>(answer_in_target_units(view, far));
  EXPECT_TRUE(at::isfinite(p.mean).all().item<bool>() && at::isfinite(total_var(p)).all().item<bool>());
}

/// The view of these targets, and the answer N(mean, var) to their seen logarithm.
Regression wide_answer(const at::Tensor& y, double mean, double var) {
  const MemberView view =
      fitted_view(regression_data(Stream(2).normal({y.size(0), 2}), y), false, TargetWarp::log);
  const Regression seen_answer{at::full({1}, mean, at::kDouble), at::full({1}, 0.5 * var, at::kDouble),
                               at::full({1}, 0.5 * var, at::kDouble)};
  return std::get<Regression>(answer_in_target_units(view, seen_answer));
}

double root_mean_square(const Regression& p) {
  return std::sqrt((p.mean.square() + total_var(p)).item<double>());
}

/// A target with values near 0 spans many powers of ten. A wide answer to its logarithm must not have a mean
/// far above all targets; its median and density are as they are.
TEST(MemberView, AWideAnswerHasMomentsWithinTheTargets) {
  const at::Tensor y = at::tensor({1e-4, 1.0, 3.0, 8.0, 20.0}, at::kDouble);
  const Regression wide = wide_answer(y, 0, 10), narrow = wide_answer(y, 0, 1e-4);
  EXPECT_LE(root_mean_square(wide), 20 + 1e-9);
  EXPECT_NEAR(median(wide).item<double>(), narrow.mean.item<double>(), 1e-3);
  EXPECT_GT(quantile(wide, 2).item<double>(), 20);
  EXPECT_LT(root_mean_square(wide_answer(y, 100, 1)), 20 * 100);  // far outside the data
}

TEST(MemberView, TheMomentsAreBoundedForEveryKindOfTarget) {
  const at::Tensor some = Stream(3).normal({100}).exp();
  const at::Tensor zeros = at::cat({at::zeros({150}, at::kDouble), some});  // more than half: the median is 0
  EXPECT_LE(root_mean_square(wide_answer(zeros, 0, 10)), 1.1 * some.max().item<double>());
  const at::Tensor capped = some.clamp_max(some.median().item<double>());  // more than half are the largest
  const Regression at_cap = wide_answer(capped, 5, 1);
  EXPECT_GT(total_var(at_cap).item<double>(), 0);
  EXPECT_TRUE(at::isfinite(regression_row_nll(at_cap, at::ones({1}, at::kDouble))).item<bool>());
}

TEST(MemberView, TargetsOfZeroHaveALogarithm) {
  Dataset rows = regression_data(Stream(2).normal({4, 2}), at::tensor({0.0, 1.0, 3.0, 8.0}, at::kDouble));
  const MemberView view = fitted_view(rows, false, TargetWarp::log);
  EXPECT_TRUE(at::isfinite(rows_in_view(view, rows).all().target).all().item<bool>());
  EXPECT_NEAR(view.low, -0.5, 1e-12);  // half the least positive target
}

TEST(MemberView, InputsHaveTheRangeOfTheMethod) {
  const Dataset rows = positive_rows(500);
  const at::Tensor x =
      rows_in_view(fitted_view(rows, true, TargetWarp::none), rows).all().inputs[0].to(at::kDouble);
  EXPECT_NEAR(x.min().item<double>(), -1, 1e-6);
  EXPECT_NEAR(x.max().item<double>(), 1, 1e-6);
}

TEST(MemberView, WithoutAChangeTheRowsAreTheSame) {
  const Dataset rows = positive_rows(5);
  EXPECT_EQ(rows_in_view(fitted_view(rows, false, TargetWarp::none), rows).source, rows.source);
}

TEST(MemberView, IsStored) {
  const Dataset rows = positive_rows(50);
  const MemberView view = fitted_view(rows, true, TargetWarp::log);
  TensorFile file;
  store_view(view, file);
  const MemberView again = stored_view(file);
  EXPECT_TRUE(at::equal(again.input_scale, view.input_scale));
  EXPECT_EQ(again.warp, TargetWarp::log);
  EXPECT_EQ(again.log_mean, view.log_mean);
  file.tensors.erase("view.input_scale");
  EXPECT_ANY_THROW(stored_view(file));
}

TEST(MemberView, NegativeTargetsHaveNoLogarithm) {
  const Dataset rows =
      regression_data(Stream(2).normal({4, 2}), at::tensor({0.0, 1.0, -3.0, 8.0}, at::kDouble));
  EXPECT_FALSE(allows_log_target(rows));
  EXPECT_THROW(fitted_view(rows, false, TargetWarp::log), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
