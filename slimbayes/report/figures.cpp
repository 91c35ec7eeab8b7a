#include "slimbayes/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/report/figure_parts.h"
#include "slimbayes/report/time_ticks.h"
#include "slimbayes/report/wording.h"

namespace slimbayes {

Chart predicted_figure(const PredictedRows& predicted, const std::string& target) {
  const std::vector<double>&y = predicted.target, &mean = predicted.mean, &lower = predicted.lower,
        &upper = predicted.upper;
  Mark inside{Mark::Kind::points, "inside its interval", "blue", 0.75, {}, {}, {}, false, 2},
      outside{Mark::Kind::points, "outside", "orange", 0.95, {}, {}, {}, false, 2.4};
  for (size_t i = 0; i < y.size(); ++i) {
    Mark& mark = y[i] >= lower[i] && y[i] <= upper[i] ? inside : outside;
    mark.x.push_back(mean[i]);
    mark.y.push_back(y[i]);
  }
  const Extent x = padded(extent_of(mean, 0));
  const Extent targets = extent_of(y, 0), low = extent_of(lower, 0.02), high = extent_of(upper, 0.02);
  const Extent both = padded({std::min(targets.low, low.low), std::max(targets.high, high.high)});
  const double opacity = std::clamp(60 / static_cast<double>(y.size()), 0.16, 0.6);
  Panel panel{"",
              "",
              {{Mark::Kind::ranges, "interval", "grey", opacity, mean, lower, upper, false, 1.4},
               {Mark::Kind::line, "as predicted", "grey", 1, {x.low, x.high}, {x.low, x.high}, {}, true, 1.2},
               inside,
               outside}};
  return {"Predicted against observed", "predicted mean", "observed " + target, x, both, {panel}};
}

Chart calibration_figure(const CalibrationFact& calibration) {
  Panel panel{"", "", {diagonal_mark("calibrated")}};
  const std::vector<double>&level = calibration.level, &coverage = calibration.coverage;
  panel.marks.push_back({Mark::Kind::band, "", "blue", 0.12, level, /*below=*/level, coverage});
  panel.marks.push_back(line_mark("model", "blue", level, coverage));
  panel.marks.push_back({Mark::Kind::points, "", "blue", 1, level, coverage, {}, false, 2.6});
  if (calibration.level_calibrated) {
    const std::vector<double>&at = *calibration.level_calibrated, &held = *calibration.coverage_calibrated;
    panel.marks.push_back(line_mark("conformal", "orange", at, held));
    panel.marks.push_back({Mark::Kind::points, "", "orange", 1, at, held, {}, false, 2.6});
  }
  return {"Coverage of the intervals of each level",
          "nominal level",
          "share of rows inside",
          {0, 1},
          {0, 1},
          {panel}};
}

Chart pit_figure(const PitFact& pit) {
  const std::vector<double>& share = pit.share;
  const auto& [low, high] = pit.band;
  const auto bins = static_cast<double>(share.size());
  const double most = std::max(std::ranges::max(share), high);
  Panel panel{"",
              "",
              {{Mark::Kind::band, "what chance explains", "grey", 0.3, {0, 1}, {low, low}, {high, high}},
               {Mark::Kind::bars, "rows", "blue", 0.6, edges_of_bins(share.size(), 0, 1), share},
               {Mark::Kind::line, "flat", "grey", 1, {0, 1}, {1 / bins, 1 / bins}, {}, true, 1.2}}};
  return {"Histogram of the probability integral transform",
          "predicted probability of a smaller target",
          "share of the rows",
          {0, 1},
          {0, kFigureHeadroom * most},
          {panel}};
}

namespace {

/// Adds the means of the parts of the rows with their standard errors, at the places `x`.
void add_means(const std::vector<ResidualPart>& parts, const std::vector<double>& x, bool joined,
               Panel& panel) {
  std::vector<double> mean, low, high;
  for (const ResidualPart& part : parts) {
    const double error = part.sd / std::sqrt(static_cast<double>(part.rows));
    mean.push_back(part.mean);
    low.push_back(part.mean - 1.96 * error);
    high.push_back(part.mean + 1.96 * error);
  }
  panel.marks.push_back({Mark::Kind::ranges, "", "orange", 1, x, low, high, false, 1.6});
  if (joined) panel.marks.push_back(line_mark("", "orange", x, mean));
  panel.marks.push_back({Mark::Kind::points, "", "orange", 1, x, mean, {}, false, 3});
}

}  // namespace

Chart residual_figure(const ResidualFact& residual) {
  constexpr double kNormal = 1.96, kLeastY = 3.5, kMostY = 6;
  const std::vector<ResidualPart>& parts = residual.parts;
  const std::string& column = residual.column;
  Panel panel{"", "", {}};
  std::vector<double> x;
  Chart chart{"Residuals by " + column, shortened_text(column, 44),
              "(y - mean) / sd",        {0, 1},
              {-kLeastY, kLeastY},      {}};
  const bool levels = !residual.points;
  double most = kLeastY;
  if (levels) {
    const size_t room = std::max<size_t>(2, 36 / std::max<size_t>(parts.size(), 1));
    for (size_t i = 0; i < parts.size(); ++i) {
      x.push_back(static_cast<double>(i));
      chart.x_ticks.push_back({x.back(), shortened_text(*parts[i].level, room)});
    }
    chart.x = {-0.5, static_cast<double>(parts.size()) - 0.5};
  } else {
    for (const ResidualPart& part : parts) x.push_back(*part.x);
    const auto& [px, pz] = *residual.points;
    chart.x = padded(visible_extent(px));
    panel.marks.push_back({Mark::Kind::points, "", "blue", 0.4, px, pz, {}, false, 1.6});
    for (double z : pz) most = std::max(most, std::min(std::abs(z) * 1.05, kMostY));
    chart.x_ticks = ticks_for_column(residual.kind, chart.x, 3);
  }
  chart.y = {-most, most};
  for (double z : {-kNormal, 0.0, kNormal})
    panel.marks.push_back({Mark::Kind::line,
                           "",
                           "grey",
                           1,
                           {chart.x.low, chart.x.high},
                           {z, z},
                           {},
                           z != 0,
                           z == 0 ? 1.0 : 0.8});
  add_means(parts, x, !levels, panel);
  chart.panels = {panel};
  return chart;
}

Chart score_figure(const std::string& name, const ScoreHistogram& histogram, const std::string& noun) {
  const std::vector<double>&edges = histogram.edges, &rows = histogram.rows;
  const bool split = histogram.outside && std::ranges::max(*histogram.outside) > 0;
  Panel panel{"", "", {{Mark::Kind::bars, split ? noun + "s" : "", "blue", 0.65, edges, rows}}};
  if (split)
    panel.marks.push_back(
        {Mark::Kind::bars, "outside the training range", "orange", 0.9, edges, *histogram.outside});
  return {"Histogram of " + name,
          words_of_score(name),
          noun + "s",
          {edges.front(), edges.back()},
          {0, kFigureHeadroom * std::max(std::ranges::max(rows), 1.0)},
          {panel}};
}

Chart reliability_figure(const ReliabilityFact& reliability) {
  constexpr double kLargest = 7;
  const std::vector<double>&confidence = reliability.bins.confidence, &accuracy = reliability.bins.accuracy;
  const std::vector<double> rows(reliability.bins.rows.begin(), reliability.bins.rows.end());
  Panel panel{"", "", {diagonal_mark("calibrated")}};
  panel.marks.push_back(
      {Mark::Kind::ranges, "gap", "orange", 0.9, confidence, confidence, accuracy, false, 2});
  for (size_t i = 0; i < rows.size(); ++i)
    panel.marks.push_back({Mark::Kind::points,
                           i == 0 ? "bin, by its rows" : "",
                           "blue",
                           0.8,
                           {confidence[i]},
                           {accuracy[i]},
                           {},
                           false,
                           std::max(2.0, kLargest * std::sqrt(rows[i] / std::ranges::max(rows)))});
  return {"Reliability of the most probable class", "confidence", "accuracy", {0, 1}, {0, 1}, {panel}};
}

Chart selective_figure(const SelectiveFact& selective) {
  Panel panel{"", "", {}};
  double least = 1;
  size_t i = 0;
  for (const auto& [score, accuracy] : selective.by) {
    least = std::min(least, std::ranges::min(accuracy));
    panel.marks.push_back(
        line_mark("by " + words_of_score(score), i++ == 0 ? "blue" : "orange", selective.share, accuracy));
  }
  const double low = std::max(0.0, std::floor((least - 0.03) * 20) / 20);
  return {"Accuracy of the surest answers",
          "share of the rows answered, the surest first",
          "accuracy",
          {0, 1},
          {low, 1.0 + 0.02 * (1 - low)},
          {panel}};
}

Chart entropy_figure(const EntropyFact& entropy, const std::string& noun) {
  const std::vector<double>&edges = entropy.edges, &right = entropy.right, &wrong = entropy.wrong;
  std::vector<double> all;
  for (size_t i = 0; i < right.size(); ++i) all.push_back(right[i] + wrong[i]);
  Panel panel{"",
              "",
              {{Mark::Kind::bars, "right", "blue", 0.65, edges, all},
               {Mark::Kind::bars, "wrong", "orange", 0.95, edges, wrong}}};
  return {"Entropy of the answers",
          "entropy, nats",
          noun + "s",
          {edges.front(), edges.back()},
          {0, kFigureHeadroom * std::max(std::ranges::max(all), 1.0)},
          {panel}};
}

Chart set_size_figure(const SetFact& sets, const std::string& noun) {
  const std::vector<double>& sizes = sets.sizes;
  Panel panel{"", "", {}};
  std::vector<double> edges;
  for (size_t i = 0; i <= sizes.size(); ++i) edges.push_back(static_cast<double>(i) - 0.5);
  panel.marks.push_back({Mark::Kind::bars, "", "blue", 0.65, edges, sizes});
  Chart chart{"Sizes of the sets",
              "classes in the set",
              noun + "s",
              {edges.front(), edges.back()},
              {0, kFigureHeadroom * std::max(std::ranges::max(sizes), 1.0)},
              {panel}};
  for (double at : round_ticks(chart.x, 8))
    if (at == std::floor(at)) chart.x_ticks.push_back({at, fmt::format("{:g}", at == 0 ? 0.0 : at)});
  return chart;
}

Chart forecast_figure(const ForecastFact& forecast, const SeriesFact& series, const std::string& target,
                      double level) {
  const std::vector<double>& time = series.time;
  std::vector<Mark> bands, means, happened;
  for (size_t from = 0, to = 0; from < time.size(); from = to) {  // a gap in time breaks the lines
    to = from + 1;
    while (to < time.size() && time[to] - time[to - 1] < 1.5 * forecast.step) ++to;
    const auto cut = [&](const std::vector<double>& x) {
      return std::vector<double>(x.begin() + static_cast<std::ptrdiff_t>(from),
                                 x.begin() + static_cast<std::ptrdiff_t>(to));
    };
    const bool first = from == 0;
    bands.push_back({Mark::Kind::band, first ? percent_text(level) + " band" : "", "blue", 0.2, cut(time),
                     cut(series.lower), cut(series.upper)});
    means.push_back(line_mark(first ? "forecast" : "", "blue", cut(time), cut(series.mean)));
    happened.push_back({Mark::Kind::line,
                        first ? "what happened" : "",
                        "orange",
                        1,
                        cut(time),
                        cut(series.actual),
                        {},
                        false,
                        1.3});
  }
  Panel panel{"", "", std::move(bands)};
  for (auto* more : {&means, &happened})
    for (Mark& mark : *more) panel.marks.push_back(std::move(mark));
  const Extent seen = extent_of(series.actual, 0), low = extent_of(series.lower, 0.01),
               high = extent_of(series.upper, 0.01);
  Chart chart{"Forecast and what happened",
              forecast.calendar ? "time of the forecast, " + years_text({time.front(), time.back()}) : "time",
              target,
              {time.front(), std::max(time.back(), time.front() + forecast.step)},
              padded({std::min(seen.low, low.low), std::max(seen.high, high.high)}),
              {panel}};
  if (forecast.calendar) chart.x_ticks = ticks_for_column("datetime", chart.x, 9);
  return chart;
}

}  // namespace slimbayes
