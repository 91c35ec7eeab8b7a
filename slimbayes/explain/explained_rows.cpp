#include "slimbayes/explain/explained_rows.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes {
namespace {

/// Throws std::invalid_argument for a model whose answers are not explained.
void check_explained(const Model& model) {
  constexpr const char* kWanted = "a model of numbers, classes or counts on a table or on windows";
  const Task& task = model.schema().task;
  const InputKind kind = kind_of(model.encoder());
  check(!are_images(kind), "explain", kWanted, "a model of images, which have no columns",
        "`slimbayes evaluate` scores it");
  check(!std::holds_alternative<TextEncoder>(model.encoder()), "explain", kWanted,
        "a model of texts, whose words are no columns", "`slimbayes evaluate` scores it");
  check(task.kind != TaskKind::events, "explain", kWanted, "a model of events",
        "`slimbayes evaluate` scores it");
}

/// Returns whether the examples have the target of the model in some row.
bool has_target(const Model& model, const Examples& examples) {
  const Column* target = cells_of(examples).find(model.target());
  return target != nullptr && !std::ranges::all_of(target->values, [](double x) { return std::isnan(x); });
}

}  // namespace

int64_t ExplainedRows::size() const { return std::ssize(answers.rows); }

ExplainedRows explained_rows(const Model& model, const Examples& given, const ExplainOptions& options,
                             std::string* left_out) {
  check_explained(model);
  const bool targets = has_target(model, given);
  Examples examples = model.examples(given, targets);
  if (count(examples) > options.rows) examples = take(examples, spaced(count(examples), options.rows));
  Answers answers = model.answers(examples, {{options.level}}, options.predict);
  if (answers.rows.empty() && !answers.bad.empty()) throw_bad_example(examples, answers.bad.front());
  const auto answered = std::ssize(answers.rows);
  if (answered < kFewestExplained)
    refuse("explain", fmt::format("at least {} {}s with an answer", kFewestExplained, noun_of(examples)),
           fmt::format("{}", answered), "give more of them");
  if (!answers.bad.empty()) {
    if (left_out != nullptr) *left_out = bad_examples_text(examples, answers.bad, "left out");
    examples = take(examples, answers.rows);
    for (int64_t i = 0; i < answered; ++i) answers.rows[static_cast<size_t>(i)] = i;
    answers.bad.clear();
  }
  const at::Tensor y = targets ? target_as_given(model.encoder(), examples).to(at::kDouble) : at::Tensor();
  return {model, std::move(examples), std::move(answers), y};
}

const Table& cells_of(const Examples& examples) {
  if (const auto* windows = std::get_if<WindowTable>(&examples)) return *windows->table;
  check(std::holds_alternative<Table>(examples), "explain", "rows of a table or windows", "images");
  return std::get<Table>(examples);
}

std::vector<InputColumn> input_columns(const ExplainedRows& rows) {
  return input_columns(rows.model.encoder(), cells_of(rows.examples));
}

InputColumn input_column(const ExplainedRows& rows, const std::string& name) {
  const std::vector<InputColumn> columns = input_columns(rows);
  std::vector<std::string> names;
  for (const InputColumn& column : columns) {
    if (column.feature->name == name) return column;
    names.push_back(column.feature->name);
  }
  refuse("explain", "a column that is an input of the model", in_quotes(name), nearest_hint(name, names));
}

}  // namespace slimbayes
