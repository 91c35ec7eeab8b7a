#include "slimbayes/report/importance.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/answers/answers.h"
#include "slimbayes/core/random.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes {
namespace {

constexpr int64_t kMostPermuted = 2000, kMostAnswers = 60000, kFewestPermuted = 10;
constexpr int64_t kEnoughAnswers = 1000, kMostRepeats = 5;  // permutations of few rows
constexpr int64_t kStretch = 4;                             // windows of a series that stay together

/// What the importance compares, of each example [n].
struct Judged {
  at::Tensor loss;    // squared error or -log p(y)
  at::Tensor spread;  // log sd or entropy
};

Judged judged(const Predictive& p, const at::Tensor& y) {
  if (const auto* classes = std::get_if<Classes>(&p)) return {row_nll(p, y), classes->predictive_entropy};
  const auto [mean, sd] = mean_and_sd(p);
  return {(y - mean).square(), sd.clamp_min(1e-300).log()};
}

/// Returns the mean NLL of classes, else the root of the mean squared error.
double error_of(const Predictive& p, const at::Tensor& loss) {
  const double mean = loss.mean().item<double>();
  return are_classes(p) ? mean : std::sqrt(mean);
}

/// Returns the order in which the n cells of a column are dealt out again: stretches of `length` cells change
/// places.
std::vector<int64_t> dealt(int64_t n, int64_t length, const Stream& stream) {
  const int64_t pieces = (n + length - 1) / length;
  const at::Tensor order = stream.permutation(pieces);
  std::vector<int64_t> out;
  for (int64_t i = 0; i < pieces; ++i) {
    const int64_t piece = order[i].item<int64_t>();
    for (int64_t at = piece * length; at < std::min(n, (piece + 1) * length); ++at) out.push_back(at);
  }
  return out;
}

/// Returns the table with the cells of the column `name` permuted. `places` are the rows in the order in
/// which stretches of `length` of them stay together.
Table permuted(const Table& table, const std::string& name, const std::vector<int64_t>& places,
               int64_t length, const Stream& stream) {
  Table out = table;
  const auto column = std::ranges::find(out.columns, name, &Column::name);
  const std::vector<double> cells = column->values;
  const std::vector<int64_t> from = dealt(std::ssize(places), length, stream);
  for (size_t i = 0; i < places.size(); ++i)
    column->values[static_cast<size_t>(places[i])] =
        cells[static_cast<size_t>(places[static_cast<size_t>(from[i])])];
  return out;
}

Examples with_permuted(const Examples& examples, const std::string& name, const Stream& stream) {
  if (const auto* windows = std::get_if<WindowTable>(&examples)) {
    WindowTable out = *windows;
    const auto n = static_cast<int64_t>(windows->windows->order.size());
    const int64_t length =
        std::clamp<int64_t>(kStretch * windows->windows->options.window, 1, std::max<int64_t>(n / 8, 1));
    out.table = std::make_shared<const Table>(
        permuted(*windows->table, name, windows->windows->order, length, stream));
    return out;
  }
  const auto& table = std::get<Table>(examples);
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  return permuted(table, name, rows, 1, stream);
}

/// Adds to `to` what a permutation changes, on the examples that still have an answer.
void add_change(ColumnImportance& to, const Model& model, const Examples& changed, const at::Tensor& y,
                const Judged& base, int64_t repeats) {
  const Answers a = model.answers(changed);
  if (a.rows.empty()) return;
  const at::Tensor rows = at::tensor(a.rows, at::kLong);
  const Judged now = judged(a.answer, y.index_select(0, rows));
  const double share = 1 / static_cast<double>(repeats);
  to.error += share * (error_of(a.answer, now.loss) - error_of(a.answer, base.loss.index_select(0, rows)));
  to.spread += share * (now.spread - base.spread.index_select(0, rows)).abs().mean().item<double>();
}

}  // namespace

std::vector<ColumnImportance> permutation_importance(const ScoredExamples& s,
                                                     const std::function<void(double)>& progress) {
  const std::vector<InputColumn> columns = input_columns(s);
  if (columns.empty() || s.size() < kFewestPermuted) return {};
  const int64_t most = std::clamp<int64_t>(kMostAnswers / std::ssize(columns), 100, kMostPermuted);
  const std::vector<int64_t> rows = spaced(s.size(), most);
  const Examples some = take(s.examples, rows);
  const at::Tensor index = at::tensor(rows, at::kLong), y = s.y.index_select(0, index);
  const Judged base = judged(take(s.answer(), index), y);
  const int64_t repeats = std::clamp<int64_t>(kEnoughAnswers / std::ssize(rows), 1, kMostRepeats),
                all = std::ssize(columns) * repeats;
  std::vector<ColumnImportance> out;
  int64_t done = 0;
  for (const InputColumn& column : columns) {
    ColumnImportance one{column.feature->name};
    const Stream stream = Stream(0).split("importance").split(std::string_view(column.feature->name));
    for (int64_t k = 0; k < repeats; ++k) {
      const Examples changed =
          with_permuted(some, column.cells->name, stream.split(static_cast<uint64_t>(k)));
      add_change(one, s.model, changed, y, base, repeats);
      if (progress) progress(static_cast<double>(++done) / static_cast<double>(all));
    }
    out.push_back(std::move(one));
  }
  std::ranges::stable_sort(out, std::greater{}, &ColumnImportance::error);
  return out;
}

std::optional<ImportanceFact> importance_facts(const ScoredExamples& s,
                                               const std::vector<ColumnImportance>& importance) {
  if (importance.empty()) return std::nullopt;
  const ColumnImportance &first = importance.front(),
                         &spread = *std::ranges::max_element(importance, {}, &ColumnImportance::spread);
  const bool classes = are_classes(s.answer());
  const int64_t most = std::clamp<int64_t>(kMostAnswers / std::ssize(importance), 100, kMostPermuted);
  const std::string rise = classes ? fmt::format("NLL would rise by {:.3g} nats", first.error)
                                   : fmt::format("RMSE would rise by {:.3g}", first.error);
  const std::string of_sd =
      classes ? fmt::format("the entropy changes most with {} (by {:.2g} nats)",
                            in_plain_quotes(spread.column), spread.spread)
              : fmt::format("the sd changes most with {} (by {:.2g} %)", in_plain_quotes(spread.column),
                            100 * std::expm1(spread.spread));
  const std::string says =
      first.error <= 0 ? "No column lowers the error on these rows: the answers do not depend on the inputs "
                         "in a useful way."
                       : fmt::format("Without {} the {}, more than without any other column; {}.",
                                     in_plain_quotes(first.column), rise, of_sd);
  return ImportanceFact{std::min(s.size(), most), importance,
                        classes ? "rise of the NLL" : "rise of the RMSE",
                        classes ? "change of the entropy" : "change of log sd", says};
}

}  // namespace slimbayes
