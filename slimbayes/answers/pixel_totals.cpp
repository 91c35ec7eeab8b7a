#include "slimbayes/answers/pixel_totals.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/answers/pixels.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

constexpr int64_t kWidthBins = 15;
constexpr const char* kMaxSoftmax = "max_softmax";

double sum_of(const at::Tensor& x) { return x.sum(at::kDouble).item<double>(); }

std::vector<double> listed_numbers(const at::Tensor& x) {
  const at::Tensor flat = x.to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

}  // namespace

PixelTotals::PixelTotals(std::vector<std::string> levels)
    : levels_(std::move(levels)),
      confusion_(at::zeros({std::ssize(levels_), std::ssize(levels_)}, at::kLong)),
      gaps_(at::zeros({kWidthBins}, at::kDouble)) {}

void PixelTotals::add(const Classes& all, const at::Tensor& target) {
  const auto classes = std::ssize(levels_);
  check_shape(target, {all.probabilities.size(0)}, "PixelTotals", "y");
  check_shape(all.probabilities, {-1, classes}, "PixelTotals", "probabilities");
  const at::Tensor known = (target != kVoid).nonzero().squeeze(1);
  void_ += target.size(0) - known.size(0);
  if (known.size(0) == 0) return;
  const Predictive labelled = take(all, known);
  const auto& p = std::get<Classes>(labelled);
  const at::Tensor y = target.index_select(0, known);
  confusion_.add_(confusion(p, y));
  nll_ += sum_of(class_row_nll(p, y));
  brier_ += brier(p, y) * static_cast<double>(y.size(0));
  const at::Tensor wrong = predicted_class(p) != y, confidence = std::get<0>(p.probabilities.max(1));
  const at::Tensor bin = (at::ceil(confidence * kWidthBins) - 1).clamp(0, kWidthBins - 1).to(at::kLong);
  gaps_.add_(at::bincount(bin, wrong.logical_not().to(at::kDouble) - confidence, kWidthBins));
  for (const auto& [name, score] : scores(labelled, "")) {
    scores_[name].add(score.clamp_min(0), wrong);  // rounding can make 1 - p or an entropy negative
    if (name == "entropy") entropy_ += sum_of(score);
    if (name == "mutual_information") information_ += sum_of(score);
  }
}

Evaluation PixelTotals::report() const {
  const at::Tensor own = confusion_.sum(1), right = confusion_.diagonal().to(at::kDouble);
  const int64_t pixels = own.sum().item<int64_t>();
  check(pixels > 0, "evaluate", "a pixel with a class in the images", "label maps that are void everywhere",
        "give images with labels");
  const auto n = static_cast<double>(pixels);
  const at::Tensor share = own.to(at::kDouble) / n;
  Evaluation out{.nll = nll_ / n};
  if (const double constant = -sum_of(at::xlogy(share, share)); constant > 0) out.nll_constant = constant;
  ClassScores& scores = out.classes.emplace();
  scores.accuracy = sum_of(right) / n;
  scores.brier = brier_ / n;
  scores.f1_macro = at::nanmean(f1_scores(confusion_)).item<double>();
  scores.base_rate = share.max().item<double>();
  scores.base_class = levels_.at(static_cast<size_t>(share.argmax().item<int64_t>()));
  scores.classes = levels_;
  scores.confusion = listed_counts(confusion_);
  PixelScores& by_pixel = out.pixels.emplace();
  by_pixel.pixels = pixels;
  by_pixel.unlabelled = void_;
  by_pixel.mean_entropy = entropy_ / n;
  by_pixel.mean_mutual_information = information_ / n;
  by_pixel.errors = errors();
  add_classes(by_pixel);
  add_calibration(scores, by_pixel.reliability);
  return out;
}

void PixelTotals::add_classes(PixelScores& scores) const {
  const at::Tensor own = confusion_.sum(1), right = confusion_.diagonal().to(at::kDouble), there = own > 0;
  const at::Tensor iou = right / (own + confusion_.sum(0) - confusion_.diagonal()), recall = right / own;
  scores.miou = iou.masked_select(there).mean().item<double>();
  scores.mpa = recall.masked_select(there).mean().item<double>();
  for (int64_t c = 0; c < std::ssize(levels_); ++c) {
    const std::string& name = levels_[static_cast<size_t>(c)];
    if (!there[c].item<bool>()) {
      scores.absent.push_back(name);
      continue;
    }
    scores.iou[name] = iou[c].item<double>();
    scores.class_accuracy[name] = recall[c].item<double>();
  }
}

void PixelTotals::add_calibration(ClassScores& scores, PixelBins& bins) const {
  const Reliability r = scores_.at(kMaxSoftmax).reliability();
  const at::Tensor gap = (r.accuracy - r.confidence).abs(), rows = r.rows.to(at::kDouble);
  scores.ece = sum_of(gap * rows) / sum_of(rows);
  scores.mce = gap.max().item<double>();
  scores.ece_width = sum_of(gaps_.abs()) / sum_of(rows);
  bins = {listed_numbers(r.confidence), listed_numbers(r.accuracy), listed_numbers(r.rows)};
  if (r.weight.defined()) bins.weight = listed_numbers(r.weight);
}

ErrorsReport PixelTotals::errors() const {
  const ScoreBins& any = scores_.at(kMaxSoftmax);
  const int64_t wrong = any.wrong(), all = any.rows();
  ErrorsReport report{wrong, static_cast<double>(wrong) / static_cast<double>(all)};
  if (wrong == 0 || wrong == all) {
    report.absent = wrong == 0 ? "no pixel is wrong" : "no pixel is right";
    return report;
  }
  auto &aurocs = report.auroc.emplace(), &bounds = report.bound.emplace(),
       &precisions = report.aupr_err.emplace();
  for (const auto& [name, bins] : scores_) {
    const ScoreBins::Auroc auroc = bins.auroc();
    aurocs[name] = auroc.value;
    bounds[name] = auroc.bound;
    precisions[name] = bins.average_precision();
  }
  return report;
}

}  // namespace slimbayes
