#include "slimbayes/explain/group_importance.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "slimbayes/answers/answers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/random.h"
#include "slimbayes/explain/answer_parts.h"
#include "slimbayes/explain/permuted.h"

namespace slimbayes {
namespace {

/// What one permutation changes.
struct Measured {
  std::optional<double> nll = {}, rmse = {}, accuracy = {};
  std::optional<double> mean = {}, aleatoric = {}, epistemic = {}, width = {}, spread = {};
};

/// A number of Measured, and where its mean over the permutations stands.
struct Measure {
  std::optional<double> Measured::*one;
  std::optional<Repeated> GroupImportance::*all;
};

constexpr std::array kMeasures = {Measure{&Measured::nll, &GroupImportance::nll},
                                  Measure{&Measured::rmse, &GroupImportance::rmse},
                                  Measure{&Measured::accuracy, &GroupImportance::accuracy},
                                  Measure{&Measured::mean, &GroupImportance::mean},
                                  Measure{&Measured::aleatoric, &GroupImportance::aleatoric},
                                  Measure{&Measured::epistemic, &GroupImportance::epistemic},
                                  Measure{&Measured::width, &GroupImportance::width},
                                  Measure{&Measured::spread, &GroupImportance::spread}};

/// The answers to some rows, and how wrong they are.
struct Judged {
  AnswerParts parts;
  at::Tensor nll, error;  // [n]; undefined without targets. `error`: squared, or 1 for a wrong class
};

Judged judged(const Predictive& p, const std::optional<Interval>& interval, const at::Tensor& y) {
  Judged out{answer_parts(p, interval), {}, {}};
  if (!y.defined()) return out;
  out.nll = row_nll(p, y);
  const auto* classes = std::get_if<Classes>(&p);
  out.error = classes ? (predicted_class(*classes) != y.to(at::kLong)).to(at::kDouble)
                      : (y - out.parts.mean).square();
  return out;
}

std::optional<double> finite(double x) { return std::isfinite(x) ? std::optional(x) : std::nullopt; }

double mean_of(const at::Tensor& x) { return x.mean().item<double>(); }

/// Returns mean |now - base| / mean base; nothing if the part is 0 in all rows.
std::optional<double> relative_change(const at::Tensor& base, const at::Tensor& now) {
  if (!base.defined()) return std::nullopt;
  const double size = mean_of(base);
  return size > 0 ? finite(mean_of((now - base).abs()) / size) : std::nullopt;
}

/// Returns E (m' - m)^2 / var(m), of classes with sums over the classes; nothing if m is constant.
std::optional<double> mean_change(const at::Tensor& base, const at::Tensor& now) {
  const double var = (base - base.mean(0)).square().sum().item<double>();
  return var > 0 ? finite((now - base).square().sum().item<double>() / var) : std::nullopt;
}

Measured measured(const Judged& base, const Judged& now, bool classes) {
  Measured out;
  if (base.nll.defined()) {
    out.nll = finite(mean_of(now.nll) - mean_of(base.nll));
    if (classes)
      out.accuracy = mean_of(now.error) - mean_of(base.error);
    else
      out.rmse = finite(std::sqrt(mean_of(now.error)) - std::sqrt(mean_of(base.error)));
  }
  out.mean = mean_change(base.parts.mean, now.parts.mean);
  out.aleatoric = relative_change(base.parts.aleatoric, now.parts.aleatoric);
  out.epistemic = relative_change(base.parts.epistemic, now.parts.epistemic);
  out.width = relative_change(base.parts.width, now.parts.width);
  out.spread = finite(mean_of((now.parts.spread - base.parts.spread).abs()));
  return out;
}

/// Returns what a permutation changes, on the rows that still have an answer; nothing if none has.
std::optional<Measured> change(const ExplainedRows& rows, const Judged& base, const Examples& permuted_rows) {
  const Answers a = rows.model.answers(permuted_rows, {{rows.answers.levels.front().level}});
  if (a.rows.empty()) return std::nullopt;
  const at::Tensor index = at::tensor(a.rows, at::kLong);
  const at::Tensor y = rows.y.defined() ? rows.y.index_select(0, index) : rows.y;
  const Judged now = judged(a.answer, a.levels.front().interval, y);
  Judged before{base.parts.at_rows(index), {}, {}};
  if (y.defined())
    before = {before.parts, base.nll.index_select(0, index), base.error.index_select(0, index)};
  return measured(before, now, std::holds_alternative<Classes>(a.answer));
}

/// Returns mean and standard error over the permutations in which the number is defined.
std::optional<Repeated> repeated(const std::vector<Measured>& all, std::optional<double> Measured::*number) {
  std::vector<double> values;
  for (const Measured& one : all)
    if (one.*number) values.push_back(*(one.*number));
  if (values.empty()) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  Repeated out;
  for (const double x : values) out.value += x / n;
  if (values.size() == 1) return out;
  double squares = 0;
  for (const double x : values) squares += (x - out.value) * (x - out.value);
  out.se = std::sqrt(squares / (n - 1) / n);
  return out;
}

/// Returns the number by which groups are sorted.
double size_of(const GroupImportance& one) {
  const std::optional<Repeated>& size = one.nll ? one.nll : one.mean;
  return size ? size->value : -std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<GroupImportance> group_importance(const ExplainedRows& rows,
                                              const std::vector<ColumnGroup>& groups,
                                              const ImportanceOptions& options) {
  if (options.repeats < 1)
    refuse("explain", "at least one permutation (`.repeats`)", fmt::format("{}", options.repeats));
  const Judged base = judged(rows.answers.answer, rows.interval(), rows.y);
  const double all = static_cast<double>(std::ssize(groups) * options.repeats);
  int64_t done = 0;
  std::vector<GroupImportance> out;
  for (const ColumnGroup& group : groups) {
    std::vector<std::string> cells;
    for (const std::string& name : group.columns) cells.push_back(input_column(rows, name).cells->name);
    const Stream stream = Stream(0).split("importance").split(std::string_view(group.name()));
    std::vector<Measured> changes;
    for (int64_t k = 0; k < options.repeats; ++k) {
      const Examples changed = permuted(rows.examples, cells, stream.split(static_cast<uint64_t>(k)));
      if (const std::optional<Measured> one = change(rows, base, changed)) changes.push_back(*one);
      if (options.progress) options.progress(static_cast<double>(++done) / all);
    }
    GroupImportance found{group.name(), group.columns};
    for (const Measure& measure : kMeasures) found.*measure.all = repeated(changes, measure.one);
    out.push_back(std::move(found));
  }
  std::ranges::stable_sort(out, std::greater{}, size_of);
  return out;
}

}  // namespace slimbayes
