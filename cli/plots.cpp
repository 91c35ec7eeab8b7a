// Plots of an evaluation: the error of the rows that selective prediction keeps, the reliability diagram of
// classes, the calibration curve of a regression, the scores of foreign rows beside those of the others.
#include "cli/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/report/chart.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"

namespace slimbayes::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kSelective = "selective.svg", *kReliability = "reliability.svg",
                     *kCalibration = "calibration.svg", *kScores = "scores.svg";
constexpr const char* kColours[] = {"blue", "orange", "green", "purple"};
constexpr double kHeadroom = 1.1;

Mark line(const std::string& label, const std::string& colour, std::vector<double> x, std::vector<double> y) {
  return {Mark::Kind::line, label, colour, 1, std::move(x), std::move(y), {}, false, 2};
}

Mark diagonal() {
  return {Mark::Kind::line, "calibrated", "grey", 1, {0, 1}, {0, 1}, {}, /*dashed=*/true, 1.2};
}

/// One line for each score: the error rate (classes) or the MAE of the kept rows, against the share kept in
/// per cent.
Chart selective_chart(const SelectiveReport& selective) {
  const bool classes = selective.by.begin()->second.accuracy.has_value();
  std::vector<double> share = selective.share;
  std::ranges::reverse(share);  // ascending
  for (double& x : share) x *= 100;
  Panel panel{"", classes ? "share of wrong answers" : "mean absolute error", {}};
  double most = 0;
  for (const auto& [score, kept] : selective.by) {
    std::vector<double> risk = (classes ? kept.accuracy : kept.mae).value();
    std::ranges::reverse(risk);
    for (double& x : risk) x = classes ? 1 - x : x;
    most = std::max(most, std::ranges::max(risk));
    const size_t i = panel.marks.size();
    panel.marks.push_back(line(score, kColours[i % std::size(kColours)], share, risk));
    panel.marks.back().dashed = i % 2 == 1;  // shows a line below it with the same points
  }
  return {"Only the most certain rows answered", "rows kept, %",
          classes ? "error rate" : "MAE",        {share.front(), share.back()},
          {0, most > 0 ? kHeadroom * most : 1},  {panel}};
}

/// One circle for each bin, its area proportional to the number of rows, and its distance from the diagonal.
Chart reliability_chart(const ReliabilityBins& bins, double ece) {
  constexpr double kLargest = 7;  // radius of the bin with most rows, in pixels
  const std::vector<double>&confidence = bins.confidence, &accuracy = bins.accuracy;
  const std::vector<double> rows(bins.rows.begin(), bins.rows.end());
  Panel panel{"", fmt::format("ECE {:.3f}; the area of a circle is its rows", ece), {diagonal()}};
  for (size_t i = 0; i < rows.size(); ++i) {
    const double x = confidence[i];
    panel.marks.push_back(line(i == 0 ? "gap" : "", "orange", {x, x}, {x, accuracy[i]}));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const double radius = kLargest * std::sqrt(rows[i] / std::ranges::max(rows));
    panel.marks.push_back({Mark::Kind::points,
                           i == 0 ? "rows of a bin" : "",
                           "blue",
                           0.8,
                           {confidence[i]},
                           {accuracy[i]},
                           {},
                           false,
                           radius});
  }
  return {"Reliability of the most probable class", "confidence", "accuracy", {0, 1}, {0, 1}, {panel}};
}

Chart calibration_chart(const CurveFact& curve) {
  Panel panel{"", fmt::format("mean distance {:.3f}", curve.area), {diagonal()}};
  panel.marks.push_back(line("total sd", kColours[0], curve.level, curve.coverage));
  if (curve.coverage_epistemic)
    panel.marks.push_back(line("epistemic sd alone", kColours[1], curve.level, *curve.coverage_epistemic));
  return {"Coverage of the Gaussian intervals", "level", "share of rows inside", {0, 1}, {0, 1}, {panel}};
}

/// The outline of a histogram, as the share of its rows in each of its bins, whose ends are at 0 and 1.
Mark outline(const std::string& label, const std::string& colour, const std::vector<int64_t>& counts,
             double& most) {
  const auto bins = static_cast<double>(counts.size());
  const double rows = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  std::vector<double> x, y;
  for (size_t i = 0; i < counts.size(); ++i) {
    for (size_t end : {i, i + 1}) {
      x.push_back(static_cast<double>(end) / bins);
      y.push_back(static_cast<double>(counts[i]) / rows);
    }
    most = std::max(most, y.back());
  }
  return line(label, colour, std::move(x), std::move(y));
}

/// A panel for each of the scores that separate the foreign rows best, three at most.
Chart scores_chart(const SeparationReport& ood) {
  constexpr size_t kPanels = 3;
  std::vector<std::pair<double, std::string>> best;
  for (const auto& [score, auroc] : ood.auroc) best.emplace_back(-auroc, score);
  std::ranges::sort(best);
  std::vector<Panel> panels;
  double most = 0;
  for (const auto& [negated, name] : best) {
    if (panels.size() == kPanels) break;
    const SeparationHistogram& bins = ood.histogram.at(name);
    panels.push_back({name,
                      fmt::format("AUROC {:.3f}", -negated),
                      {outline("evaluated", kColours[0], bins.inside, most),
                       outline("foreign", kColours[1], bins.outside, most)}});
  }
  return {"Scores of foreign rows", "score, from its 1 % to its 99 % quantile",
          "share of the rows",      {0, 1},
          {0, kHeadroom * most},    std::move(panels)};
}

/// Returns the reliability of classes; of segmentation the one by pixel, which the report has.
ReliabilityBins bins_of(const AnswerMetrics& metrics) {
  if (metrics.uncertainty) return metrics.uncertainty->reliability.value();
  const PixelBins& pixels = metrics.evaluation.pixels.value().reliability;
  return {pixels.confidence, pixels.accuracy, {pixels.rows.begin(), pixels.rows.end()}};
}

}  // namespace

std::vector<fs::path> plot_files(const std::string& folder, const Task& task, bool foreign) {
  if (folder.empty()) return {};
  check(task.kind != TaskKind::events, "evaluate", "a model of numbers, classes or counts for --plots",
        "one of events", "leave --plots out");
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw DataError(folder, "expected a folder that can be made for --plots; " + failed.message());
  std::vector<fs::path> files;
  if (!task.grid) files.push_back(fs::path(folder) / kSelective);
  if (task.kind == TaskKind::classification) files.push_back(fs::path(folder) / kReliability);
  if (task.kind == TaskKind::regression) files.push_back(fs::path(folder) / kCalibration);
  if (foreign) files.push_back(fs::path(folder) / kScores);
  for (const fs::path& file : files) check_writable(file);
  return files;
}

void write_plot(const fs::path& file, const AnswerMetrics& metrics,
                const std::optional<SeparationReport>& ood) {
  const std::string name = file.filename().string();
  const std::string image =
      svg(name == kReliability   ? reliability_chart(bins_of(metrics), metrics.evaluation.classes.value().ece)
          : name == kScores      ? scores_chart(ood.value())
          : name == kCalibration ? calibration_chart(metrics.uncertainty.value().calibration_curve.value())
                                 : selective_chart(metrics.uncertainty.value().selective));
  write_atomically(file, std::as_bytes(std::span(image)));
}

}  // namespace slimbayes::cli
