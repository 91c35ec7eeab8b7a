#include <fmt/format.h>

#include <span>
#include <utility>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "slimbayes/report/facts.h"
#include "slimbayes/report/page.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/version.h"

namespace slimbayes::cli {

int run_command(const ReportRequest& r) {
  check_model_first("report", r.model, r.data);
  if (!r.json) {
    for (const std::string& file : r.files) check_not_input("report", "--out", r.out, file);
    check_not_input("report", "--out", r.out, r.model);
    check_writable(r.out);
  }
  const Model model = load_model("report", r.model);
  log_interrupted(model);
  FactsOptions options{r.level, r.split, {}, version()};
  const ColumnChanges changes = column_changes(r.rename, r.fill);
  const Examples data = read_for(model, r.data, data_source("report", r.files, model), /*with_target=*/true,
                                 &options.notes, {}, changes);
  ReportFacts facts;
  {
    AnswerProgress shown("report");
    options.predict.progress = [&shown](double share) { shown.report(share); };
    facts = report_facts(model, data, options);
  }
  for (const auto* list : {&facts.warnings, &facts.notes})
    for (const std::string& note : *list) log_note(note);
  if (r.json) {
    print(fields_to_json(std::move(facts)));
    return kDone;
  }
  const std::string page = report_page(facts);
  write_atomically(r.out, std::as_bytes(std::span(page)));
  print(fmt::format("{}\n{}\n{}\n", shown(facts.data.says), shown(facts.headline), shown(r.out)));
  return kDone;
}

}  // namespace slimbayes::cli
