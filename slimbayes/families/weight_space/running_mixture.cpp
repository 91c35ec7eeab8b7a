#include "slimbayes/families/weight_space/running_mixture.h"

#include <ATen/ATen.h>

#include "slimbayes/core/check.h"

namespace slimbayes {

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
  if (first_rate_.defined()) {  // the log-normal rate with the mean and the variance of the rates
    const at::Tensor log_var = at::log1p(squares_ / static_cast<double>(count_) / centre_.square());
    return Counts{{first_rate_ + centre_.log() - 0.5 * log_var, log_var}};
  }
  if (!centre_.defined()) {
    const at::Tensor p = first_.mean();
    return Classes{p, -at::special_xlogy(p, p).sum(-1), second_.mean(), zeroed_};
  }
  return Regression{first_.mean(), second_.mean(), third_.mean() + squares_ / static_cast<double>(count_),
                    zeroed_};
}

}  // namespace slimbayes
