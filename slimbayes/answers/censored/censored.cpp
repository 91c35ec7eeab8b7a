// Likelihood and moments of censored targets. The tensor code of the Gaussian follows density/truncated.cpp,
// which has the same cases for single numbers and explains why each is stable; a test holds one against the
// other. It consists of elementwise operations alone, so that it runs on every device.
#include "slimbayes/answers/censored/censored.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// log_prob and the moments of z = (y - mean) / sd in the interval, of each row: TruncatedNormal of
/// density/truncated.h. An exact row has its log density and the moments of its point.
struct TruncatedRows {
  at::Tensor log_prob, mean, excess;  // [n]
};

double log_root_two_pi() { return 0.5 * std::log(2 * std::numbers::pi); }

at::Tensor mills_ratio(const at::Tensor& x) {
  return std::sqrt(std::numbers::pi / 2) * at::special_erfcx(x / std::numbers::sqrt2);
}

/// Of intervals with the middle m <= 0 and the width w, w <= 1 and w |m| <= 2.
TruncatedRows narrow_rows(const at::Tensor& m, const at::Tensor& w) {
  using TenNodes = boost::math::quadrature::gauss<double, 10>;
  const at::Tensor h = w / 2, mh = m * h, half_square = 0.5 * h.square();
  at::Tensor sum = at::zeros_like(m);
  for (size_t i = 0; i < TenNodes::abscissa().size(); ++i) {
    const double x = TenNodes::abscissa()[i];
    sum = sum + TenNodes::weights()[i] * at::cosh(mh * x) * at::exp(-x * x * half_square);
  }
  const at::Tensor share = w * sum, scale = 2 * at::exp(-half_square) / share;
  const at::Tensor odd = scale * at::sinh(mh), even = scale * at::cosh(mh);
  return {at::log(share) - 0.5 * m.square() - log_root_two_pi(), odd, m * odd - h * even};
}

/// Of intervals between a and b with the middle <= 0 that are not narrow; log_ratio = log(phi(a) / phi(b)).
TruncatedRows wide_rows(const at::Tensor& a, const at::Tensor& b, const at::Tensor& log_ratio) {
  const at::Tensor tail = b <= 0, far = b.clamp_max(0), ratio = at::exp(log_ratio);
  const at::Tensor share = mills_ratio(-far) - mills_ratio((-a).clamp_min(0)) * ratio;
  const at::Tensor outside =
      0.5 * (at::special_erfc(-a / std::numbers::sqrt2) + at::special_erfc(b / std::numbers::sqrt2));
  const at::Tensor log_density = -0.5 * b.square() - log_root_two_pi();
  const at::Tensor at_upper = at::where(tail, 1 / share, at::exp(log_density) / (1 - outside));
  const at::Tensor lower = at::where(ratio == 0, 0.0, a * ratio);  // a may be infinite
  return {at::where(tail, log_density + at::log(share), at::log1p(-outside)), at_upper * at::expm1(log_ratio),
          at_upper * lower - at::where(at_upper == 0, 0.0, b * at_upper)};
}

TruncatedRows truncated_rows(const at::Tensor& mean, const at::Tensor& var, const Censored& target) {
  const at::Tensor sd = var.sqrt();
  const at::Tensor left = (target.lower - mean) / sd, right = (target.upper - mean) / sd;
  const at::Tensor width = (target.upper - target.lower) / sd;
  const at::Tensor reflect = left + right > 0;  // NaN without bounds, which is not
  const at::Tensor a = at::where(reflect, -right, left), b = at::where(reflect, -left, right);
  const at::Tensor middle = 0.5 * (a + b), narrow = (width <= 1).logical_and(width * -middle <= 2);
  const TruncatedRows near = narrow_rows(middle, width);
  const TruncatedRows wide = wide_rows(a, b, at::where(at::isinf(a), -kNoBound, width * middle));
  const at::Tensor exact = target.exact();
  const at::Tensor unknown = (target.lower == -kNoBound).logical_and(target.upper == kNoBound);
  // The exact row's own value where it is exact, 0 where nothing is known.
  const auto choose = [&](const at::Tensor& of_point, const at::Tensor& of_narrow,
                          const at::Tensor& of_wide) {
    return at::where(exact, of_point, at::where(unknown, 0.0, at::where(narrow, of_narrow, of_wide)));
  };
  const at::Tensor sign = at::where(reflect, -1.0, 1.0).to(at::kDouble);
  const at::Tensor density = -0.5 * left.square() - sd.log() - log_root_two_pi();
  return {choose(density, near.log_prob, wide.log_prob), choose(left, sign * near.mean, sign * wide.mean),
          choose(left.square() - 1, near.excess, wide.excess)};
}

struct CensoredLogProb : torch::autograd::Function<CensoredLogProb> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& mean, const at::Tensor& var,
                            const at::Tensor& lower, const at::Tensor& upper) {
    const at::NoGradGuard no_grad;
    const TruncatedRows rows = truncated_rows(mean, var, {lower, upper});
    context->save_for_backward({rows.mean / var.sqrt(), 0.5 * rows.excess / var});
    return rows.log_prob;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const variable_list slopes = context->get_saved_variables();
    return {grads[0] * slopes[0], grads[0] * slopes[1], at::Tensor(), at::Tensor()};
  }
};

void check_gaussian_rows(const at::Tensor& mean, const at::Tensor& var, const Censored& target,
                         const char* function) {
  check_shape(mean, {-1}, function, "mean");
  check_shape(var, {mean.size(0)}, function, "var");
  check_shape(target.lower, {mean.size(0)}, function, "lower");
  check_shape(target.upper, {mean.size(0)}, function, "upper");
}

}  // namespace

at::Tensor Censored::exact() const { return lower == upper; }

Censored checked_censored(const Censored& target, std::string_view function) {
  check_shape(target.lower, {-1}, function, "lower");
  check_shape(target.upper, {target.lower.size(0)}, function, "upper");
  check(target.size() > 0, function, "at least one row", "none");
  const Censored out{target.lower.to(at::kDouble), target.upper.to(at::kDouble)};
  check((out.lower <= out.upper).all().item<bool>(), function, "lower <= upper in every row",
        "a lower bound above the upper one, or NaN");
  const at::Tensor open = (out.lower < kNoBound).logical_and(out.upper > -kNoBound);
  check(open.all().item<bool>(), function, "lower bounds below +inf and upper bounds above -inf",
        "an interval at infinity");
  return out;
}

Censored right_censored(const at::Tensor& time, const at::Tensor& event) {
  constexpr const char* kRight = "right_censored";
  check_shape(time, {-1}, kRight, "time");
  check_shape(event, {time.size(0)}, kRight, "event");
  check_finite(time, kRight, "time");
  const at::Tensor observed = event == 1;
  check(observed.logical_or(event == 0).all().item<bool>(), kRight, "events of 1 (observed) or 0 (censored)",
        "another value");
  const at::Tensor lower = time.to(at::kDouble);
  return {lower, lower.masked_fill(observed.logical_not(), kNoBound)};
}

at::Tensor censored_log_prob(const at::Tensor& mean, const at::Tensor& var, const Censored& target) {
  check_gaussian_rows(mean, var, target, "censored_log_prob");
  return CensoredLogProb::apply(mean.to(at::kDouble), var.to(at::kDouble), target.lower.to(at::kDouble),
                                target.upper.to(at::kDouble));
}

at::Tensor truncated_mean(const at::Tensor& mean, const at::Tensor& var, const Censored& target) {
  check_gaussian_rows(mean, var, target, "truncated_mean");
  const at::NoGradGuard no_grad;
  const at::Tensor m = mean.to(at::kDouble), v = var.to(at::kDouble);
  const Censored bounds{target.lower.to(at::kDouble), target.upper.to(at::kDouble)};
  const at::Tensor inside = m + v.sqrt() * truncated_rows(m, v, bounds).mean;
  return at::minimum(at::maximum(inside, bounds.lower), bounds.upper);  // rounding can leave the interval
}

at::Tensor censored_row_nll(const Regression& p, const Censored& target) {
  const Censored bounds = checked_censored(target, "censored_nll");
  const at::Tensor exact = bounds.exact();
  const at::Tensor of_point = regression_row_nll(p, at::where(exact, bounds.lower, 0.0));
  return at::where(exact, of_point, -log_probability_between(p, bounds.lower, bounds.upper));
}

double censored_nll(const Regression& p, const Censored& target, const at::Tensor& weight) {
  return row_mean(censored_row_nll(p, target), weight, "censored_nll");
}

}  // namespace slimbayes
