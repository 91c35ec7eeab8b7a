// The flags of fit and compare. The flags of the other commands are in model_flags.cpp and other_flags.cpp.
#include "cli/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "cli/common_flags.h"
#include "cli/messages.h"
#include "cli/usage.h"
#include "slimbayes/catalog/call_options.h"

namespace slimbayes::cli {
namespace {

/// Returns the value of `flag` in the words, given as `--flag value` or `--flag=value`; the last one if it is
/// given several times, and `fallback` if it is absent.
std::string value_of(const Words& words, const std::string& flag, std::string fallback) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with(flag + "=")) fallback = words[i].substr(flag.size() + 1);
    if (words[i] == flag && i + 1 < words.size()) fallback = words[i + 1];
  }
  return fallback;
}

/// Returns the methods whose options become flags of a command: the methods that `flag` names (`fallback` if
/// it is absent), then the methods that these wrap, such as the member method of an ensemble (--of) and the
/// candidates of auto.
std::vector<const MethodInfo*> flagged_methods(const Words& words, const std::string& flag,
                                               const std::string& fallback) {
  std::vector<const MethodInfo*> methods = methods_of(value_of(words, flag, fallback));
  for (size_t i = 0; i < methods.size(); ++i) {
    if (methods[i]->candidates) {
      const nlohmann::json named = {{"candidates", value_of(words, "--candidates", "by-size")}};
      for (const std::string& name : methods[i]->candidates(named)) {
        const MethodInfo* method = &find_method(name);
        if (std::ranges::find(methods, method) == methods.end()) methods.push_back(method);
      }
    }
    if (methods[i]->inner.empty()) continue;
    const std::string& inner = methods[i]->inner;
    const std::string of =
        value_of(words, "--" + inner, inner_method(*methods[i], nlohmann::json::object()).name);
    // Throws if the method cannot wrap this inner method, before the flags of the inner method are looked up.
    methods[i]->resolve({{inner, of}});
    const MethodInfo* method = &find_method(of);
    if (std::ranges::find(methods, method) == methods.end()) methods.push_back(method);
  }
  return methods;
}

/// Returns the name of the method whose options are the flags of `fit` if --method is not given.
std::string default_name(const Words& words) {
  return value_of(words, "--network-from", "").empty() ? default_method(TaskKind::regression).name
                                                       : default_method_of_network().name;
}

/// Adds the flags of the methods that `flag` names, or of those in `fallback` if it is absent. In that case
/// the data may still decide the method, so help shows only the options that most methods have.
void add_methods(CLI::App& app, OptionFlags& flags, const Words& words, const std::string& flag,
                 const std::string& fallback) {
  flags.add(app, flagged_methods(words, flag, fallback));
  const bool chosen = !value_of(words, flag, "").empty() || !value_of(words, "--network-from", "").empty();
  if (!chosen) flags.show_shared();
}

/// Adds the flags of a table that need not fit into memory.
void add_cache(CLI::App& app, FitRequest& r) {
  app.add_option(
         "--cache", r.cache,
         "folder on a local disk, for tables beyond memory: the files are read piece by piece, and the "
         "encoded rows lie there during the fit, 4 bytes a number")
      ->type_name("FOLDER");
  app.add_option("--shuffle-rows", r.shuffle_rows,
                 "with --cache, the rows that are shuffled together and kept in memory, 4096 at least; give "
                 "many where "
                 "neighbouring rows are alike, as in sorted files [default 262144]")
      ->type_name("N");
}

/// Adds --timeout. The launcher (python/slimbayes/__main__.py) takes this flag out: one process waits for no
/// other.
void add_timeout(CLI::App& app) {
  app.add_option_function<double>(
         "--timeout", [](double) {},
         "time that a process which torchrun has started waits for another one "
         "[default 300]")
      ->type_name("S");
}

/// Adds the flags of a run that may be interrupted and shared by several processes.
void add_run(CLI::App& app, FitRequest& r) {
  app.add_flag("--resume", r.resume, "go on from the checkpoint FILE.ckpt; a finished fit is left as it is");
  app.add_option("--checkpoint-every", r.checkpoint_every,
                 "seconds between two checkpoints, 0 for one after every step [default 2]")
      ->type_name("S")
      ->check(within<RunOptions>("seconds", "checkpoint_every"));
  app.add_option("--parallel", r.parallel,
                 "what the processes that torchrun starts share. jobs: the fits of auto, of --tune, of an "
                 "ensemble; rows: the rows of every batch; auto: jobs where there are as many fits as "
                 "processes [default auto]")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"auto", "jobs", "rows"}));
  add_timeout(app);
}

void add_fit(CLI::App& root, Parsed& p, const Words& words) {
  CLI::App& app = *root.add_subcommand(
      "fit", "Fit a method on a table, a time series, images or text, and save the model");
  FitRequest& r = p.fit;
  app.add_option(
         "TRAIN", r.files,
         "table: .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .feather, - for CSV on stdin; several such "
         "files, or a folder of them, as one table; or images: an IDX file (.gz or not), CIFAR records "
         "with --format")
      ->required();
  app.add_option("--method", r.fit.method,
                 fmt::format("one of `slimbayes methods` [default {}; {} with --network-from]",
                             in_flags(default_methods_text()), default_method_of_network().name))
      ->type_name("METHOD");
  add_preset(app, r.preset);
  app.add_option("--model", r.model, "file to write [default model.safetensors]")->type_name("FILE");
  app.add_option("--seed", r.fit.seed, "seed of weights and batches [default 0]")
      ->type_name("S")
      ->check(within<RunOptions>("a seed", "seed"));
  add_threads(app, p.threads);
  add_device(app, p.device);
  add_table_memory(app, p.table_memory);
  add_cache(app, r);
  add_run(app, r);
  app.add_flag("--json", r.json, "print one JSON object");
  app.add_flag(
      "--dry-run", p.dry_run,
      "fit nothing and read no table: print the options and the handling of rows that would be used");
  p.valid = app.add_option("--valid", r.valid, "validation data of their own, instead of --valid-fraction")
                ->type_name("FILE")
                ->group("Split");
  app.add_flag(
      "--tune", r.tune,
      fmt::format(
          "choose options of the method by validation NLL ({}): one fit for each combination of those "
          "that no flag sets; --resume continues with the next combination",
          grids_text()));
  add_level(app, r.fit.level);
  p.fit_flags.add(app, option_docs<FitOptions>());
  add_methods(app, p.fit_flags, words, "--method", default_name(words));
  app.footer(
      "Examples:\n"
      "  slimbayes fit houses.csv --target price\n"
      "  slimbayes fit houses.csv --target price --method gp-exact --test-fraction 0.1 --json\n"
      "  slimbayes fit houses.csv --target price --steps 40000 --model big.safetensors --resume\n"
      "  slimbayes fit houses.csv --target price --method dbk --calibrate conformal --tune\n"
      "  slimbayes fit houses.csv --target price --method ensemble --of dbk --members 5\n"
      "  slimbayes fit mails.csv --target spam\n"
      "  slimbayes fit air.csv --target no2,pm10,alarm --model air.safetensors\n"
      "  slimbayes fit houses/*.parquet --target price\n"
      "  slimbayes fit clicks --target bought --method dnn --cache /tmp\n"
      "  slimbayes fit data_batch.bin --format cifar10 --network resnet18 --device cuda\n"
      "  torchrun --nproc-per-node 2 -m slimbayes fit houses.csv --target price --method dbk\n"
      "  slimbayes fit quakes.csv --likelihood cox --domain 0:1,0:2\n"
      "  slimbayes fit air.csv --target pm --window 24 --time date\n"
      "  slimbayes fit reviews.csv --target stars --text review\n"
      "  slimbayes fit train-images-idx3-ubyte.gz --epochs 5\n"
      "  slimbayes fit data_batch.bin --format cifar10 --network resnet18 --crop 4 --flip\n"
      "The options of a method: slimbayes fit --method dbk --help; the methods: slimbayes methods");
}

void add_compare(CLI::App& root, Parsed& p, const Words& words) {
  CLI::App& app =
      *root.add_subcommand("compare", "Fit several methods with several seeds on the same splits");
  CompareRequest& r = p.compare;
  r.fit.test_fraction = 0.1;
  app.add_option("DATA", r.data, "table or images, as fit takes them")->required();
  app.add_option(
         "--methods", p.compared,
         "comma-separated; ridge, logistic, extra-trees, bag-of-words, constant join them [default: all that "
         "take the data]")
      ->type_name("A,B,C");
  add_preset(app, p.preset);
  app.add_option("--seeds", r.seeds, "fits of each method that has a seed [default 5]")
      ->type_name("K")
      ->check(within<ComparisonPlan>("a number of seeds", "seeds"));
  app.add_option("--repeats", r.repeats,
                 "random splits, from --split-seed on; several also tell whether the two best methods differ "
                 "[default 1]")
      ->type_name("R")
      ->check(within<ComparisonPlan>("a number of repeats", "repeats"));
  app.add_option(
         "--cross-validate", r.folds,
         "folds that are the test part in turn, in the place of one random part; they too tell whether the "
         "two best methods differ")
      ->type_name("K")
      ->check(within<ComparisonPlan>("a number of folds", "folds"));
  add_level(app, r.fit.level);
  add_threads(app, p.threads);
  add_device(app, p.device);
  add_table_memory(app, p.table_memory);
  add_timeout(app);
  app.add_flag("--json", r.json, "print one JSON object");
  p.compare_flags.add(app, option_docs(r.fit));
  add_methods(app, p.compare_flags, words, "--methods", p.compared);
  app.footer(
      "Mean ± sd over the fits, of all splits. With --repeats or --cross-validate, a line below the table "
      "compares the NLL of "
      "the "
      "two best methods by split (corrected resampled t test, Nadeau and Bengio 2003). The best of each "
      "column is bold, * where there is no terminal; none where "
      "all show the same. Methods that start from the same trained network train it once; the seconds of "
      "each contain it.\n\n"
      "Examples:\n"
      "  slimbayes compare houses.csv --target price\n"
      "  slimbayes compare houses.csv --target price --methods dbk,dnn --seeds 10 --steps 5000 --json\n"
      "  slimbayes compare houses.csv --target price --methods dbk,gp-exact --seeds 1 --repeats 10\n"
      "  torchrun --nproc-per-node 2 -m slimbayes compare houses.csv --target price\n"
      "The options of methods: slimbayes compare --methods dbk,dnn --help; the methods: slimbayes methods");
}

}  // namespace

std::vector<const MethodInfo*> methods_of(const std::string& list) {
  std::vector<const MethodInfo*> methods;
  for (const std::string& name : split_list(list)) {
    const MethodInfo* method = &find_method(name);
    if (std::ranges::find(methods, method) == methods.end()) methods.push_back(method);
  }
  return methods;
}

std::string every_method() {
  std::string list;
  for (const MethodInfo& info : method_catalog()) list += (list.empty() ? "" : ",") + info.name;
  return list;
}

void misuse(const std::string& text) { throw std::invalid_argument(text); }

void add_commands(CLI::App& root, Parsed& parsed, const Words& words) {
  const std::string first = words.empty() ? "" : words.front();
  add_fit(root, parsed, first == "fit" ? words : Words{});
  add_model_commands(root, parsed);
  add_compare(root, parsed, first == "compare" ? words : Words{});
  add_theory_commands(root, parsed);
  add_other_commands(root, parsed);
}

}  // namespace slimbayes::cli
