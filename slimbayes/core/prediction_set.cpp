// Adaptive prediction sets by split conformal calibration.
//
// Problem     A classifier's probabilities may be wrong everywhere; a decision needs the classes that cannot be ruled out.
// Method      Rank the classes of a row by probability and add them up until the sum reaches a threshold, the conformal
//             quantile of the sums that the calibration rows needed for their own class (Romano, Sesia and Candes 2020).
//             The class on the threshold counts by a share u, uniform, so that the level is held exactly and not by a
//             whole class too much: a model that is right more often than the level gives empty sets.
// Randomness  u is a function of the row's inputs, so that an answer does not depend on its neighbours or its place, and
//             the score stays one function of (x, y), which is all that exchangeability needs.
#include "slimbayes/core/prediction_set.h"

#include <ATen/ATen.h>

#include <string_view>

#include "slimbayes/core/check.h"
#include "slimbayes/core/class_likelihood.h"
#include "slimbayes/core/random.h"

namespace slimbayes {

namespace {

/// Every class's score. [n, C]
at::Tensor all_scores(const Classes& p, const at::Tensor& u, const char* function) {
  check_shape(p.probabilities, {-1, -1}, function, "probabilities");
  check_shape(u, {p.probabilities.size(0)}, function, "u");
  const auto [sorted, order] = at::sort(p.probabilities, /*stable=*/true, /*dim=*/1, /*descending=*/true);
  const at::Tensor before = sorted.cumsum(1) - sorted;  // of the more probable ones
  return at::empty_like(sorted).scatter_(1, order, before + u.unsqueeze(1) * sorted);
}

}  // namespace

at::Tensor row_uniforms(const at::Tensor& inputs) {
  const int64_t n = inputs.size(0);
  const at::Tensor rows = (inputs.reshape({n, -1}) + 0).contiguous();  // -0 is 0
  const auto* bytes = static_cast<const char*>(rows.const_data_ptr());
  const size_t width = static_cast<size_t>(rows.size(1)) * rows.element_size();
  const Stream stream = Stream(0).split("prediction set");
  at::Tensor u = at::empty({n}, at::kDouble);
  for (int64_t i = 0; i < n; ++i)
    u.data_ptr<double>()[i] =
        stream.split(std::string_view(bytes + static_cast<size_t>(i) * width, width)).uniform(uint64_t{0});
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
  // A score is a sum of C probabilities: the calibration row on the threshold must not be rounded out.
  return all_scores(p, u, "prediction_set") <= conformal_factor(scores, level) * (1 + 1e-9);
}

nlohmann::json set_report(const PredictionSet& set, const at::Tensor& y) {
  check_shape(y, {set.size(0)}, "set_report", "y");
  check_classes(y, set.size(1), "set_report");
  const at::Tensor size = set.sum(1).to(at::kDouble);
  const at::Tensor held = set.gather(1, y.to(at::kLong).unsqueeze(1)).to(at::kDouble);
  return {{"coverage", held.mean().item<double>()},
          {"set_size", size.mean().item<double>()},
          {"empty", (size == 0).to(at::kDouble).mean().item<double>()}};
}

}  // namespace slimbayes
