#include "cli/flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/common_flags.h"
#include "cli/usage.h"

namespace slimbayes::cli {
namespace {

/// Returns the last value of `flag` among the words, given as `--flag value` or `--flag=value`, else
/// `fallback`.
std::string value_of(const Words& words, const std::string& flag, std::string fallback) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with(flag + "=")) fallback = words[i].substr(flag.size() + 1);
    if (words[i] == flag && i + 1 < words.size()) fallback = words[i + 1];
  }
  return fallback;
}

/// Returns the methods whose flags a command takes: those that `flag` names, then the inner methods that
/// these name in turn (--of).
std::vector<const MethodInfo*> flagged_methods(const Words& words, const std::string& flag,
                                               const std::string& fallback) {
  std::vector<const MethodInfo*> methods = methods_of(value_of(words, flag, fallback));
  for (size_t i = 0; i < methods.size(); ++i) {
    if (methods[i]->inner.empty()) continue;
    const std::string& inner = methods[i]->inner;
    const std::string of =
        value_of(words, "--" + inner, inner_method(*methods[i], nlohmann::json::object()).name);
    // Throws for an inner method that it does not take, before its flags are looked up.
    methods[i]->resolve({{inner, of}});
    const MethodInfo* method = &find_method(of);
    if (std::ranges::find(methods, method) == methods.end()) methods.push_back(method);
  }
  return methods;
}

/// Returns the method whose options `fit` takes without --method.
std::string default_name(const Words& words) {
  return value_of(words, "--network-from", "").empty() ? default_method(TaskKind::regression).name
                                                       : default_method_of_network().name;
}

/// Adds the flags of the methods that `flag` names. Without it they are those of `fallback`, and help shows
/// only what most methods have, as the method may still be chosen by the data.
void add_methods(CLI::App& app, OptionFlags& flags, const Words& words, const std::string& flag,
                 const std::string& fallback) {
  flags.add(app, flagged_methods(words, flag, fallback));
  const bool chosen = !value_of(words, flag, "").empty() || !value_of(words, "--network-from", "").empty();
  if (!chosen) flags.show_shared();
}

void add_fit(CLI::App& root, Parsed& p, const Words& words) {
  CLI::App& app = *root.add_subcommand(
      "fit", "Fit a method on a table, a time series, images or text, and save the model");
  FitRequest& r = p.fit;
  app.add_option("TRAIN", r.train,
                 "table: .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .feather, - for CSV on stdin; or images: an "
                 "IDX file (.gz or not), CIFAR records with --format")
      ->required();
  app.add_option("--method", r.fit.method,
                 fmt::format("one of `slimbayes methods` [default {}; {} with --network-from]",
                             default_methods_text(), default_method_of_network().name))
      ->type_name("METHOD");
  add_preset(app, r.preset);
  app.add_option("--model", r.model, "file to write [default model.safetensors]")->type_name("FILE");
  app.add_option("--seed", r.fit.seed, "seed of weights and batches [default 0]")
      ->type_name("S")
      ->check(whole("a seed", 0, UINT64_MAX));
  add_threads(app, p.threads);
  add_table_memory(app, p.table_memory);
  app.add_flag("--resume", r.resume, "go on from the checkpoint FILE.ckpt; a finished fit is left as it is");
  app.add_option("--checkpoint-every", r.checkpoint_every,
                 "seconds between two checkpoints, 0 for one after every step [default 2]")
      ->type_name("S")
      ->check(between("seconds", 0, 1e9, true));
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
      "  slimbayes fit houses.csv --target price --calibrate conformal --tune\n"
      "  slimbayes fit houses.csv --target price --method ensemble --of dbk --members 5\n"
      "  slimbayes fit mails.csv --target spam\n"
      "  slimbayes fit quakes.csv --likelihood cox --domain 0:1,0:2\n"
      "  slimbayes fit air.csv --target pm --window 24 --time date\n"
      "  slimbayes fit reviews.csv --target stars --text review\n"
      "  slimbayes fit train-images-idx3-ubyte.gz --epochs 5\n"
      "  slimbayes fit data_batch.bin --format cifar10 --network resnet18 --crop 4 --flip\n"
      "The options of a method: slimbayes fit --method dbk --help; the methods: slimbayes methods");
}

void add_predict(CLI::App& root, Parsed& p) {
  CLI::App& app = *root.add_subcommand(
      "predict", "Predict: mean, uncertainty, interval of each row, window, image or text");
  app.add_option("MODEL", p.predict.model, "file written by fit")->required();
  app.add_option("DATA", p.predict.data,
                 "data of the kind that was fitted on, - for CSV on stdin; no target is needed, but windows "
                 "need its past")
      ->required();
  app.add_option("--out", p.predict.out, ".csv, .tsv, .parquet, .feather, or - for CSV on stdout [default -]")
      ->type_name("FILE");
  app.add_option(
         "--keep", p.predict.keep,
         "columns of DATA to copy unchanged into the output, before the answer's columns, comma-separated. "
         "From a CSV into .parquet or .feather they are texts, except numeric inputs of the model. For "
         "windows, the values are those of the last row seen; its time comes first, as last_time")
      ->type_name("COLUMN,...")
      ->allow_extra_args(false);
  add_column_changes(app, p.predict.rename, p.predict.fill, "DATA", "--keep takes the new names");
  app.add_flag(
      "--keep-outside", p.predict.keep_outside,
      "add a column outside: how far the row lies beyond the training range, the largest distance over\n"
      "its numeric columns in half-ranges; 0 within");
  add_on_bad_row(
      app, p.predict.on_bad_row,
      "with a row that has no finite answer (a cell too far from the training rows, an overflow)\n"
      "blank: its cells are empty; skip: its line is left out; error: nothing is answered [default blank]",
      true);
  app.add_flag("--parts", p.predict.parts,
               "add the two parts of the sd for a method whose parts are not aleatoric and epistemic: "
               "sd_noise, the noise of all rows, and sd_function, the sd of the function");
  app.add_option("--level", p.predict.levels,
                 "probability of the interval or set, or several, comma-separated [default 0.95]")
      ->type_name("P[,P]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(between("a probability", 0, 1, false));
  add_sets(app, p.predict.sets);
  add_threads(app, p.threads);
  add_table_memory(app, p.table_memory);
  app.footer(
      "Columns: mean, sd, lower, upper, in the target's units, with sd_aleatoric (noise in the data) and "
      "sd_epistemic (uncertainty of the model) after sd if the method tells them apart; at several levels "
      "lower_50, upper_50, ...; of "
      "classes "
      "p_CLASS, entropy, mutual_information, label, and the set of plausible classes of a calibrated model; "
      "of "
      "events mean, sd, lower, upper of the intensity; of windows before them forecast_time, the time that "
      "the answer is for (with Z, UTC, where DATA give offsets), and actual, the target at that time, where "
      "DATA have it.\n\nExamples:\n"
      "  slimbayes predict model.safetensors new.csv --out answers.parquet\n"
      "  slimbayes predict model.safetensors new.csv --keep id\n"
      "  slimbayes predict model.safetensors new.csv --level 0.5,0.9 | head");
}

void add_evaluate(CLI::App& root, Parsed& p) {
  CLI::App& app = *root.add_subcommand("evaluate", "Score a model on data that hold the target");
  app.add_option("MODEL", p.evaluate.model, "file written by fit")->required();
  app.add_option("DATA", p.evaluate.data, "data with their target, - for CSV on stdin")->required();
  app.add_option("--split", p.evaluate.split,
                 "train, valid, calibration or test part of the data that were fitted on")
      ->type_name("PART")
      ->check(one_of({"train", "valid", "calibration", "test"}));
  app.add_option(
         "--ood", p.evaluate.ood,
         "foreign data: prints how well each score, larger for foreign rows, tells it from DATA\n"
         "epistemic_sd, total_sd: of numbers, the sd that the method offers for this\n"
         "mutual_information: of classes, the epistemic part of the entropy\n"
         "entropy: of classes, of the answer's probabilities, noisy labels included\n"
         "max_softmax: of classes, 1 - the largest probability (maximum softmax probability)\n"
         "energy: of classes, -log sum exp of the logits of a trained network\n"
         "logit_var: of classes, the posterior variance of the predicted class's logit (the methods of a "
         "last layer;\nlast-layer-laplace: of that logit less the mean of all)\n"
         "log_rate_sd: of counts and events, the sd of the log rate\n"
         "outside: of rows and windows, half-ranges beyond the training range\n"
         "distance: root mean square of (x - training mean) / training sd over the numeric columns of a\n"
         "row or window, or the pixels of an image")
      ->type_name("FILE");
  add_column_changes(app, p.evaluate.rename, p.evaluate.fill, "DATA or the foreign data",
                     "each file is changed where it needs it, and a change that none needs is an error");
  add_on_bad_row(app, p.evaluate.on_bad_row,
                 "with a row that has no finite answer (a cell too far from the training rows, an overflow)\n"
                 "error: nothing is scored; skip: it is left out, with a note [default error]",
                 false);
  add_level(app, p.evaluate.level);
  add_sets(app, p.evaluate.sets);
  add_threads(app, p.threads);
  add_table_memory(app, p.table_memory);
  app.add_flag("--json", p.evaluate.json, "print one JSON object");
  app.footer(
      "Of windows the report has persistence, the last target seen, and seasonal persistence, the target a "
      "day "
      "(else a week) before, beside the model.\n\nExamples:\n"
      "  slimbayes evaluate model.safetensors houses.csv --split test\n"
      "  slimbayes evaluate red.safetensors wine_red.csv --ood wine_white.csv --json\n"
      "  slimbayes evaluate m.safetensors here.csv --ood there.csv --rename Temp=temperature --fill site=B");
}

void add_updates(CLI::App& root, Parsed& p) {
  p.forget.forget = true;
  for (UpdateRequest* r : {&p.update, &p.forget}) {
    const bool forgets = r->forget;
    CLI::App& app = *root.add_subcommand(
        forgets ? "forget" : "update", forgets ? "Remove rows from what a model has learned, without training"
                                               : "Let a model learn more rows, without training");
    app.add_option(
           "MODEL", r->model,
           fmt::format("model of a method with an exact posterior ({})", methods_that(&MethodInfo::updates)))
        ->required();
    app.add_option("DATA", r->data,
                   forgets ? "data with their target that the model was fitted on or learned"
                           : "data with their target, - for CSV on stdin")
        ->required();
    CLI::Option* out =
        app.add_option("--out", r->out, "model file to write [default MODEL]")->type_name("FILE");
    if (!forgets)
      app.add_flag("--shard", r->shard,
                   "write a model that has learned only DATA, with the network, noise and prior of MODEL; "
                   "merge joins such models")
          ->needs(out);
    else
      app.add_option(
             "--on-unknown", r->on_unknown,
             "what rows that the model has not learned do (validation and test rows, for example). "
             "error: nothing is forgotten; skip: they are left out, all of them if need be, with a note")
          ->type_name("DO")
          ->check(one_of({"error", "skip"}));
    if (forgets)
      app.add_flag(
          "--duplicates", r->duplicates,
          "with --on-unknown skip: forget also where only some of the rows are known. A row is known "
          "by equal cells alone, so that a row that was never learned takes with it an equal one "
          "that was, perhaps somebody else's");
    add_threads(app, p.threads);
    add_table_memory(app, p.table_memory);
    app.add_flag("--json", r->json, "print one JSON object");
    app.footer(fmt::format(
        "The network, the noise and the prior stay; the posterior is the one that all rows "
        "together give. The "
        "file is replaced at once: after a kill it is the one before or the one after.\n\n"
        "Examples:\n  slimbayes {0} model.safetensors new.csv\n"
        "  slimbayes {0} model.safetensors new.csv --out changed.safetensors{1}",
        forgets ? "forget" : "update",
        forgets ? "" : "\n  slimbayes update model.safetensors east.csv --shard --out east.safetensors"));
  }
}

void add_merge(CLI::App& root, Parsed& p) {
  MergeRequest& r = p.merge;
  CLI::App& app =
      *root.add_subcommand("merge", "Join models that have learned different rows, without training");
  app.add_option("MODEL", r.models, "files of one model: its own, and shards by update --shard")
      ->required()
      ->expected(-2);  // at least two
  app.add_option("--out", r.out, "model file to write")->type_name("FILE")->required();
  add_threads(app, p.threads);
  app.add_flag("--json", r.json, "print one JSON object");
  app.footer(
      "Several machines learn rows of their own around one model, and merge adds them up: the posterior is "
      "the one that all rows together give.\n\n"
      "Examples:\n"
      "  slimbayes fit west.csv --target y --method rich-bll --model west.safetensors\n"
      "  slimbayes update west.safetensors east.csv --shard --out east.safetensors\n"
      "  slimbayes merge west.safetensors east.safetensors --out all.safetensors");
}

void add_compare(CLI::App& root, Parsed& p, const Words& words) {
  CLI::App& app = *root.add_subcommand("compare", "Fit several methods with several seeds on one split");
  CompareRequest& r = p.compare;
  r.fit.test_fraction = 0.1;
  app.add_option("DATA", r.data, "table or images, as fit takes them")->required();
  app.add_option("--methods", p.compared, "comma-separated [default: all that take the data]")
      ->type_name("A,B,C");
  add_preset(app, p.preset);
  app.add_option("--seeds", r.seeds, "fits of each method that has a seed [default 5]")
      ->type_name("K")
      ->check(whole("a number of seeds", 1, 1000));
  add_level(app, r.fit.level);
  add_threads(app, p.threads);
  add_table_memory(app, p.table_memory);
  app.add_flag("--json", r.json, "print one JSON object");
  p.compare_flags.add(app, option_docs(r.fit));
  add_methods(app, p.compare_flags, words, "--methods", p.compared);
  app.footer(
      "Mean ± sd over the fits. The best of each column is bold, * where there is no terminal; none where "
      "all show the same. Methods that start from the same trained network train it once; the seconds of "
      "each "
      "contain it.\n\n"
      "Examples:\n"
      "  slimbayes compare houses.csv --target price\n"
      "  slimbayes compare houses.csv --target price --methods dbk,dnn --seeds 10 --steps 5000 --json\n"
      "The options of methods: slimbayes compare --methods dbk,dnn --help; the methods: slimbayes methods");
}

void add_small(CLI::App& root, Parsed& p) {
  CLI::App& methods = *root.add_subcommand("methods", "List the methods");
  methods.add_flag("--json", p.methods.json, "print a JSON list");
  methods.footer("Examples:\n  slimbayes methods\n  slimbayes methods --json | jq '.[].name'");

  CLI::App& describe = *root.add_subcommand("describe", "Explain a method and its options, or a model file");
  describe.add_option("NAME", p.describe.name,
                      "a method, or a file written by fit [default: a list of the methods]");
  describe.add_flag("--json", p.describe.json, "print one JSON object");
  describe.footer("Examples:\n  slimbayes describe dbk\n  slimbayes describe model.safetensors --json");

  CLI::App& generate = *root.add_subcommand("generate",
                                            "Write synthetic data with its truth: x, y, true_mean, true_sd; "
                                            "of cox x1 in 0:1, x2 in 0:2, true_intensity");
  generate.add_option("NAME", p.generate.name, "steps, ripple, counts or cox (events x1, x2)")->required();
  generate.add_option("--rows", p.generate.rows, "rows, of cox their expected number [default 2000]")
      ->type_name("N")
      ->check(whole("a number of rows", 1, 100000000));
  generate.add_option("--seed", p.generate.seed, "seed [default 0]")
      ->type_name("S")
      ->check(whole("a seed", 0, UINT64_MAX));
  generate.add_option("--amplitude", p.generate.amplitude, "of the noise of steps [default 0.4]")
      ->type_name("A")
      ->check(between("an amplitude", 0, 1e6, true));
  generate
      .add_option("--out", p.generate.out,
                  ".csv, .tsv, .parquet, .feather, or - for CSV on stdout [default -]")
      ->type_name("FILE");
  generate.footer(
      "Examples:\n  slimbayes generate steps --rows 2000 --out steps.csv\n"
      "  slimbayes fit steps.csv --target y --ignore true_mean,true_sd\n"
      "  slimbayes generate cox --rows 5000 --out events.csv\n"
      "  slimbayes fit events.csv --likelihood cox --domain 0:1,0:2 --ignore true_intensity");

  CLI::App& demo = *root.add_subcommand(
      "demo", "Fit a small table; draw three methods' bands where the noise is known (a minute)");
  demo.add_option("--out", p.demo.out, "folder for model.safetensors and bands.svg [default demo-out]")
      ->type_name("DIR");
  demo.add_option("--steps", p.demo.steps,
                  fmt::format("optimiser steps of each network [default {}]", p.demo.steps))
      ->type_name("N")
      ->check(whole("a number of steps", 1, 1000000000));
  demo.add_option("--rows", p.demo.rows, fmt::format("rows of the synthetic data [default {}]", p.demo.rows))
      ->type_name("N")
      ->check(whole("a number of rows", 100, 6000));
  add_threads(demo, p.threads);
  demo.footer("Examples:\n  slimbayes demo\n  slimbayes demo --out /srv/www/bands");
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

void add_commands(CLI::App& root, Parsed& parsed, const Words& words) {
  const std::string first = words.empty() ? "" : words.front();
  add_fit(root, parsed, first == "fit" ? words : Words{});
  add_predict(root, parsed);
  add_evaluate(root, parsed);
  add_updates(root, parsed);
  add_merge(root, parsed);
  add_compare(root, parsed, first == "compare" ? words : Words{});
  add_small(root, parsed);
}

}  // namespace slimbayes::cli
