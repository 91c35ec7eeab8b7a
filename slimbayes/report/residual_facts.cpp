#include "slimbayes/report/residual_facts.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/report/coverage_facts.h"
#include "slimbayes/report/wording.h"

namespace slimbayes {
namespace {

constexpr size_t kMostColumns = 6, kMostLevels = 12, kGroups = 10;
constexpr int64_t kMostPoints = 500, kSurprising = 10;
constexpr size_t kFewestOfGroup = 10;  // rows of a group whose mean is judged
constexpr double kClear = 3.3;         // standard errors that chance rarely reaches in ten groups

/// Mean and sd of the residuals of some rows.
struct Moments {
  double mean = 0, sd = 0;
  size_t rows = 0;

  double errors() const {  // standard errors from 0
    return rows < kFewestOfGroup || sd == 0 ? 0
                                            : std::abs(mean) / (sd / std::sqrt(static_cast<double>(rows)));
  }
};

Moments moments_of_rows(const std::vector<double>& z, const std::vector<size_t>& rows) {
  Moments m;
  m.rows = rows.size();
  for (size_t i : rows) m.mean += z[i] / static_cast<double>(rows.size());
  for (size_t i : rows) m.sd += (z[i] - m.mean) * (z[i] - m.mean);
  m.sd = rows.size() < 2 ? 0 : std::sqrt(m.sd / static_cast<double>(rows.size() - 1));
  return m;
}

/// Returns the rows whose cell is not missing, ascending by it, in about kGroups groups of equal size. Equal
/// cells share a group.
std::vector<std::vector<size_t>> tenths(const std::vector<double>& cells) {
  std::vector<size_t> order;
  for (size_t i = 0; i < cells.size(); ++i)
    if (!std::isnan(cells[i])) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](size_t i) { return cells[i]; });
  std::vector<std::vector<size_t>> groups;
  size_t next = 0;  // the place in `order` from which another group may begin
  for (size_t k = 0; k < order.size(); ++k) {
    if (k >= next && (k == 0 || cells[order[k]] != cells[order[k - 1]])) {
      groups.emplace_back();
      const size_t size = (order.size() + kGroups - 1) / kGroups, due = (k / size + 1) * size;
      next = std::max(due, k + size / 2);  // a group after many equal cells is no splinter
    }
    groups.back().push_back(order[k]);
  }
  return groups;
}

/// Returns a sentence on the group with the largest mean in standard errors. `where` names it.
std::string says_of(const Moments& worst, const std::string& where, std::string_view noun) {
  if (worst.errors() < kClear) return "No group has a mean that chance does not explain.";
  return fmt::format("Where {}, the targets lie {:.2g} sd {} the prediction on average ({}).", where,
                     std::abs(worst.mean), worst.mean > 0 ? "above" : "below",
                     counted(static_cast<int64_t>(worst.rows), noun));
}

/// Returns a cell as text, numbers with four digits.
std::string short_cell(const Column& column, double value) {
  return column.kind == ColumnKind::numeric ? number_text_of(value) : cell_text(column, value);
}

ResidualFact of_numbers(const InputColumn& column, const std::vector<double>& z, std::string_view noun) {
  const std::vector<double>& cells = column.cells->values;
  ResidualFact out;
  Moments worst;
  std::string where;
  for (const std::vector<size_t>& rows : tenths(cells)) {
    const Moments m = moments_of_rows(z, rows);
    double x = 0;
    for (size_t i : rows) x += cells[i] / static_cast<double>(rows.size());
    out.parts.push_back({m.rows, m.mean, m.sd, x});
    if (m.errors() <= worst.errors()) continue;
    worst = m;
    const double low = cells[rows.front()], high = cells[rows.back()];
    where = low == high ? fmt::format("it is {}", short_cell(*column.cells, low))
                        : fmt::format("it is {} to {}", short_cell(*column.cells, low),
                                      short_cell(*column.cells, high));
  }
  ResidualPoints& points = out.points.emplace();
  for (int64_t i : spaced(std::ssize(z), kMostPoints)) {
    const auto at = static_cast<size_t>(i);
    if (std::isnan(cells[at])) continue;
    points.x.push_back(cells[at]);
    points.z.push_back(z[at]);
  }
  out.says = says_of(worst, where, noun);
  return out;
}

ResidualFact of_levels(const InputColumn& column, const std::vector<double>& z, std::string_view noun) {
  std::map<double, std::vector<size_t>> by_level;
  for (size_t i = 0; i < z.size(); ++i)
    if (!std::isnan(column.cells->values[i])) by_level[column.cells->values[i]].push_back(i);
  std::vector<std::pair<double, std::vector<size_t>>> levels(by_level.begin(), by_level.end());
  std::ranges::stable_sort(levels, std::greater{}, [](const auto& level) { return level.second.size(); });
  if (levels.size() > kMostLevels) levels.resize(kMostLevels);
  ResidualFact out;
  Moments worst;
  std::string where;
  for (const auto& [level, rows] : levels) {
    const Moments m = moments_of_rows(z, rows);
    const std::string name = cell_text(*column.cells, level);
    if (m.errors() > worst.errors()) {
      worst = m;
      where = "it is " + in_plain_quotes(name);
    }
    out.parts.push_back({m.rows, m.mean, m.sd, std::nullopt, name});
  }
  out.says = says_of(worst, where, noun);
  return out;
}

/// Returns the numeric cell of an example that lies farthest from the training mean, in training sds;
/// nothing without such columns.
std::optional<UnusualCell> unusual_cell(const std::vector<InputColumn>& columns, size_t row) {
  std::optional<UnusualCell> found;
  double most = -1;
  for (const InputColumn& column : columns) {
    const double cell = column.cells->values[row];
    if (!column.feature->range || std::isnan(cell) || column.feature->range->sd <= 0) continue;
    const double sds = (cell - column.feature->fill) / column.feature->range->sd;
    if (std::abs(sds) <= most) continue;
    most = std::abs(sds);
    found = UnusualCell{column.feature->name, short_cell(*column.cells, cell), sds};
  }
  return found;
}

/// Returns the probability of a target that is at least as far out, for each example. [n]
std::vector<double> tails_of(const ScoredExamples& s) {
  if (const auto* classes = std::get_if<Classes>(&s.answer()))
    return list_of(classes->probabilities.gather(1, s.y.to(at::kLong).unsqueeze(1)).squeeze(1));
  const auto [below, upto] = integral_transform(s.answer(), s.y);
  return list_of((2 * at::minimum(upto, 1 - below)).clamp(0, 1));
}

}  // namespace

std::vector<ResidualFact> residual_facts(const ScoredExamples& s,
                                         const std::vector<ColumnImportance>& importance) {
  const auto [mean, sd] = mean_and_sd(s.answer());
  const std::vector<double> z = list_of((s.y - mean) / sd);
  const std::vector<InputColumn> columns = input_columns(s);
  std::vector<ResidualFact> out;
  for (const ColumnImportance& one : importance) {
    if (out.size() == kMostColumns) break;
    const auto column =
        std::ranges::find(columns, one.column, [](const InputColumn& c) { return c.feature->name; });
    const ColumnKind kind = column->cells->kind;
    const bool levels = kind == ColumnKind::categorical || kind == ColumnKind::boolean;
    ResidualFact facts = levels ? of_levels(*column, z, s.noun()) : of_numbers(*column, z, s.noun());
    facts.column = one.column;
    facts.kind = kind_name(kind);
    out.push_back(std::move(facts));
  }
  return out;
}

SurprisingFact surprising_rows(const ScoredExamples& s) {
  const std::vector<double> tails = tails_of(s), y = list_of(s.y);
  const auto* classes = std::get_if<Classes>(&s.answer());
  const MeanAndSd moments = classes != nullptr ? MeanAndSd{s.y, at::ones_like(s.y)} : mean_and_sd(s.answer());
  const std::vector<double> mean = list_of(moments.mean), sd = list_of(moments.sd);
  std::vector<size_t> order(tails.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    const double za = std::abs(y[a] - mean[a]) / sd[a], zb = std::abs(y[b] - mean[b]) / sd[b];
    return tails[a] != tails[b] ? tails[a] < tails[b] : za > zb;  // tails far out are all 0
  });
  const std::vector<InputColumn> columns = input_columns(s);
  const std::vector<std::string>& names = s.model.schema().task.levels;
  SurprisingFact out;
  for (size_t k = 0; k < order.size() && k < kSurprising; ++k) {
    const size_t i = order[k];
    const auto row = static_cast<int64_t>(i);
    SurprisingRow one{s.numbers[i], tails[i]};
    if (classes != nullptr) {
      const auto answer = predicted_class(*classes)[row].item<int64_t>();
      one.target = names[static_cast<size_t>(y[i])];
      one.of_class = SurprisingClass{names[static_cast<size_t>(answer)],
                                     classes->probabilities[row][answer].item<double>()};
    } else {
      const Interval& interval = *s.answers.levels.front().interval;
      one.target = y[i];
      one.number = SurprisingNumber{mean[i], sd[i], (y[i] - mean[i]) / sd[i],
                                    interval.lower[row].item<double>(), interval.upper[row].item<double>()};
    }
    one.unusual = unusual_cell(columns, i);
    out.rows.push_back(std::move(one));
  }
  const size_t least = order.front();
  out.says = classes != nullptr
                 ? fmt::format("The least probable true class had a probability of {:.2g}.", tails[least])
                 : fmt::format(
                       "The most surprising target has a tail probability of {:.2g}; the least of {} honest "
                       "ones is about {:.2g}.",
                       tails[least], s.size(), 1 / static_cast<double>(s.size() + 1));
  return out;
}

}  // namespace slimbayes
