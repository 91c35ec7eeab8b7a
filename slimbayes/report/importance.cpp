#include "slimbayes/report/importance.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/explain/group_importance.h"

namespace slimbayes {
namespace {

constexpr int64_t kMostPermuted = 2000, kMostAnswers = 60000;
constexpr int64_t kEnoughAnswers = 1000, kMostRepeats = 5;  // permutations of few rows

std::optional<double> value_of(const std::optional<Repeated>& number) {
  return number ? std::optional(number->value) : std::nullopt;
}

}  // namespace

std::vector<ColumnImportance> permutation_importance(const ScoredExamples& s,
                                                     const std::function<void(double)>& progress) {
  const auto columns = std::ssize(input_columns(s));
  if (columns == 0 || s.size() < kFewestExplained) return {};
  const int64_t most = std::clamp<int64_t>(kMostAnswers / columns, 100, kMostPermuted);
  const std::vector<int64_t> rows = spaced(s.size(), most);
  const int64_t repeats = std::clamp<int64_t>(kEnoughAnswers / std::ssize(rows), 1, kMostRepeats);
  const ExplainedRows explained{s.model, take(s.examples, rows), take(s.answers, rows),
                                s.y.index_select(0, at::tensor(rows, at::kLong))};
  const bool classes = are_classes(s.answer());
  std::vector<ColumnImportance> out;
  for (const GroupImportance& one :
       group_importance(explained, single_columns(explained), {repeats, progress}))
    out.push_back({one.group, value_of(classes ? one.nll : one.rmse).value_or(0),
                   value_of(one.spread).value_or(0), value_of(one.mean), value_of(one.aleatoric),
                   value_of(one.epistemic), value_of(one.width)});
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
