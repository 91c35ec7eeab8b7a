#include "slimbayes/methods/weight_space/running_mixture.h"

#include <ATen/ATen.h>

#include <vector>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Returns x [S b, ...] as [S, b, ...].
at::Tensor by_draw(const at::Tensor& x, int64_t draws) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes[0] /= draws;
  sizes.insert(sizes.begin(), draws);
  return x.reshape(sizes);
}

at::Tensor mean_over(const at::Tensor& x, int64_t draws) { return by_draw(x, draws).mean(0); }

at::Tensor spread_over(const at::Tensor& x, int64_t draws) {
  const at::Tensor all = by_draw(x, draws);
  return (all - all.mean(0)).square().mean(0);
}

Predictive mixed(const Regression& p, int64_t draws) {
  return Regression{mean_over(p.mean, draws), mean_over(p.aleatoric_var, draws),
                    mean_over(p.epistemic_var, draws) + spread_over(p.mean, draws), p.zeroed};
}

Predictive mixed(const Classes& all, int64_t draws) {
  const at::Tensor p = mean_over(all.probabilities, draws);
  return Classes{p, -at::special_xlogy(p, p).sum(-1), mean_over(all.expected_entropy, draws), all.zeroed};
}

/// Returns the log-normal rate with this mean and variance of rates relative to exp(`log_unit`).
Predictive log_normal(const at::Tensor& log_unit, const at::Tensor& mean, const at::Tensor& var) {
  const at::Tensor log_var = at::log1p(var / mean.square());
  return Counts{{log_unit + mean.log() - 0.5 * log_var, log_var}};
}

Predictive mixed(const Counts& p, int64_t draws) {
  const at::Tensor log_rate = by_draw(p.rate.log_mean, draws), unit = std::get<0>(log_rate.max(0));
  const at::Tensor rate = (log_rate - unit).exp(), mean = rate.mean(0);
  return log_normal(unit, mean, (rate - mean).square().mean(0));
}

Predictive mixed(const Intensity&, int64_t) {
  internal_check(false, "mixture_of_draws", "draws of networks answer no events");
  return {};
}

}  // namespace

void GroupedSum::add(const at::Tensor& x) {
  constexpr int64_t kGroup = 16;
  if (group_.defined())
    group_.add_(x);
  else
    group_ = x.clone();
  if (++count_ % kGroup != 0) return;
  if (total_.defined())
    total_.add_(group_);
  else
    total_ = group_;
  group_.reset();
}

at::Tensor GroupedSum::mean() const {
  internal_check(count_ > 0, "GroupedSum", "a mean of nothing");
  const at::Tensor sum = !total_.defined() ? group_ : group_.defined() ? group_ + total_ : total_;
  return sum / static_cast<double>(count_);
}

void RunningMixture::add(const Predictive& answer) {
  internal_check(count_ == 0 || answer.index() == task_, "RunningMixture", "answers to two tasks");
  task_ = answer.index();
  ++count_;
  std::visit([this](const auto& one) { collect(one); }, answer);
}

void RunningMixture::collect(const Regression& answer) {
  zeroed_ += answer.zeroed;
  first_.add(answer.mean);
  second_.add(answer.aleatoric_var);
  third_.add(answer.epistemic_var);
  spread(answer.mean);
}

void RunningMixture::collect(const Classes& answer) {
  zeroed_ += answer.zeroed;
  first_.add(answer.probabilities);
  second_.add(answer.expected_entropy);
}

void RunningMixture::collect(const Counts& answer) {
  if (count_ == 1) first_rate_ = answer.rate.log_mean.clone();
  spread((answer.rate.log_mean - first_rate_).exp());
}

void RunningMixture::collect(const Intensity&) {
  internal_check(false, "RunningMixture", "draws of networks answer no events");
}

void RunningMixture::spread(const at::Tensor& mean) {
  if (count_ == 1) {
    centre_ = mean.clone();
    squares_ = at::zeros_like(centre_);
    return;
  }
  const at::Tensor before = mean - centre_;
  centre_.add_(before / static_cast<double>(count_));
  squares_.add_(before * (mean - centre_));
}

Predictive RunningMixture::mixture() const {
  internal_check(count_ > 0, "RunningMixture", "a mixture of nothing");
  if (first_rate_.defined()) return log_normal(first_rate_, centre_, squares_ / static_cast<double>(count_));
  if (!centre_.defined()) {
    const at::Tensor p = first_.mean();
    return Classes{p, -at::special_xlogy(p, p).sum(-1), second_.mean(), zeroed_};
  }
  return Regression{first_.mean(), second_.mean(), third_.mean() + squares_ / static_cast<double>(count_),
                    zeroed_};
}

Predictive mixture_of_draws(const Predictive& answers, int64_t draws) {
  return std::visit([&](const auto& one) { return mixed(one, draws); }, answers);
}

}  // namespace slimbayes
