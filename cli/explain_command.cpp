#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/explain_text.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "slimbayes/core/check.h"
#include "slimbayes/explain/column_groups.h"
#include "slimbayes/explain/explain.h"
#include "slimbayes/storage/atomic_file.h"

namespace slimbayes::cli {
namespace {

/// Returns the source of the data, as a table that has no target if no cell of the target is present.
DataSource source_with_or_without_target(const ExplainRequest& r, const Model& model) {
  DataSource source = data_source("explain", r.files, model);
  if (kind_of(model.encoder()) != InputKind::table) return source;
  source.read = [read = source.read, target = model.target()](const std::string& path,
                                                              const Reading& reading) {
    Table table = read(path, reading);
    std::erase_if(table.columns, [&](const Column& column) {
      return column.name == target &&
             std::ranges::all_of(column.values, [](double x) { return std::isnan(x); });
    });
    return table;
  };
  return source;
}

}  // namespace

int run_command(const ExplainRequest& r) {
  check_model_first("explain", r.model, r.data);
  ExplainAsked asked;
  asked.auto_groups = r.groups == "auto";
  if (!asked.auto_groups && !r.groups.empty()) asked.groups = groups_of_text(r.groups);
  asked.repeats = r.repeats;
  asked.columns = r.columns;
  asked.rows.rows = r.rows;
  asked.rows.level = r.level;
  check(!r.json || r.out != "-", "explain", "--json without --out -, as JSON goes to stdout", "both",
        "leave one of them out");
  if (!r.out.empty() && r.out != "-") {
    for (const std::string& file : r.files) check_not_input("explain", "--out", r.out, file);
    check_not_input("explain", "--out", r.out, r.model);
    check_writable(r.out);
  }
  const Model model = load_model("explain", r.model);
  log_interrupted(model);
  std::vector<std::string> notes;
  const ColumnChanges changes = column_changes(r.rename, r.fill);
  const Examples data = read_for(model, r.data, source_with_or_without_target(r, model),
                                 /*with_target=*/true, &notes, {}, changes);
  for (const std::string& note : notes) log_note(note);
  ExplainReport report;
  {
    AnswerProgress shown_progress("explain");
    asked.rows.predict.progress = [&shown_progress](double share) { shown_progress.report(share); };
    report = explain(model, data, asked);
  }
  for (const std::string& note : report.notes) log_note(note);
  if (report.partial_dependence)
    for (const PartialDependence& curve : *report.partial_dependence)
      for (const std::string& note : curve.notes) log_note(note);
  if (!r.out.empty())
    print_or_write(r.out, report.partial_dependence ? curves_table(*report.partial_dependence)
                                                    : importance_columns(report.importance));
  if (r.json) {
    print(fields_to_json(std::move(report)));
    return kDone;
  }
  if (r.out != "-") print(explain_text(report, std::string(noun_of(kind_of(model.encoder())))));
  return kDone;
}

}  // namespace slimbayes::cli
