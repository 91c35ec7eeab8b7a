// Flags, help and examples of the command report.
#include "cli/common_flags.h"
#include "cli/flags.h"
#include "cli/usage.h"

namespace slimbayes::cli {

void add_report(CLI::App& root, Parsed& p) {
  ReportRequest& r = p.report;
  CLI::App& app = *root.add_subcommand(
      "report", "Write one HTML page that shows whether a model can be trusted on data that hold the target");
  app.add_option("MODEL", r.model, "file written by fit")->required();
  app.add_option("DATA", r.files, kTargetedFiles)->required();
  app.add_option("--out", r.out, "file of the page [default report.html]")->type_name("FILE");
  app.add_option(
         "--split", r.split,
         "train, valid, calibration or test part of the data that were fitted on, or all [default: of "
         "these data the test part, if the fit held one out; else all]")
      ->type_name("PART")
      ->check(one_of({"train", "valid", "calibration", "test", "all"}));
  add_column_changes(app, r.rename, r.fill, "DATA", "a change that DATA do not need is an error");
  add_level(app, r.level);
  add_threads(app, p.threads);
  add_device(app, p.device);
  add_table_memory(app, p.table_memory);
  app.add_flag("--json", r.json, "print every number of the page as one JSON object, and write no page");
  app.footer(
      "The page has the model's card, scores with a word on each, and plots with a sentence that says what "
      "they show here: of numbers and counts predicted against observed, calibration, coverage by group, "
      "residuals by column; of classes reliability, confusion, selective accuracy; of windows the forecasts; "
      "the importance of the columns, the most surprising rows, and how far the rows lie from the training "
      "rows. It needs no network and no script. Rows without a finite answer are left out, with a note. "
      "docs/report.md says how to read each part. Segmentation and events have no report: evaluate scores "
      "them.\n\nExamples:\n"
      "  slimbayes report model.safetensors houses.csv\n"
      "  slimbayes report model.safetensors new.csv --out new.html --level 0.9\n"
      "  slimbayes report model.safetensors houses.csv --split all --json");
}

}  // namespace slimbayes::cli
