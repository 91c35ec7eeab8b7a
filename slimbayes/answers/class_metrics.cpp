// Metrics of class probabilities. NLL and Brier score are proper scores: the true probabilities have the best
// expected score (Gneiting and Raftery, JASA 2007). The calibration error looks only at the most probable
// class of each row (Guo et al., On calibration of modern neural networks, ICML 2017). Bins of equal mass are
// the default, because most bins of equal width may be empty.

#include "slimbayes/answers/class_metrics.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "slimbayes/answers/ranking.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

// Returns y as int64 after checking that p and y have the same number of rows, at least one, that all
// probabilities are finite, and that y holds class numbers. Otherwise throws std::invalid_argument. [n]
at::Tensor checked(const Classes& p, const at::Tensor& y, const char* function) {
  check_shape(y, {-1}, function, "y");
  int64_t n = y.size(0);
  check(n > 0, function, "at least one row", "none");
  check_shape(p.probabilities, {n, -1}, function, "probabilities");
  check_finite(p.probabilities, function, "probabilities");
  int64_t classes = p.probabilities.size(1);
  bool known = ((y >= 0) & (y < classes) & (y == at::floor(y.to(at::kDouble)))).all().item<bool>();
  if (!known) refuse(function, fmt::format("class numbers 0 to {}", classes - 1), "another one");
  return y.to(at::kLong);
}

/// Returns the number of the bin of each row, from its confidence [n]. [n] int64
at::Tensor bin_of(const at::Tensor& confidence, Bins kind, int64_t bins, const at::Tensor& weight) {
  if (kind == Bins::equal_width)  // bins are (low, high]
    return (at::ceil(confidence * bins) - 1).clamp(0, bins - 1).to(at::kLong);
  const auto [sorted, order] = confidence.sort();
  at::Tensor less_confident = at::searchsorted(sorted, confidence);
  if (!weight.defined()) return at::floor_divide(less_confident * bins, confidence.size(0));
  const at::Tensor before = weight_before(weight.index_select(0, order));
  // The factor 1 + 1e-12 keeps the rounding of the sums from moving a row that begins a bin to the one
  // before.
  const at::Tensor place = before.index_select(0, less_confident) / before[-1] * bins * (1 + 1e-12);
  return place.floor().clamp(0, bins - 1).to(at::kLong);
}

/// Returns the expected calibration errors with numbers of bins other than 15.
OtherBins other_bins(const Classes& p, const at::Tensor& y, const at::Tensor& weight) {
  const auto error = [&](Bins kind, int64_t bins) {
    return calibration_error(p, y, kind, bins, weight).expected;
  };
  return {error(Bins::equal_mass, 10),  error(Bins::equal_mass, 20),  error(Bins::equal_mass, 30),
          error(Bins::equal_width, 10), error(Bins::equal_width, 20), error(Bins::equal_width, 30)};
}

}  // namespace

double accuracy(const Classes& p, const at::Tensor& y, const at::Tensor& weight) {
  at::Tensor label = checked(p, y, "accuracy");
  return row_mean(predicted_class(p) == label, weight, "accuracy");
}

at::Tensor class_row_nll(const Classes& p, const at::Tensor& y) {
  at::Tensor label = checked(p, y, "class_nll");
  at::Tensor own = p.probabilities.to(at::kDouble).gather(1, label.unsqueeze(1)).squeeze(1);
  return -at::log(own.clamp_min(std::numeric_limits<double>::min()));
}

double class_nll(const Classes& p, const at::Tensor& y, const at::Tensor& weight) {
  return row_mean(class_row_nll(p, y), weight, "class_nll");
}

double brier(const Classes& p, const at::Tensor& y, const at::Tensor& weight) {
  at::Tensor label = checked(p, y, "brier");
  at::Tensor truth = at::zeros_like(p.probabilities).scatter(1, label.unsqueeze(1), 1.0);
  return row_mean((p.probabilities - truth).square().sum(1), weight, "brier");
}

CalibrationError calibration_error(const Classes& p, const at::Tensor& y, Bins kind, int64_t bins,
                                   const at::Tensor& weight) {
  at::Tensor label = checked(p, y, "calibration_error");
  if (!(bins > 0)) refuse("calibration_error", "bins > 0", std::to_string(bins));
  auto [confidence, top] = p.probabilities.max(1);
  const at::Tensor w = checked_weight(weight, label.size(0), "calibration_error");
  at::Tensor right = (top == label).to(at::kDouble), bin = bin_of(confidence, kind, bins, w);
  int64_t n = label.size(0);
  if (w.defined()) {
    const at::Tensor gap = at::bincount(bin, (right - confidence) * w, bins).abs();
    const at::Tensor mass = at::bincount(bin, w, bins);
    return {(gap.sum() / w.sum()).item<double>(), at::where(mass > 0, gap / mass, 0.0).max().item<double>()};
  }
  // For each bin, the number of its rows times |accuracy - mean confidence|. [bins]
  at::Tensor gap = at::bincount(bin, right - confidence, bins).abs();
  at::Tensor rows = at::bincount(bin, {}, bins).to(at::kDouble);
  return {gap.sum().item<double>() / static_cast<double>(n), (gap / rows.clamp_min(1)).max().item<double>()};
}

Reliability reliability(const Classes& p, const at::Tensor& y, Bins kind, int64_t bins,
                        const at::Tensor& weight) {
  at::Tensor label = checked(p, y, "reliability");
  if (!(bins > 0)) refuse("reliability", "bins > 0", std::to_string(bins));
  auto [confidence, top] = p.probabilities.to(at::kDouble).max(1);
  const at::Tensor w = checked_weight(weight, label.size(0), "reliability");
  at::Tensor bin = bin_of(confidence, kind, bins, w), rows = at::bincount(bin, {}, bins);
  at::Tensor used = rows.nonzero().squeeze(1), held = rows.index_select(0, used);
  const at::Tensor mass = w.defined() ? at::bincount(bin, w, bins).index_select(0, used) : held;
  const auto mean_in_bin = [&](const at::Tensor& x) {
    return at::bincount(bin, w.defined() ? x * w : x, bins).index_select(0, used) / mass;
  };
  return {mean_in_bin(confidence), mean_in_bin((top == label).to(at::kDouble)), held,
          w.defined() ? mass : at::Tensor()};
}

ErrorsReport errors_report(const Classes& p, const at::Tensor& y, const Scores& uncertainty,
                           const at::Tensor& weight) {
  const at::Tensor wrong = predicted_class(p) != checked(p, y, "errors_report"), right = ~wrong;
  const int64_t n = y.size(0), errors = wrong.sum().item<int64_t>();
  ErrorsReport report{errors, static_cast<double>(errors) / static_cast<double>(n)};
  const at::Tensor w = checked_weight(weight, n, "errors_report");
  if (w.defined()) report.rate = row_mean(wrong, w, "errors_report");
  if (errors == 0 || errors == n) {
    report.absent = errors == 0 ? "no row is wrong" : "no row is right";
    return report;
  }
  std::map<std::string, double>&err = report.aupr_err.emplace(), &succ = report.aupr_succ.emplace();
  for (const auto& [name, score] : uncertainty) {
    check_shape(score, {n}, "errors_report", name);
    const at::Tensor of_right = score.masked_select(right), of_wrong = score.masked_select(wrong);
    const at::Tensor w_right = w.defined() ? w.masked_select(right) : w,
                     w_wrong = w.defined() ? w.masked_select(wrong) : w;
    err[name] = average_precision(of_right, of_wrong, w_right, w_wrong);
    succ[name] = average_precision(-of_wrong, -of_right, w_wrong, w_right);
  }
  return report;
}

at::Tensor confusion(const Classes& p, const at::Tensor& y, const at::Tensor& weight) {
  at::Tensor label = checked(p, y, "confusion");
  int64_t classes = p.probabilities.size(1);
  at::Tensor cell = label * classes + predicted_class(p);
  const at::Tensor w = checked_weight(weight, label.size(0), "confusion");
  return at::bincount(cell, w, classes * classes).reshape({classes, classes});
}

at::Tensor f1_scores(const at::Tensor& counts) {
  check_shape(counts, {-1, counts.dim() == 2 ? counts.size(0) : 0}, "f1_scores", "counts");
  at::Tensor either = (counts.sum(0) + counts.sum(1)).to(at::kDouble);  // TP + FN + TP + FP [C]
  return 2 * counts.diagonal().to(at::kDouble) / either;                // 0 / 0 gives NaN
}

std::vector<std::vector<int64_t>> listed_counts(const at::Tensor& counts) {
  const int64_t classes = counts.size(0);
  std::vector<std::vector<int64_t>> rows;
  for (int64_t c = 0; c < classes; ++c) {
    const int64_t* row = counts.const_data_ptr<int64_t>() + c * classes;
    rows.emplace_back(row, row + classes);
  }
  return rows;
}

Evaluation classes_report(const Classes& p, const at::Tensor& y, const std::vector<std::string>& levels,
                          const at::Tensor& weight) {
  constexpr int64_t kMostInAMatrix = 100;
  const int64_t classes = p.probabilities.size(-1);
  if (std::ssize(levels) != classes)
    refuse("report", fmt::format("the names of {} classes", classes), fmt::format("{} names", levels.size()));
  at::Tensor label = checked(p, y, "classes_report");
  const at::Tensor w = checked_weight(weight, y.size(0), "classes_report");
  Evaluation out{.n = y.size(0), .nll = class_nll(p, y, w)};
  set_weight(w, out);
  ClassScores& scores = out.classes.emplace();
  scores.accuracy = accuracy(p, y, w);
  scores.brier = brier(p, y, w);
  CalibrationError mass = calibration_error(p, y, Bins::equal_mass, 15, w);
  scores.ece = mass.expected;
  scores.mce = mass.maximum;
  scores.ece_width = calibration_error(p, y, Bins::equal_width, 15, w).expected;
  scores.other_bins = other_bins(p, y, w);
  at::Tensor share = at::bincount(label, w).to(at::kDouble) / total_weight(w, y.size(0));
  if (double constant = -at::xlogy(share, share).sum().item<double>(); constant > 0)
    out.nll_constant = constant;
  scores.base_rate = share.max().item<double>();
  scores.base_class = levels.at(static_cast<size_t>(share.argmax().item<int64_t>()));
  scores.classes = levels;
  at::Tensor f1 = f1_scores(confusion(p, y, w));
  scores.f1_macro = at::nanmean(f1).item<double>();
  if (classes == 2 && f1[1].isfinite().item<bool>()) scores.f1 = f1[1].item<double>();
  if (classes <= kMostInAMatrix) scores.confusion = listed_counts(confusion(p, y));
  int64_t positives = (label == 1).sum().item<int64_t>();
  if (classes == 2 && positives > 0 && positives < y.size(0)) {
    at::Tensor score = p.probabilities.select(1, 1);
    at::Tensor no = score.masked_select(label == 0), yes = score.masked_select(label == 1);
    const at::Tensor w_no = w.defined() ? w.masked_select(label == 0) : w,
                     w_yes = w.defined() ? w.masked_select(label == 1) : w;
    scores.auroc = auroc(no, yes, w_no, w_yes);
    scores.aupr = average_precision(no, yes, w_no, w_yes);
  }
  return out;
}

}  // namespace slimbayes
