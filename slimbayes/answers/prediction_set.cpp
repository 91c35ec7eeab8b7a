// Adaptive prediction sets by split conformal calibration.
//
// Problem     The probabilities of a classifier may be wrong. A decision needs the set of classes that cannot
//             be ruled out.
// Method      Sort the classes of a row by descending probability and put them into the set until the sum of
//             their probabilities reaches a threshold. The threshold is a conformal quantile: for each
//             calibration row take the sum at which its true class enters the set (Romano, Sesia and Candes
//             2020). Of the class at the threshold only a uniform random share u of its probability is
//             counted. The coverage then equals the level instead of exceeding it by up to a whole class. The
//             price: a model that is right more often than the level gives some empty sets.
// Randomness  u is a function of the row's inputs, so that the set of a row does not depend on the other rows
//             or on its place in the batch. The score is then a fixed function of (x, y), as exchangeability
//             requires.
#include "slimbayes/answers/prediction_set.h"

#include <ATen/ATen.h>

#include <string_view>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/density/conformal_rank.h"

namespace slimbayes {

namespace {

/// Returns the conformity score that each class would have if it were the true class (see set_scores). Throws
/// std::invalid_argument if shapes do not fit. [n, C]
at::Tensor all_scores(const Classes& p, const at::Tensor& u, const char* function) {
  check_shape(p.probabilities, {-1, -1}, function, "probabilities");
  check_shape(u, {p.probabilities.size(0)}, function, "u");
  const auto [sorted, order] = at::sort(p.probabilities, /*stable=*/true, /*dim=*/1, /*descending=*/true);
  const at::Tensor before = sorted.cumsum(1) - sorted;  // sum over the more probable classes
  return at::empty_like(sorted).scatter_(1, order, before + u.unsqueeze(1) * sorted);
}

}  // namespace

at::Tensor row_uniforms(const at::Tensor& inputs) {
  const int64_t n = inputs.size(0);
  const at::Tensor rows = (inputs.reshape({n, -1}) + 0).contiguous();  // + 0 turns -0 into 0
  const auto* bytes = static_cast<const char*>(rows.const_data_ptr());
  const size_t width = static_cast<size_t>(rows.size(1)) * rows.element_size();
  at::Tensor u = at::empty({n}, at::kDouble);
  for (int64_t i = 0; i < n; ++i)
    u.data_ptr<double>()[i] = row_uniform(std::string_view(bytes + static_cast<size_t>(i) * width, width));
  return u;
}

at::Tensor set_scores(const Classes& p, const at::Tensor& y, const at::Tensor& u) {
  constexpr const char* kFunction = "set_scores";
  const at::Tensor all = all_scores(p, u, kFunction);
  check_shape(y, {all.size(0)}, kFunction, "y");
  check(all.size(0) > 0, kFunction, "at least one calibration row", "none");
  check_classes(y, all.size(1), kFunction);
  check_finite(all, kFunction, "probabilities");
  return all.gather(1, y.to(at::kLong).unsqueeze(1)).squeeze(1);
}

PredictionSet prediction_set(const Classes& p, const at::Tensor& u, const ConformalScores& scores,
                             double level) {
  // The factor 1 + 1e-9 is for rounding: a score is a sum of C probabilities, and a class whose score equals
  // the threshold must be in the set.
  return all_scores(p, u, "prediction_set") <= conformal_factor(scores, level) * (1 + 1e-9);
}

PredictionSet deterministic_set(const Classes& p, const ConformalScores& scores, double level) {
  // A score grows with u, so u = 0 gives every class its smallest score, and the largest sets.
  return prediction_set(p, at::zeros({p.probabilities.size(0)}, at::kDouble), scores, level);
}

SetReport set_report(const PredictionSet& set, const at::Tensor& y, const at::Tensor& weight) {
  check_shape(y, {set.size(0)}, "set_report", "y");
  check_classes(y, set.size(1), "set_report");
  const at::Tensor size = set.sum(1).to(at::kDouble);
  const at::Tensor held = set.gather(1, y.to(at::kLong).unsqueeze(1)).to(at::kDouble);
  const auto mean = [&](const at::Tensor& x) { return row_mean(x, weight, "set_report"); };
  return {mean(held.squeeze(1)), mean(size), mean((size == 0).to(at::kDouble))};
}

}  // namespace slimbayes
