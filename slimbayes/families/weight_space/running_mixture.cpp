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
  const bool classes = std::holds_alternative<Classes>(answer);
  internal_check(classes || std::holds_alternative<Regression>(answer), "RunningMixture",
                 "draws of networks answer regressions and classes");
  internal_check(count_ == 0 || classes == classes_, "RunningMixture", "answers to two tasks");
  classes_ = classes;
  ++count_;
  if (classes)
    collect(std::get<Classes>(answer));
  else
    collect(std::get<Regression>(answer));
}

void RunningMixture::collect(const Regression& answer) {
  zeroed_ += answer.zeroed;
  first_.add(answer.mean);
  second_.add(answer.aleatoric_var);
  third_.add(answer.epistemic_var);
  if (!centre_.defined()) {
    centre_ = answer.mean.clone();
    squares_ = at::zeros_like(centre_);
    return;
  }
  const at::Tensor before = answer.mean - centre_;
  centre_.add_(before / static_cast<double>(count_));
  squares_.add_(before * (answer.mean - centre_));
}

void RunningMixture::collect(const Classes& answer) {
  zeroed_ += answer.zeroed;
  first_.add(answer.probabilities);
  second_.add(answer.expected_entropy);
}

Predictive RunningMixture::mixture() const {
  internal_check(count_ > 0, "RunningMixture", "a mixture of nothing");
  if (classes_) {
    const at::Tensor p = first_.mean();
    return Classes{p, -at::special_xlogy(p, p).sum(-1), second_.mean(), zeroed_};
  }
  return Regression{first_.mean(), second_.mean(), third_.mean() + squares_ / static_cast<double>(count_),
                    zeroed_};
}

}  // namespace slimbayes
