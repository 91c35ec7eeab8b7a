#include "slimbayes/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/explain/column_groups.h"
#include "slimbayes/explain/group_importance.h"
#include "slimbayes/explain/partial_dependence.h"
#include "slimbayes/model/answer_table.h"

namespace slimbayes {
namespace {

constexpr double kShareOfAnswers = 0.05;  // of the progress

/// Throws std::invalid_argument for a column that is asked for twice or that the model does not use, and for
/// any column of windows.
void check_columns(const ExplainedRows& rows, const std::vector<std::string>& columns) {
  if (!columns.empty()) check_has_curves(rows);
  for (auto name = columns.begin(); name != columns.end(); ++name) {
    input_column(rows, *name);
    if (std::find(columns.begin(), name, *name) != name)
      refuse("explain", "each column once in `.column`", fmt::format("{} twice", in_quotes(*name)),
             "name it once");
  }
}

/// Returns the sentences on the rows and on what the numbers mean.
std::vector<std::string> notes_of_rows(const ExplainedRows& rows) {
  std::vector<std::string> notes = notes_for(rows.model.encoder(), rows.examples);
  if (const auto far = outside(rows.model.encoder(), rows.examples); far && far->rows > 0)
    notes.push_back(outside_text(*far, std::get<Table>(rows.examples)));
  if (!rows.y.defined())
    notes.push_back(fmt::format("the data have no target {}: how much the errors rise is left out",
                                in_quotes(rows.model.target())));
  if (std::string parts = parts_note(rows.model, /*shown=*/true); !parts.empty())
    notes.push_back(std::move(parts));
  return notes;
}

}  // namespace

ExplainReport explain(const Model& model, const Examples& examples, const ExplainAsked& asked) {
  check_options(PermutationPlan{asked.repeats, asked.rows.rows}, "explain");
  const PredictOptions& predict = asked.rows.predict;
  ExplainOptions of_rows = asked.rows;
  of_rows.predict = predict.within(0, kShareOfAnswers);
  std::string left_out;
  const ExplainedRows rows = explained_rows(model, examples, of_rows, &left_out);
  check_columns(rows, asked.columns);
  const std::vector<ColumnGroup> groups =
      asked.auto_groups ? associated_groups(rows) : given_groups(rows, asked.groups);
  ExplainReport report{model.method(), rows.size(), asked.repeats, asked.rows.level, rows.y.defined()};
  report.notes = notes_of_rows(rows);
  if (!left_out.empty()) report.notes.push_back(left_out);
  if (asked.auto_groups && !groups_note(groups).empty()) report.notes.push_back(groups_note(groups));
  const double tasks = static_cast<double>(std::ssize(asked.columns) + (asked.importance ? 1 : 0));
  const auto share = [&](double task) { return kShareOfAnswers + (1 - kShareOfAnswers) * task / tasks; };
  double task = 0;
  if (asked.importance) {
    report.importance =
        group_importance(rows, groups, {asked.repeats, predict.within(share(0), share(1)).progress});
    task = 1;
  }
  if (!asked.columns.empty()) report.partial_dependence.emplace();
  for (const std::string& column : asked.columns) {
    PartialOptions options;
    options.progress = predict.within(share(task), share(task + 1)).progress;
    report.partial_dependence->push_back(partial_dependence(rows, column, options));
    task += 1;
  }
  return report;
}

}  // namespace slimbayes
