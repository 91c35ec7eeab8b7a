// Adaptive prediction sets by split conformal calibration.
//
// Problem     A classifier's probabilities may be wrong everywhere; a decision needs the classes that cannot
//             be ruled out.
// Method      Rank the classes of a row by probability and sum the probabilities until they reach a
//             threshold. The threshold is the conformal quantile of the sums at which the calibration rows
//             reached their own class (Romano, Sesia and Candes 2020). The class at the threshold counts with
//             a uniform random share u, so that the level is met exactly and not exceeded by up to a whole
//             class. A model that is right more often than the level therefore gives some empty sets.
// Randomness  u is a function of the row's inputs, so that an answer does not depend on the row's neighbours
//             or its place in the batch. The score stays a fixed function of (x, y), which is all that
//             exchangeability requires.
#include "slimbayes/core/prediction_set.h"

#include <ATen/ATen.h>

#include <string_view>

#include "slimbayes/core/check.h"
#include "slimbayes/core/class_likelihood.h"
#include "slimbayes/core/random.h"

namespace slimbayes {

namespace {

/// Returns the score of every class. [n, C]
at::Tensor all_scores(const Classes& p, const at::Tensor& u, const char* function) {
  check_shape(p.probabilities, {-1, -1}, function, "probabilities");
  check_shape(u, {p.probabilities.size(0)}, function, "u");
  const auto [sorted, order] = at::sort(p.probabilities, /*stable=*/true, /*dim=*/1, /*descending=*/true);
  const at::Tensor before = sorted.cumsum(1) - sorted;  // total probability of the more probable classes
  return at::empty_like(sorted).scatter_(1, order, before + u.unsqueeze(1) * sorted);
}

}  // namespace

at::Tensor row_uniforms(const at::Tensor& inputs) {
  const int64_t n = inputs.size(0);
  const at::Tensor rows = (inputs.reshape({n, -1}) + 0).contiguous();  // turns -0 into 0
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
  // A score is a sum of C probabilities, and rounding must not exclude the calibration row at the threshold.
  return all_scores(p, u, "prediction_set") <= conformal_factor(scores, level) * (1 + 1e-9);
}

PredictionSet deterministic_set(const Classes& p, const ConformalScores& scores, double level) {
  // The score grows with u: with u = 0 it is the least that the class can have.
  return prediction_set(p, at::zeros({p.probabilities.size(0)}, at::kDouble), scores, level);
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
