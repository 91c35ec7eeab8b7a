// Flags, help and examples of the command explain.
#include "cli/common_flags.h"
#include "cli/flags.h"
#include "cli/usage.h"
#include "slimbayes/catalog/call_options.h"

namespace slimbayes::cli {
void add_explain(CLI::App& root, Parsed& p) {
  ExplainRequest& r = p.explain;
  CLI::App& app = *root.add_subcommand(
      "explain", "Say which columns the error, the mean and the uncertainty of the answers depend on");
  app.add_option("MODEL", r.model, "file written by fit, of a table or of windows")->required();
  app.add_option("DATA", r.files,
                 "data of the kind that was fitted on, - for CSV on stdin; several files, or a folder of "
                 "them, as one "
                 "table; without the target, the errors are left out")
      ->required();
  app.add_option("--column", r.columns,
                 "column whose partial dependence is computed too: the mean answer if all rows had the same "
                 "value in it; may be given several times")
      ->type_name("COLUMN")
      ->allow_extra_args(false);
  app.add_option("--groups", r.groups,
                 "columns that are permuted together, such as 'a,b;c,d'; auto: those that go together, by a "
                 "correlation above 0.8 [default: each alone]")
      ->type_name("GROUPS");
  app.add_option("--repeats", r.repeats, "permutations of each column, averaged [default 5]")
      ->type_name("N")
      ->check(within<PermutationPlan>("a number of permutations", "repeats"));
  app.add_option("--rows", r.rows, "rows to permute, evenly spaced in DATA [default 2000]")
      ->type_name("N")
      ->check(within<PermutationPlan>("a number of rows", "rows"));
  app.add_option(
         "--out", r.out,
         "also write a table, .csv, .tsv, .parquet or .feather: of the curves of --column, without it of the "
         "importance")
      ->type_name("FILE");
  add_level(app, r.level);
  add_column_changes(app, r.rename, r.fill, "DATA", "a change that DATA do not need is an error");
  add_threads(app, p.threads);
  add_device(app, p.device);
  add_table_memory(app, p.table_memory);
  app.add_flag("--json", r.json, "print one JSON object");
  app.footer(
      "The cells of a column are permuted among the rows, so that they say nothing. Columns: nll and rmse "
      "(of "
      "classes accuracy), how much the error rises (the accuracy falls); mean, the mean squared change of "
      "the "
      "mean over its variance between the rows, 2 where nothing else matters; aleatoric, epistemic and "
      "width, "
      "how much these parts of the uncertainty change, as a share of their mean; after ± the standard error "
      "over the permutations. The largest nll comes first, without a target the largest mean. Columns that "
      "say the same share their importance: --groups auto joins them. docs/explain.md says how to read the "
      "numbers. Images and texts have no columns, and events no error of a row: they are not explained.\n\n"
      "Examples:\n"
      "  slimbayes explain model.safetensors houses.csv\n"
      "  slimbayes explain model.safetensors new.csv --groups auto --repeats 10\n"
      "  slimbayes explain model.safetensors new.csv --groups 'lat,lon;rooms,area'\n"
      "  slimbayes explain model.safetensors houses.csv --column area --column rooms --out curves.csv");
}

}  // namespace slimbayes::cli
