// How the intervals of a report hold their level: over all levels at once (the calibration curve and the
// histogram of the probability integral transform), and at one level in parts of the rows, because intervals
// that hold their level on average may be too narrow where it matters.
#include "slimbayes/report/coverage_facts.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <map>
#include <numeric>

#include "slimbayes/answers/conditional/size_coverage.h"
#include "slimbayes/answers/count_distribution.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/density/conformal_rank.h"
#include "slimbayes/report/wording.h"

namespace slimbayes {
namespace {

constexpr int64_t kLevels = 19;  // 5, 10, ..., 95 %
constexpr size_t kMostGroups = 20;

/// Returns the mean over the rows of the cdf at u of the transform of a row, which is uniform between its two
/// ends. For numbers, whose ends are equal, it is the share of rows whose transform is at most u.
double mean_cdf(const ScoredExamples& s, double u, const at::Tensor& below, const at::Tensor& upto) {
  return mean_of(s, ((u - below) / (upto - below).clamp_min(1e-12)).clamp(0, 1));
}

/// Returns the share of rows in the central interval of this level. Intervals of counts end at whole numbers,
/// so that they hold more than their level; here a count at an end counts in part.
double coverage_at(const ScoredExamples& s, double level, const at::Tensor& below, const at::Tensor& upto) {
  return mean_cdf(s, (1 + level) / 2, below, upto) - mean_cdf(s, (1 - level) / 2, below, upto);
}

CalibrationFact calibration_of(const ScoredExamples& s, const at::Tensor& below, const at::Tensor& upto) {
  std::vector<double> levels, shares;
  double area = 0, signed_area = 0;
  for (int64_t i = 1; i <= kLevels; ++i) {
    const double level = static_cast<double>(i) / static_cast<double>(kLevels + 1);
    levels.push_back(level);
    shares.push_back(coverage_at(s, level, below, upto));
    area += std::abs(shares.back() - level) / static_cast<double>(kLevels);
    signed_area += (shares.back() - level) / static_cast<double>(kLevels);
  }
  CalibrationFact out{levels, shares, area};
  const auto* numbers = std::get_if<Regression>(&s.answer());
  if (const int64_t groups = s.model.calibration().groups; groups > 0 && numbers != nullptr) {
    out.level_calibrated.emplace();
    out.coverage_calibrated.emplace();
    for (double level : levels) {
      if (conformal_rows(level) > groups) continue;
      const Interval at = s.model.interval(*numbers, level, s.answers.calibration_group);
      const at::Tensor inside = (s.y >= at.lower) & (s.y <= at.upper);
      out.level_calibrated->push_back(level);
      out.coverage_calibrated->push_back(mean_of(s, inside));
    }
  }
  const double half = shares[kLevels / 2];
  out.says = fmt::format(
      "The central 50 % intervals hold {} of the {}s. Over all levels the coverage is off by {:.2g} points "
      "on "
      "average{}.",
      percent_text(half), s.noun(), 100 * area,
      area < 0.02                          ? ", which is little"
      : std::abs(signed_area) < 0.6 * area ? ": too little at some levels and too much at others"
      : signed_area < 0                    ? ", on the side of too narrow"
                                           : ", on the side of too wide");
  return out;
}

/// Returns the words for the shape of a histogram of the transform: the shares of the bins at both ends and
/// in the middle against what a flat one has.
std::string shape_of(const std::vector<double>& share) {
  const size_t bins = share.size(), edge = std::max<size_t>(bins / 5, 1);
  const auto sum = [&](size_t from, size_t to) {
    return std::accumulate(share.begin() + static_cast<std::ptrdiff_t>(from),
                           share.begin() + static_cast<std::ptrdiff_t>(to), 0.0);
  };
  const double flat = static_cast<double>(edge) / static_cast<double>(bins);
  const double low = sum(0, edge), high = sum(bins - edge, bins), ends = (low + high) / 2;
  if (low > 1.3 * flat && high > 1.3 * flat) return "both ends stand out: the distributions are too narrow";
  if (low < 0.7 * flat && high < 0.7 * flat) return "the middle stands out: the distributions are too wide";
  if (high - low > 0.6 * flat) return "it rises to the right: the targets tend to lie above the predictions";
  if (low - high > 0.6 * flat) return "it falls to the right: the targets tend to lie below the predictions";
  if (ends < 0.8 * flat) return "the middle is somewhat high: the distributions are rather wide";
  if (ends > 1.2 * flat) return "the ends are somewhat high: the distributions are rather narrow";
  return "it is nearly flat over the ends and the middle";
}

PitFact pit_of(const ScoredExamples& s, const at::Tensor& below, const at::Tensor& upto) {
  const int64_t n = s.judged_size(), bins = n >= 400 ? 20 : 10;
  std::vector<double> share;
  int64_t outside = 0;
  const auto [low, high] = binomial_band(1.0 / static_cast<double>(bins), n);
  for (int64_t i = 0; i < bins; ++i) {
    const double from = static_cast<double>(i) / static_cast<double>(bins),
                 to = static_cast<double>(i + 1) / static_cast<double>(bins);
    share.push_back((i + 1 == bins ? 1 : mean_cdf(s, to, below, upto)) -
                    (i == 0 ? 0 : mean_cdf(s, from, below, upto)));
    outside += share.back() < low || share.back() > high ? 1 : 0;
  }
  return {share,
          {low, high},
          fmt::format("Here {}; {} the band that chance explains.", shape_of(share),
                      outside == 0 ? "no bar lies outside"
                                   : fmt::format("{} of {} bars lie outside", outside, bins))};
}

/// Returns an entry of a list of parts: the rows of a part, the share of hits among them, and the share that
/// is expected with its band.
PartOfRows part_of_rows(const ScoredExamples& s, const at::Tensor& rows, const at::Tensor& hits,
                        const at::Tensor& expected, const at::Tensor& width) {
  const double mean = mean_of(s, expected, rows);
  const auto [low, high] = binomial_band(mean, judged_rows(s, rows));
  PartOfRows out{rows.size(0), mean_of(s, hits, rows), mean, {low, high}};
  if (width.defined()) out.width = mean_of(s, width, rows);
  return out;
}

std::vector<QuarterFact> quarters_of(const ScoredExamples& s, const at::Tensor& by, const at::Tensor& hits,
                                     const at::Tensor& expected, const at::Tensor& width) {
  const at::Tensor order = at::argsort(by, /*stable=*/true, 0, false);
  const int64_t n = by.size(0), parts = std::min<int64_t>(n, 4);
  std::vector<QuarterFact> out;
  for (int64_t i = 0; i < parts; ++i) {
    const at::Tensor rows = order.slice(0, i * n / parts, (i + 1) * n / parts);
    out.push_back({part_of_rows(s, rows, hits, expected, width), by[rows[0]].item<double>(),
                   by[rows[-1]].item<double>()});
  }
  return out;
}

/// Returns a sentence on the part of the rows whose share of hits lies farthest from what is expected, in
/// sds. `names` has the name of each part, `hit` is the name of the share.
std::string says_of_parts(const std::vector<PartOfRows>& parts, const std::vector<std::string>& names,
                          const char* hit) {
  size_t outside = 0, worst = 0;
  double most = -1;
  for (size_t i = 0; i < parts.size(); ++i) {
    const double share = parts[i].share, expected = parts[i].expected;
    outside += share < parts[i].band.first || share > parts[i].band.second ? 1 : 0;
    const double sd =
        std::sqrt(std::max(expected * (1 - expected), 1e-12) / static_cast<double>(parts[i].rows));
    if (std::abs(share - expected) / sd <= most) continue;
    most = std::abs(share - expected) / sd;
    worst = i;
  }
  if (outside == 0)
    return fmt::format("In every part the {} lies within the band that chance explains.", hit);
  return fmt::format(
      "The {} leaves the band that chance explains in {} of {} parts, most clearly in {}: {}, where {} is "
      "expected.",
      hit, outside, parts.size(), names[worst], percent_text(parts[worst].share),
      percent_text(parts[worst].expected));
}

std::string says_of_quarters(const std::vector<QuarterFact>& by_mean, const std::vector<QuarterFact>& by_sd) {
  constexpr const char* kOrder[] = {"smallest", "second", "third", "largest"};
  std::vector<PartOfRows> parts;
  std::vector<std::string> names;
  for (const auto* quarters : {&by_mean, &by_sd})
    for (size_t i = 0; i < quarters->size(); ++i) {
      parts.push_back((*quarters)[i].part);
      names.push_back(
          fmt::format("the {} quarter of the {}", kOrder[i], quarters == &by_mean ? "mean" : "sd"));
    }
  return says_of_parts(parts, names, "coverage");
}

}  // namespace

std::pair<double, double> binomial_band(double p, int64_t n, double mass) {
  if (p <= 0 || p >= 1) return {p, p};
  const auto count = static_cast<double>(n);
  // As usual for a discrete quantile: the least number of hits whose cdf reaches the probability.
  namespace policies = boost::math::policies;
  using Up = policies::policy<policies::discrete_quantile<policies::integer_round_up>>;
  const boost::math::binomial_distribution<double, Up> distribution(count, p);
  const double tail = (1 - mass) / 2;
  return {boost::math::quantile(distribution, tail) / count,
          boost::math::quantile(boost::math::complement(distribution, tail)) / count};
}

std::string width_word(double coverage, int64_t n, double level) {
  const auto [low, high] = binomial_band(level, n, 0.99);
  return coverage < low ? "too narrow" : coverage > high ? "too wide" : "as wide as they should be";
}

std::pair<at::Tensor, at::Tensor> integral_transform(const Predictive& p, const at::Tensor& y) {
  if (const auto* counts = std::get_if<Counts>(&p)) return {count_cdf(*counts, y - 1), count_cdf(*counts, y)};
  const at::Tensor z = normal_score(std::get<Regression>(p), y);
  const at::Tensor u = 0.5 * at::erfc(-z / std::sqrt(2.0));
  return {u, u};
}

std::vector<GroupFact> group_facts(const ScoredExamples& s, const at::Tensor& hits,
                                   const at::Tensor& expected, const at::Tensor& width) {
  std::vector<GroupFact> groups;
  for (const InputColumn& column : input_columns(s)) {
    const ColumnKind kind = column.cells->kind;
    if (kind != ColumnKind::categorical && kind != ColumnKind::boolean) continue;
    std::map<std::string, std::vector<int64_t>> rows;
    for (int64_t i = 0; i < s.size(); ++i) {
      const double cell = column.cells->values[static_cast<size_t>(i)];
      rows[std::isnan(cell) ? "(missing)" : cell_text(*column.cells, cell)].push_back(i);
    }
    if (rows.size() < 2 || rows.size() > kMostGroups) continue;
    GroupFact group{column.feature->name, {}, ""};
    std::vector<PartOfRows> parts;
    std::vector<std::string> names;
    for (const auto& [level, of_level] : rows) {
      parts.push_back(part_of_rows(s, at::tensor(of_level, at::kLong), hits, expected, width));
      names.push_back(in_plain_quotes(level));
      group.levels.push_back({parts.back(), level});
    }
    group.says = says_of_parts(parts, names, are_classes(s.answer()) ? "accuracy" : "coverage");
    groups.push_back(std::move(group));
  }
  return groups;
}

CoverageFacts coverage_facts(const ScoredExamples& s) {
  const auto [below, upto] = integral_transform(s.answer(), s.y);
  const Interval& interval = *s.answers.levels.front().interval;
  const at::Tensor hits = inside_interval(s).to(at::kDouble), width = interval.upper - interval.lower,
                   expected = at::full_like(hits, s.level());
  const auto [mean, sd] = mean_and_sd(s.answer());
  const std::vector<QuarterFact> by_mean = quarters_of(s, mean, hits, expected, width),
                                 by_sd = quarters_of(s, sd, hits, expected, width);
  return {calibration_of(s, below, upto),
          pit_of(s, below, upto),
          {by_mean, by_sd, says_of_quarters(by_mean, by_sd)},
          coverage_by_size(row_scores(s.answer(), s.y, interval, {}, s.weight), s.level())};
}

std::vector<GroupFact> coverage_groups(const ScoredExamples& s) {
  const Interval& interval = *s.answers.levels.front().interval;
  const at::Tensor hits = inside_interval(s).to(at::kDouble);
  return group_facts(s, hits, at::full_like(hits, s.level()), interval.upper - interval.lower);
}

}  // namespace slimbayes
