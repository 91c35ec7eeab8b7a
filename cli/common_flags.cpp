#include "cli/common_flags.h"

#include <fmt/format.h>

#include "cli/usage.h"
#include "slimbayes/catalog/call_options.h"
#include "slimbayes/catalog/methods.h"

namespace slimbayes::cli {

void add_threads(CLI::App& app, int& threads) {
  app.add_option(
         "--threads", threads,
         "cores to use, 0 for all [default: all; a single fit of a network uses one, because its "
         "short steps gain little from more; independent fits (members, folds, candidates, seeds) run "
         "beside each other, one core each]")
      ->type_name("T")
      ->check(within<RunOptions>("a number of cores", "threads"));
}

void add_device(CLI::App& app, std::string& device) {
  app.add_option("--device", device, fmt::format("{} [default cpu]", kDeviceHelp))->type_name("DEVICE");
}

void add_table_memory(CLI::App& app, uint64_t& bytes) {
  app.add_option(
         "--max-table-memory", bytes,
         "memory that reading a table may take, such as 500M or 8G [default: three quarters of what is at "
         "hand; a packed table may hold 256 MB, or 100 times its size (.gz), 1,000 times (.parquet, "
         ".feather)]")
      ->type_name("SIZE")
      ->transform(byte_size());
}

void add_preset(CLI::App& app, std::string& preset) {
  app.add_option("--preset", preset,
                 "paper: the options of the method's paper, where flags do not say otherwise")
      ->type_name("NAME")
      ->check(one_of(preset_names()));
}

void add_level(CLI::App& app, double& level) {
  app.add_option("--level", level, "probability of the interval [default 0.95]")
      ->type_name("P")
      ->check(within<RunOptions>("a probability", "level"));
}

void add_sets(CLI::App& app, std::string& sets) {
  app.add_option(
         "--sets", sets,
         "sets of classes of a calibrated model\n"
         "randomised: hold the level exactly, by a number computed from the row; deterministic: hold at\n"
         "least the level, are never empty, and equal answers have equal sets [default randomised]")
      ->type_name("KIND")
      ->check(one_of({"randomised", "deterministic"}));
}

void add_column_changes(CLI::App& app, std::vector<std::string>& rename, std::vector<std::string>& fill,
                        const std::string& of, const std::string& when) {
  app.add_option(
         "--rename", rename,
         fmt::format("columns of {} that have another name than the model's, as pairs FILE=MODEL;\n{}", of,
                     when))
      ->type_name("A=B,C=D")
      ->allow_extra_args(false);
  app.add_option("--fill", fill,
                 fmt::format("columns of the model that {} lack: a number, category or date for every row\n"
                             "(nothing or NA: missing, imputed as in training)",
                             of))
      ->type_name("B=1,C=red")
      ->allow_extra_args(false);
}

void add_on_bad_row(CLI::App& app, std::string& choice, const std::string& help, bool blank) {
  std::vector<std::string> choices = {"error", "skip"};
  if (blank) choices.push_back("blank");
  app.add_option("--on-bad-row", choice, help)->type_name("DO")->check(one_of(choices));
}

}  // namespace slimbayes::cli
