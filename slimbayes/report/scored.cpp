#include "slimbayes/report/scored.h"

#include <ATen/ATen.h>

#include <cmath>
#include <utility>

#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/model/model_weights.h"

namespace slimbayes {

ScoredExamples scored_examples(const Model& model, Examples examples, Answers answers,
                               const std::vector<int64_t>& places) {
  check_same(examples, answers);
  if (answers.rows.empty() && !answers.bad.empty()) throw_bad_example(examples, answers.bad.front());
  check_targets(model.encoder(), examples);
  if (!answers.bad.empty()) examples = take(examples, answers.rows);
  ScoredExamples s{model, std::move(examples), std::move(answers), {}, nullptr, {}};
  std::vector<int64_t>& rows = s.answers.rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    s.numbers.push_back(places[static_cast<size_t>(rows[i])] + 1);
    rows[i] = static_cast<int64_t>(i);
  }
  s.answers.bad.clear();
  s.y = target_as_given(model.encoder(), s.examples).to(at::kDouble);
  // last_rows() may point into its argument, which lives elsewhere once the result is moved: copy it.
  if (const auto rows_seen = last_rows(s.examples)) s.cells = std::make_shared<const Table>(*rows_seen);
  for (size_t i = 0; s.cells != nullptr && i < s.numbers.size(); ++i)
    s.numbers[i] = row_number(*s.cells, static_cast<int64_t>(i));
  s.weight = scored_weights(s.examples, model.fit_options());
  return s;
}

int64_t ScoredExamples::judged_size() const {
  return weight.defined() ? std::llround(effective_rows(weight)) : size();
}

double mean_of(const ScoredExamples& s, const at::Tensor& x) { return row_mean(x, s.weight, "report"); }

double mean_of(const ScoredExamples& s, const at::Tensor& x, const at::Tensor& rows) {
  return row_mean(x.index_select(0, rows), s.weight.defined() ? s.weight.index_select(0, rows) : s.weight,
                  "report");
}

int64_t judged_rows(const ScoredExamples& s, const at::Tensor& rows) {
  return s.weight.defined() ? std::llround(effective_rows(s.weight.index_select(0, rows))) : rows.size(0);
}

bool are_classes(const Predictive& p) { return std::holds_alternative<Classes>(p); }

MeanAndSd mean_and_sd(const Predictive& p) {
  if (const auto* counts = std::get_if<Counts>(&p)) return {mean(*counts), total_var(*counts).sqrt()};
  check(std::holds_alternative<Regression>(p), "mean_and_sd", "answers to numbers or counts", "others");
  const auto& r = std::get<Regression>(p);
  return {r.mean, total_var(r).sqrt()};
}

at::Tensor inside_interval(const ScoredExamples& s) {
  const auto& interval = s.answers.levels.front().interval;
  check(interval.has_value(), "inside_interval", "answers with intervals", "others");
  return (s.y >= interval->lower) & (s.y <= interval->upper);
}

std::vector<InputColumn> input_columns(const ScoredExamples& s) {
  if (s.cells == nullptr) return {};
  return input_columns(s.model.encoder(), *s.cells);
}

std::vector<double> list_of(const at::Tensor& x) {
  const at::Tensor flat = x.to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

}  // namespace slimbayes
