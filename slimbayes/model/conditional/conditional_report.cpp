#include "slimbayes/model/conditional/conditional_report.h"

#include <ATen/ATen.h>

#include <utility>

#include "slimbayes/answers/conditional/size_coverage.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/fit_examples.h"
#include "slimbayes/model/conditional/column_groups.h"
#include "slimbayes/model/conditional/coverage_classifier.h"
#include "slimbayes/model/data_file.h"
#include "slimbayes/model/model_weights.h"

namespace slimbayes {

namespace {

/// Returns the examples that have an answer.
Examples answered_examples(const Examples& examples, const Answers& answers) {
  return answers.bad.empty() ? examples : take(examples, answers.rows);
}

std::vector<GroupedScores> grouped_scores(const RowScores& scores, const Examples& answered,
                                          const std::vector<std::string>& by) {
  const Table rows = scored_rows(answered);
  std::vector<GroupedScores> out;
  for (const std::string& name : columns_named(by, "evaluate", "`.by`", rows))
    out.push_back(scores_by_group(scores, groups_of_column(*rows.find(name)), name));
  return out;
}

}  // namespace

void check_columns_of_groups(const Examples& examples, const std::vector<std::string>& by) {
  if (by.empty()) return;
  const Table* table = table_of(examples);
  check(table != nullptr, "evaluate", "rows of a table for `.by`", "images, which have no columns",
        "leave it out");
  columns_named(by, "evaluate", "`.by`", *table);
}

RowScores row_scores(const Model& model, const Examples& examples, const Answers& answers) {
  check(!answers.levels.empty(), "evaluate", "answers with a level", "answers without");
  const LevelAnswer& at = answers.levels.front();
  const at::Tensor y = target_as_given(model.encoder(), answered_examples(examples, answers));
  return row_scores(answers.answer, y, at.interval, at.set, answered_weights(model, examples, answers));
}

ConditionalReport conditional_report(const Model& model, const Examples& examples, const Answers& answers,
                                     const ConditionalRequest& request) {
  check_same(examples, answers);
  if (std::holds_alternative<Intensity>(answers.answer) || model.schema().task.grid) {
    check(request.by.empty(), "evaluate", "a model of numbers, counts or classes for `.by`",
          "one of events or pixels", "leave it out");
    check(!request.conditional, "evaluate", "a model of numbers, counts or classes for `.conditional`",
          "one of events or pixels", "leave it out");
    return {};
  }
  if (answers.rows.empty() && !answers.bad.empty()) throw_bad_example(examples, answers.bad.front());
  check_targets(model.encoder(), examples);
  if (const PositiveExamples scored = scored_examples(examples, model.fit_options()); scored.some)
    return conditional_report(model, *scored.some, take(answers, scored.places), request);
  const RowScores scores = row_scores(model, examples, answers);
  ConditionalReport out;
  out.coverage_by_size = coverage_by_size(scores, answers.levels.front().level);
  if (!request.by.empty()) out.by = grouped_scores(scores, answered_examples(examples, answers), request.by);
  if (request.conditional) out.conditional = coverage_risk(model, examples, answers, scores);
  return out;
}

}  // namespace slimbayes
