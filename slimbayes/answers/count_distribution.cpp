// How probabilities of the Poisson-lognormal count are computed. Each is an integral over the log rate
// f = m + s z, z ~ N(0, 1), that has no closed form. The trapezoid rule is used on integrands that are
// analytic and vanish at both ends. Its error is below rounding once the step is a fraction of the width of
// the narrowest feature (Trefethen and Weideman, SIAM Review 2014).
//
// log P(y): the integrand is log-concave in z, so the nodes are spread around its mode, the root of
// s (y - e^{m + s z}) = z. Newton's method finds the mode: from any start the first step ends to the right of
// the root, and the following steps descend to it.
//
// P(y <= k) = E_z[Q(k + 1, e^{m + s z})], where Q is the regularised upper incomplete gamma function. As a
// function of z, Q falls from 1 to 0 over a width of 1 / (s sqrt(k + 1)). If that width is too small for the
// step of the rule, the integral is taken over a gamma variable instead: Q(a, x) = P(G > x) for G ~ Gamma(a),
// so the probability equals E_u[Phi((u - m) / s)], u = log G. The density of u has the width 1 / sqrt(a),
// which sets the step. This form is also cheaper: it needs an error function at each node instead of a gamma
// function.

#include "slimbayes/answers/count_distribution.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "slimbayes/core/check.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/density/count_noise.h"
#include "slimbayes/density/unit.h"

namespace slimbayes {

namespace {

constexpr int64_t kSteps = 240;   // steps of the trapezoid rule
constexpr double kTail = 38;      // a factor e^-38 is below rounding
constexpr double kSds = 9;        // a Gaussian beyond 9 sds is below rounding
constexpr double kLogLarge = 30;  // log of the largest quantile that is made whole; e^30 = 1e13
constexpr int64_t kBlock = 4096;  // rows processed at a time

void check_shapes(const LogNormalRate& rate, const char* function) {
  check_shape(rate.log_mean, {-1}, function, "log_mean");
  check_shape(rate.log_var, {rate.log_mean.size(0)}, function, "log_var");
}

void check_rate(const LogNormalRate& rate, const char* function) {
  check_shapes(rate, function);
  check_finite(rate.log_mean, function, "log_mean");
  check_finite(rate.log_var, function, "log_var");
  check(rate.log_var.numel() == 0 || rate.log_var.min().item<double>() >= 0, function, "log_var >= 0",
        "a negative one");
}

// Returns P(y <= k) = E_z[Q(k + 1, e^{m + s z})] by the trapezoid rule over z. Use it for a small s. m, s, k
// and the result have shape [b].
at::Tensor cdf_over_rates(const at::Tensor& m, const at::Tensor& s, const at::Tensor& k) {
  at::Tensor z = at::arange(-kSds, kSds + 0.1, 0.5, m.options()), weight = at::exp(-0.5 * z.square());  // [q]
  at::Tensor rates = at::exp(m.unsqueeze(1) + s.unsqueeze(1) * z);  // [b, q]
  at::Tensor cdf = at::special_gammaincc((k + 1).unsqueeze(1).expand_as(rates), rates);
  return at::mv(cdf, weight / weight.sum());
}

// Returns q evenly spaced points for each row, from -left to right. [b, q]
at::Tensor spread(const at::Tensor& left, const at::Tensor& right) {
  at::Tensor share = at::linspace(0, 1, kSteps + 1, left.options());
  return (left + right).unsqueeze(1) * share - left.unsqueeze(1);
}

// Returns P(y <= k) = E_u[Phi((u - m) / s)] by the trapezoid rule over u, the log of a Gamma(a) variable,
// a = k + 1. The density of u is exp(a u - e^u) / Gamma(a). To the left of log a it falls as e^{a u}, to the
// right faster; the range of the nodes follows from this. m, s, k and the result have shape [b].
at::Tensor cdf_over_gammas(const at::Tensor& m, const at::Tensor& s, const at::Tensor& k) {
  at::Tensor a = k + 1, sd = at::rsqrt(a);
  at::Tensor shift = spread(kTail / a + kSds * sd, (kSds * sd).clamp_max(4));  // u - log a [b, q]
  at::Tensor density = at::exp(a.unsqueeze(1) * (shift - at::expm1(shift)));   // up to a constant
  at::Tensor z = ((at::log(a) - m).unsqueeze(1) + shift) / s.unsqueeze(1);
  return (density * at::erfc(-z / std::numbers::sqrt2)).sum(1) / (2 * density.sum(1));
}

at::Tensor cdf_block(const at::Tensor& m, const at::Tensor& v, const at::Tensor& k) {
  at::Tensor s = v.sqrt(), least = k.clamp_min(0);
  // At 0.35 both rules are accurate: their steps are below half the width of their narrowest feature.
  at::Tensor narrow = s * (least + 1).sqrt() > 0.35;
  at::Tensor out = at::zeros_like(m);
  for (bool dual : {false, true}) {
    at::Tensor at_rows = (narrow == dual).nonzero().squeeze(1);
    if (at_rows.numel() == 0) continue;
    auto part = [&](const at::Tensor& x) { return x.index_select(0, at_rows); };
    auto cdf = dual ? cdf_over_gammas : cdf_over_rates;
    out.index_copy_(0, at_rows, cdf(part(m), part(s), part(least)));
  }
  return at::where(k < 0, 0.0, out);
}

// Returns the z at which the log of the integrand of P(y), y (m + s z) - e^{m + s z} - z^2 / 2, is largest.
// Throws NumericalError if Newton's method does not converge. m, s, y and the result have shape [b].
at::Tensor modes(const at::Tensor& m, const at::Tensor& s, const at::Tensor& y) {
  // Newton's method starts from the smallest of three upper bounds of the mode: z <= s y; if z > 0, the rate
  // is below y, so z < (log y - m) / s; if the log rate f > 0, e^f = y + (m - f) / v <= y + m / v. Without
  // the last bound, m = 250 would take 250 steps.
  at::Tensor narrow = s.clamp_min(1e-150);
  at::Tensor limit = (at::log(y.clamp_min(1e-300)) - m) / narrow;
  at::Tensor above = at::log(y + m.clamp_min(0) / narrow.square()).clamp_min(0);
  at::Tensor z = at::minimum(at::minimum(s * y, limit).clamp_min(0), (above - m) / narrow);
  for (int i = 0; i < 200; ++i) {  // far from the mode, a step lowers f by only 1
    at::Tensor rate = at::exp(m + s * z);
    at::Tensor step = (s * (y - rate) - z) / (1 + s * s * rate);
    z = z + step;
    if ((step.abs() / (1 + z.abs())).max().item<double>() < 1e-10) return z;
  }
  throw NumericalError(fmt::format(
      "[poisson_lognormal_log_prob] expected a density whose mode can be found; received log rates of mean "
      "up to {:.4g} and sd up to {:.4g}; such rows lie far from the training data: remove them",
      m.max().item<double>(), s.max().item<double>()));
}

at::Tensor log_prob_block(const at::Tensor& m, const at::Tensor& v, const at::Tensor& y) {
  at::Tensor s = v.sqrt(), centre = modes(m, s, y), rate = at::exp(m + s * centre);
  // The range of the nodes, in z to the right and left of the mode; outside it the integrand is below
  // rounding. To the right the integrand falls at least as fast as a Gaussian with its curvature at the mode.
  // To the left it falls at least as fast as the density of the log of a Gamma(rate) variable, and as its
  // factor N(z; 0, 1), which limits the range to 9 sds.
  at::Tensor right = kSds * at::rsqrt(1 + v * rate);
  at::Tensor left = ((kTail / rate + kSds * at::rsqrt(rate)) / s).clamp_max(kSds);
  at::Tensor z = centre.unsqueeze(1) + spread(left, right);  // [b, q]
  at::Tensor f = m.unsqueeze(1) + s.unsqueeze(1) * z;
  at::Tensor log_joint = y.unsqueeze(1) * f - at::exp(f) - 0.5 * z.square();
  at::Tensor log_step = at::log((left + right) / (kSteps * std::sqrt(2 * std::numbers::pi)));
  return at::logsumexp(log_joint, 1) + log_step - at::lgamma(y + 1);
}

// Returns body(m, v, x) for all rows, computed in blocks of kBlock rows to limit memory. m and v are the log
// mean and log variance of the rows of a block, and x are its rows of `x`, all in float64. [n]
template <class Body>
at::Tensor in_blocks(const LogNormalRate& rate, const at::Tensor& x, Body body) {
  at::NoGradGuard no_grad;
  at::Tensor m = rate.log_mean.to(at::kDouble), v = rate.log_var.to(at::kDouble), all = x.to(at::kDouble);
  std::vector<at::Tensor> parts;
  for (int64_t low = 0; low < m.size(0); low += kBlock) {
    int64_t size = std::min(kBlock, m.size(0) - low);
    parts.push_back(body(m.narrow(0, low, size), v.narrow(0, low, size), all.narrow(0, low, size)));
  }
  return parts.empty() ? at::empty({0}, m.options()) : at::cat(parts);
}

// Returns the least whole number k >= 0 with P(y <= k) >= p for each row. Doubles an upper bound until it is
// large enough, then bisects; the quantile always lies in (low, high]. [b]
at::Tensor quantile_block(const at::Tensor& m, const at::Tensor& v, double p) {
  at::Tensor low = at::full_like(m, -1), high = at::zeros_like(m);
  for (;;) {
    at::Tensor short_of = cdf_block(m, v, high) < p;
    if (!short_of.any().item<bool>()) break;
    low = at::where(short_of, high, low);
    high = at::where(short_of, 2 * high + 1, high);
  }
  while ((high - low).max().item<double>() > 1) {
    at::Tensor middle = at::floor((low + high) / 2);
    at::Tensor short_of = cdf_block(m, v, middle) < p;
    low = at::where(short_of, middle, low);
    high = at::where(short_of, high, middle);
  }
  return high;
}

}  // namespace

void check_counts(const at::Tensor& y, std::string_view function) {
  check_finite(y, function, "counts");
  at::Tensor bad = ((y < 0) | (y != at::floor(y))).nonzero();
  if (bad.size(0) == 0) return;
  int64_t row = bad[0][0].item<int64_t>();
  refuse(function, "counts: whole numbers of at least 0",
         fmt::format("{} in row {} (from 0)", y[row].item<double>(), row));
}

at::Tensor poisson_lognormal_log_prob(const LogNormalRate& rate, const at::Tensor& y) {
  check_rate(rate, "poisson_lognormal_log_prob");
  check_shape(y, {rate.log_mean.size(0)}, "poisson_lognormal_log_prob", "y");
  check_counts(y, "poisson_lognormal_log_prob");
  return in_blocks(rate, y, log_prob_block);
}

at::Tensor poisson_lognormal_cdf(const LogNormalRate& rate, const at::Tensor& k) {
  check_rate(rate, "poisson_lognormal_cdf");
  check_shape(k, {rate.log_mean.size(0)}, "poisson_lognormal_cdf", "k");
  return in_blocks(rate, k, cdf_block);
}

at::Tensor poisson_lognormal_quantile(const LogNormalRate& rate, double p) {
  check_shapes(rate, "poisson_lognormal_quantile");
  if (!(p > 0 && p < 1)) refuse("poisson_lognormal_quantile", "0 < p < 1", std::to_string(p));
  p = std::min(p, 1 - 1e-13);  // the cdf is a sum of rounded terms, which may stay below a p next to 1
  // The p-quantile of the log rate, which decides whether the quantile of the count can be found exactly.
  at::Tensor log_quantile = rate.log_mean + normal_quantile(p) * rate.log_var.sqrt();
  // "Not <=" instead of ">", so that a row with NaN counts as large; the exp() below then returns NaN for it.
  at::Tensor large = (log_quantile <= kLogLarge).logical_not();
  at::Tensor m = at::where(large, 0.0, rate.log_mean), v = at::where(large, 0.0, rate.log_var);
  at::Tensor whole = in_blocks(
      {m, v}, m, [p](const auto& a, const auto& b, const auto&) { return quantile_block(a, b, p); });
  return at::where(large, at::exp(log_quantile), whole);
}

namespace {

// Returns call(rate, noise, i) for each row i of `p`, one by one on several threads. [n]
template <class Call>
at::Tensor row_by_row(const Counts& p, Call call) {
  const auto numbers = [&](const at::Tensor& x) {
    return x.defined() ? x.to(at::kDouble).contiguous() : at::zeros_like(p.rate.log_mean, at::kDouble);
  };
  const at::Tensor mean = numbers(p.rate.log_mean), var = numbers(p.rate.log_var),
                   dispersion = numbers(p.dispersion), zeros = numbers(p.zero_share);
  check_shape(dispersion, mean.sizes(), "counts", "dispersion");
  check_shape(zeros, mean.sizes(), "counts", "zero_share");
  at::Tensor out = at::empty_like(mean);
  const double *m = mean.const_data_ptr<double>(), *v = var.const_data_ptr<double>(),
               *a = dispersion.const_data_ptr<double>(), *z = zeros.const_data_ptr<double>();
  double* to = out.mutable_data_ptr<double>();
  over_range(mean.numel(), 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = call(LogRate{m[i], v[i]}, CountNoise{a[i], z[i]}, i);
  });
  return out;
}

}  // namespace

at::Tensor count_log_prob(const Counts& p, const at::Tensor& y) {
  if (p.is_poisson()) return poisson_lognormal_log_prob(p.rate, y);
  check_rate(p.rate, "count_log_prob");
  check_shape(y, {p.rate.log_mean.size(0)}, "count_log_prob", "y");
  check_counts(y, "count_log_prob");
  const at::Tensor all = y.to(at::kDouble).contiguous();
  const double* of = all.const_data_ptr<double>();
  return row_by_row(p, [of](const LogRate& rate, const CountNoise& noise, int64_t i) {
    return count_log_prob(rate, noise, of[i]);
  });
}

at::Tensor count_cdf(const Counts& p, const at::Tensor& k) {
  if (p.is_poisson()) return poisson_lognormal_cdf(p.rate, k);
  check_rate(p.rate, "count_cdf");
  check_shape(k, {p.rate.log_mean.size(0)}, "count_cdf", "k");
  const at::Tensor all = k.to(at::kDouble).contiguous();
  const double* of = all.const_data_ptr<double>();
  return row_by_row(p, [of](const LogRate& rate, const CountNoise& noise, int64_t i) {
    return count_cdf(rate, noise, of[i]);
  });
}

at::Tensor count_quantile(const Counts& p, double probability) {
  if (p.is_poisson()) return poisson_lognormal_quantile(p.rate, probability);
  check_shapes(p.rate, "count_quantile");
  if (!(probability > 0 && probability < 1))
    refuse("count_quantile", "0 < p < 1", std::to_string(probability));
  return row_by_row(p, [probability](const LogRate& rate, const CountNoise& noise, int64_t) {
    return count_quantile(rate, noise, probability);
  });
}

at::Tensor mean_above_interval(const LogNormalRate& rate, const Interval& bounds) {
  const at::Tensor centre = mean(rate);
  check_shape(bounds.upper, centre.sizes(), "mean_above_interval", "upper");
  return (centre > bounds.upper) & centre.isfinite();
}

}  // namespace slimbayes
