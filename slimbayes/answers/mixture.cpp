#include "slimbayes/answers/mixture.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/joined.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Stacks k tensors of equal shape [n, ...] along a new first axis. Throws std::invalid_argument if the
/// shapes differ. [k, n, ...]
at::Tensor stacked(const Tensors& parts) {
  for (const at::Tensor& x : parts) check_shape(x, parts.front().sizes(), "mixture", "a part");
  return at::stack(parts);
}

at::Tensor average(const Tensors& parts) { return stacked(parts).mean(0); }

/// Returns the variance of the means between the parts. The formula E[x^2] - E[x]^2 would subtract two large,
/// nearly equal numbers if the means are nearly equal, and lose digits.
at::Tensor disagreement(const std::vector<Regression>& parts) {
  const at::Tensor means = stacked(field_of_parts(parts, [](const auto& part) { return part.mean; }));
  return (means - means.mean(0)).square().mean(0);
}

/// The mixture of the parts' densities; without any density a Gaussian of the mixture's moments.
Regression mixed(const std::vector<Regression>& parts) {
  if (std::ranges::any_of(parts, [](const Regression& p) { return !p.density.empty(); })) {
    std::vector<DensityComponent> all;
    for (const Regression& part : parts) std::ranges::copy(components_of(part), std::back_inserter(all));
    Regression p = mixed(std::move(all));
    p.least = parts.front().least;
    p.most = parts.front().most;
    return p;
  }
  Regression p = joined(parts, average);
  p.epistemic_var = p.epistemic_var + disagreement(parts);
  return p;
}

Classes mixed(const std::vector<Classes>& parts) {
  Classes p = joined(parts, average);
  p.predictive_entropy = -at::special_xlogy(p.probabilities, p.probabilities).sum(-1);
  return p;
}

/// Returns the log-normal rate that has the mean E and the variance var of the mixture. Let a_i be the log of
/// the mean rate of part i and v_i its log_var. Then log E = log mean exp(a_i), and the log_var of the result
/// is log(1 + var / E^2) = log mean exp(2 (a_i - log E) + v_i). The second formula is relative to E, so that
/// nothing overflows. It is computed with expm1 and log1p, which keep the digits of a small variance.
LogNormalRate mixed(const std::vector<LogNormalRate>& parts) {
  const at::Tensor log_var = stacked(field_of_parts(parts, [](const auto& p) { return p.log_var; }));
  const at::Tensor log_mean =
      stacked(field_of_parts(parts, [](const auto& p) { return p.log_mean; })) + 0.5 * log_var;  // a_i [k, n]
  const double k = static_cast<double>(parts.size());
  const at::Tensor whole = at::logsumexp(log_mean, {0}) - std::log(k);
  // The log_var of the result. It is at least 0 by Jensen's inequality; the clamp removes rounding errors
  // below 0.
  const at::Tensor var = at::log1p(at::expm1(2 * (log_mean - whole) + log_var).mean(0)).clamp_min(0);
  return {whole - 0.5 * var, var};
}

LogNormalRate mixed(const std::vector<LogNormalRate>& parts, const at::Tensor& w) {
  const at::Tensor share = w.unsqueeze(1);
  const at::Tensor log_var = stacked(field_of_parts(parts, [](const auto& p) { return p.log_var; }));
  const at::Tensor log_mean =
      stacked(field_of_parts(parts, [](const auto& p) { return p.log_mean; })) + 0.5 * log_var;
  const at::Tensor whole = at::logsumexp(log_mean + share.log(), {0});
  const at::Tensor var = at::log1p((share * at::expm1(2 * (log_mean - whole) + log_var)).sum(0)).clamp_min(0);
  return {whole - 0.5 * var, var};
}

/// Returns the mixture of the rates of the parts with equal weights (w undefined) or the weights w [k].
template <class Answer>
LogNormalRate mixed_rate(const std::vector<Answer>& parts, const at::Tensor& w) {
  std::vector<LogNormalRate> rates;
  for (const Answer& part : parts) rates.push_back(part.rate);
  return w.defined() ? mixed(rates, w) : mixed(rates);
}

/// Returns the mixture of counts of which a part has more noise than Poisson's: one that has its mean, its
/// epistemic and its aleatoric variance. Let q_i = 1 - zero_share of part i, and S_i the mean of its squared
/// rate. The expected count q_i rate_i is log-normal; its mixture is that of rates. With the shares
/// s_i = w_i q_i^2 S_i, divided by their sum, and c = sum s_i zero_share_i / q_i, the aleatoric variance
/// gives 1 - zero_share = 1 / (1 + c) and dispersion = (1 - zero_share) sum s_i dispersion_i / q_i.
Counts mixed_noise(const std::vector<Counts>& parts, const at::Tensor& w) {
  const auto field = [&](at::Tensor Counts::*of) {
    return stacked(field_of_parts(parts, [of](const Counts& p) { return noise_of(p, of); }));
  };
  const at::Tensor dispersion = field(&Counts::dispersion), zeros = field(&Counts::zero_share),
                   rest = 1 - zeros;  // [k, n]
  std::vector<LogNormalRate> expected;
  Tensors log_square;
  for (size_t i = 0; i < parts.size(); ++i) {
    const LogNormalRate& rate = parts[i].rate;
    expected.push_back({rate.log_mean + rest[static_cast<int64_t>(i)].log(), rate.log_var});
    log_square.push_back(2 * expected.back().log_mean + 2 * rate.log_var);
  }
  at::Tensor logs = stacked(log_square);
  if (w.defined()) logs = logs + w.unsqueeze(1).log();
  const at::Tensor share = at::softmax(logs, 0), kept = 1 / (1 + (share * zeros / rest).sum(0));
  Counts out{w.defined() ? mixed(expected, w) : mixed(expected)};
  out.rate.log_mean = out.rate.log_mean - kept.log();
  if (any_has(parts, &Counts::dispersion)) out.dispersion = kept * (share * dispersion / rest).sum(0);
  if (any_has(parts, &Counts::zero_share)) out.zero_share = 1 - kept;
  return out;
}

Counts mixed(const std::vector<Counts>& parts, const at::Tensor& w = {}) {
  const bool poisson = std::ranges::all_of(parts, &Counts::is_poisson);
  return poisson ? Counts{mixed_rate(parts, w)} : mixed_noise(parts, w);
}

Intensity mixed(const std::vector<Intensity>& parts, const at::Tensor& w = {}) {
  return {mixed_rate(parts, w)};
}

/// Mixtures with weights w [k] that sum to 1.
Regression mixed(const std::vector<Regression>& parts, const at::Tensor& w) {
  std::vector<DensityComponent> all;
  for (size_t k = 0; k < parts.size(); ++k)
    for (DensityComponent c : components_of(parts[k])) {
      c.weight *= w[static_cast<int64_t>(k)].item<double>();
      all.push_back(std::move(c));
    }
  Regression p = mixed(std::move(all));
  p.least = parts.front().least;
  p.most = parts.front().most;
  return p;
}

Classes mixed(const std::vector<Classes>& parts, const at::Tensor& w) {
  const auto weighted = [&](const Tensors& x) { return at::tensordot(w, stacked(x), {0}, {0}); };
  Classes p = joined(parts, weighted);
  p.predictive_entropy = -at::special_xlogy(p.probabilities, p.probabilities).sum(-1);
  return p;
}

}  // namespace

Predictive mixture(const std::vector<Predictive>& parts) {
  return over_parts(parts, "mixture", [](const auto& same) { return mixed(same); });
}

Regression mixture(const std::vector<Regression>& parts) {
  return std::get<Regression>(mixture(std::vector<Predictive>(parts.begin(), parts.end())));
}

Regression bagged_mixture(const std::vector<Regression>& members) {
  Regression p = mixture(members);
  if (!p.density.empty()) return p;
  const at::Tensor b = disagreement(members), own = p.epistemic_var - b,
                   share = (p.aleatoric_var + own) / total_var(p);  // v / (v + b)
  p.aleatoric_var = share * p.aleatoric_var;
  p.epistemic_var = share * own + b;
  return p;
}

Predictive mixture(const std::vector<Predictive>& parts, const std::vector<double>& weights) {
  const bool sane = weights.size() == parts.size() &&
                    std::ranges::all_of(weights, [](double w) { return w > 0 && std::isfinite(w); });
  if (!sane)
    refuse("mixture", "a finite weight > 0 for each part",
           fmt::format("{} weights for {} parts", weights.size(), parts.size()));
  const at::Tensor w = at::tensor(weights, at::kDouble);
  return over_parts(parts, "mixture", [&](const auto& same) { return mixed(same, w / w.sum()); });
}

}  // namespace slimbayes
