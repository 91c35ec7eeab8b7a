// Flags, help and examples of the commands that need a model file: predict, evaluate, update, forget, merge,
// export.
#include <fmt/format.h>

#include "cli/common_flags.h"
#include "cli/flags.h"
#include "cli/usage.h"
#include "slimbayes/catalog/call_options.h"

namespace slimbayes::cli {
namespace {

constexpr const char* kOfSeveral = "Several targets";  // heading of the flags of such models

/// Adds the flags that say which columns an answer has.
void add_answer(CLI::App& app, PredictRequest& r) {
  OptionDoc probability;
  probability.type = "number";
  probability.range = Range{0, 1, /*without_low=*/true, /*without_high=*/true};
  app.add_option(
         "--keep", r.keep,
         "columns of DATA to copy unchanged into the output, before the answer's columns, comma-separated. "
         "From a CSV into .parquet, .feather or JSON they are texts, except numeric inputs of the model. For "
         "windows, the values are those of the last row seen; its time comes first, as last_time")
      ->type_name("COLUMN,...")
      ->allow_extra_args(false);
  app.add_flag(
      "--keep-outside", r.keep_outside,
      "add a column outside: how far the row lies beyond the training range, the largest distance over\n"
      "its numeric columns in half-ranges; 0 within");
  app.add_flag("--parts", r.parts,
               "add the two parts of the sd for a method whose parts are not aleatoric and epistemic: "
               "sd_noise, the noise of all rows, and sd_function, the sd of the function");
  app.add_option("--level", r.levels,
                 "probability of the interval or set, or several, comma-separated [default 0.95]")
      ->type_name("P[,P]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(within<RunOptions>("a probability", "level"))
      ->each([&r](const std::string&) { r.level_given = true; });
  app.add_option(
         "--quantiles", r.quantiles,
         "probabilities, comma-separated, above 0 and below 1: adds the quantiles of numbers, counts and "
         "events as columns q0.05, ...; of a calibrated model q0.05 and q0.95 are the ends of its 90 % "
         "interval")
      ->type_name("Q[,Q]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(within("a probability", probability));
  add_sets(app, r.sets);
}

/// Adds the flags of models of several targets.
void add_joint_answer(CLI::App& app, PredictRequest& r) {
  OptionDoc count;
  count.type = "integer";
  count.range = Range{1, 1e6};
  CLI::Option* draws =
      app.add_option("--draws", r.draws,
                     "joint draws of all targets of each row in place of the answer: lines of row, draw and "
                     "the value of each target")
          ->type_name("S")
          ->check(within("a number of draws", count))
          ->group(kOfSeveral);
  app.add_option("--seed", r.seed, "seed of these draws [default 0]")
      ->type_name("S")
      ->check(within<RunOptions>("a seed", "seed"))
      ->needs(draws)
      ->group(kOfSeveral);
  app.add_flag("--region", r.region,
               "add region_lower and region_upper of each number and count: they hold all of them at once "
               "with the probability of --level")
      ->group(kOfSeveral);
  app.add_option("--probability", r.probability,
                 "conditions TARGET OP VALUE with commas between them, OP one of > >= < <= and, of classes "
                 "and counts, =: adds the column probability, that all of them hold")
      ->type_name("'a>3,c=yes'")
      ->allow_extra_args(false)
      ->group(kOfSeveral);
}

void add_predict(CLI::App& root, Parsed& p) {
  CLI::App& app = *root.add_subcommand(
      "predict", "Predict: mean, uncertainty, interval of each row, window, image or text");
  app.add_option("MODEL", p.predict.model, "file written by fit")->required();
  app.add_option(
         "DATA", p.predict.files,
         "data of the kind that was fitted on, - for CSV on stdin; several files, or a folder of them, "
         "as one table; no target is needed, but windows need its past")
      ->required();
  app.add_option(
         "--split", p.predict.split,
         "train, valid, calibration or test part of the data that were fitted on, in the order of DATA; "
         "a column row comes first, the number of each row in DATA from 1 (of windows that of the last "
         "row seen)")
      ->type_name("PART")
      ->check(one_of({"train", "valid", "calibration", "test"}));
  app.add_option("--out", p.predict.out, ".csv, .tsv, .parquet, .feather, or - for CSV on stdout [default -]")
      ->type_name("FILE");
  add_answer(app, p.predict);
  add_joint_answer(app, p.predict);
  app.add_option(
         "--maps", p.predict.maps,
         "of segmentation: folder for a map of the classes and of the uncertainty of each image, as PNG, "
         "and classes.csv, the numbers, names and colours of the classes")
      ->type_name("DIR");
  add_column_changes(app, p.predict.rename, p.predict.fill, "DATA", "--keep takes the new names");
  add_on_bad_row(
      app, p.predict.on_bad_row,
      "with a row that has no finite answer (a cell too far from the training rows, an overflow)\n"
      "blank: its cells are empty; skip: its line is left out; error: nothing is answered [default blank]",
      true);
  add_threads(app, p.threads);
  add_device(app, p.device);
  add_table_memory(app, p.table_memory);
  app.add_flag("--json", p.predict.json,
               "print one JSON object: task, levels and rows, an object for each line with the columns below "
               "as keys, null where a cell is empty");
  app.footer(
      "Columns: mean, sd, lower, upper, in the target's units, with median after mean if the answer is no "
      "Gaussian (auto), and with sd_aleatoric (noise in the data) and sd_epistemic (uncertainty of the "
      "model) after sd if the method tells them apart; at several levels "
      "lower_50, upper_50, ...; of classes p_CLASS, entropy, mutual_information, label, and the set of "
      "plausible classes of a calibrated model; of events mean, sd, lower, upper of the intensity; of "
      "segmentation a line for each image, means of entropy and mutual_information, share_CLASS of its "
      "pixels and, where there are labels, accuracy; of windows "
      "before them forecast_time, the time that the answer is for (with Z, UTC, where DATA give "
      "offsets), and actual, the target at that time, where DATA have it; of several targets these for each, "
      "as TARGET.mean.\n\nExamples:\n"
      "  slimbayes predict model.safetensors new.csv --out answers.parquet\n"
      "  slimbayes predict model.safetensors new.csv --keep id\n"
      "  slimbayes predict scenes.safetensors camvid_test.bin.gz --maps maps --out images.csv\n"
      "  slimbayes predict model.safetensors new.csv --level 0.5,0.9 | head\n"
      "  slimbayes predict model.safetensors houses.csv --split test --keep price\n"
      "  slimbayes predict model.safetensors new.csv --quantiles 0.05,0.5,0.95\n"
      "  slimbayes predict model.safetensors new.csv --json | jq '.rows[].mean'\n"
      "  slimbayes predict air.safetensors new.csv --region --probability 'no2>40,pm10>50'\n"
      "  slimbayes predict air.safetensors new.csv --draws 100");
}

/// Adds the flags that score parts of the rows.
void add_parts_of_rows(CLI::App& app, EvaluateRequest& r) {
  app.add_option(
         "--folds", r.folds,
         "fit the model's method with its options anew without each of K folds of DATA, and score the fold: "
         "the scores of all of DATA, each row by a fit that did not see it, and their sd over the folds. "
         "Takes the time of K fits; a model of tuned options keeps those")
      ->type_name("K")
      ->check(within<ComparisonPlan>("a number of folds", "folds"));
  app.add_option("--by", r.by,
                 "columns of DATA, comma-separated, inputs of the model or not: the coverage, width, NLL and "
                 "error of each of their values; more than 20 numbers are cut in five bins with equal "
                 "numbers of rows")
      ->type_name("COLUMN,...")
      ->allow_extra_args(false);
  app.add_flag("--conditional", r.conditional,
               "estimate how far the coverage given the inputs of a row is from the level at least (ERT): "
               "trains a classifier of the covered rows in five folds, some seconds");
}

void add_evaluate(CLI::App& root, Parsed& p) {
  CLI::App& app = *root.add_subcommand("evaluate", "Score a model on data that hold the target");
  app.add_option("MODEL", p.evaluate.model, "file written by fit")->required();
  app.add_option("DATA", p.evaluate.files, kTargetedFiles)->required();
  app.add_option("--split", p.evaluate.split,
                 "train, valid, calibration or test part of the data that were fitted on")
      ->type_name("PART")
      ->check(one_of({"train", "valid", "calibration", "test"}));
  add_parts_of_rows(app, p.evaluate);
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
  app.add_option(
         "--plots", p.evaluate.plots,
         "folder for plots of the uncertainty: selective.svg, the error of the share of the rows that "
         "are kept; of classes reliability.svg, the accuracy for each confidence; of numbers "
         "calibration.svg, the coverage of each level; with --ood scores.svg, the scores of the foreign rows")
      ->type_name("DIR");
  add_column_changes(app, p.evaluate.rename, p.evaluate.fill, "DATA or the foreign data",
                     "each file is changed where it needs it, and a change that none needs is an error");
  add_on_bad_row(app, p.evaluate.on_bad_row,
                 "with a row that has no finite answer (a cell too far from the training rows, an overflow)\n"
                 "error: nothing is scored; skip: it is left out, with a note [default error]",
                 false);
  add_level(app, p.evaluate.level);
  add_sets(app, p.evaluate.sets);
  add_threads(app, p.threads);
  add_device(app, p.device);
  add_table_memory(app, p.table_memory);
  app.add_flag("--json", p.evaluate.json, "print one JSON object");
  app.footer(
      "Of windows the report has persistence, the last target seen, and seasonal persistence, the target a "
      "day (else a week) before, beside the model. The scores and plots of the uncertainty are explained in "
      "docs/metrics.md; all of them, and the points of the plots, are in --json. Of several targets the "
      "table has a column for each, and the scores of all together follow.\n\nExamples:\n"
      "  slimbayes evaluate model.safetensors houses.csv --split test\n"
      "  slimbayes evaluate model.safetensors houses.csv --split test --plots plots\n"
      "  slimbayes evaluate model.safetensors houses.csv --split test --by city\n"
      "  slimbayes evaluate model.safetensors houses.csv --folds 5\n"
      "  slimbayes evaluate red.safetensors wine_red.csv --ood wine_white.csv --json\n"
      "  slimbayes evaluate air.safetensors air.csv --split test\n"
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
           fmt::format("model of a method with an exact posterior ({}){}", methods_that(&MethodInfo::updates),
                       forgets ? "" : ", or one of a series that was fitted with --calibrate adaptive"))
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

void add_export(CLI::App& root, Parsed& p) {
  ExportRequest& r = p.exported;
  CLI::App& app = *root.add_subcommand(
      "export",
      "Write a model as an ONNX graph, or one with random weights as a network with one set of them");
  app.add_option("MODEL", r.model,
                 "file written by fit; with --out of a method with random weights (bbb, low-rank, fid-gp and "
                 "others)")
      ->required();
  CLI::Option* out = app.add_option("--out", r.out, "model file to write")->type_name("FILE");
  app.add_option(
         "--draw", r.draw,
         "write this draw of the weights, from 1, in place of their centre: predict averages the draws")
      ->type_name("K")
      ->check(within<ExportOptions>("a draw, or 0 for the centre", "draw"))
      ->needs(out);
  CLI::Option* onnx =
      app.add_option("--onnx", r.onnx, "ONNX graph to write, of a model of tables")->type_name("FILE");
  onnx->excludes(out);
  app.add_option("--level", r.level, "level of the graph's interval [0.95]")->type_name("LEVEL")->needs(onnx);
  app.add_flag("--encoded", r.encoded,
               "one input of numbers, categories as their places, in place of an input for each column")
      ->needs(onnx);
  add_threads(app, p.threads);
  app.add_flag("--json", r.json, "print one JSON object");
  app.footer(
      "An ONNX graph answers rows in other languages and on other machines: mean, sd and interval, or "
      "classes "
      "(docs/serving.md). Python writes it: the package slimbayes, and `pip install onnx onnxscript`. "
      "SLIMBAYES_PYTHON names the Python, else it is python3.\n\n"
      "The centre of the weights is their mean; of fid-gp, whose flow has no closed form of it, the "
      "weights given the image of the mean. Factors and inducing weights become full matrices, so the "
      "file of a wide network grows, and a row takes one pass. It is a model of the method dnn: its "
      "answers have no epistemic uncertainty. The tensors (safetensors, network.0.weight and so on) "
      "have the names and shapes of "
      "PyTorch's.\n\n"
      "Examples:\n"
      "  slimbayes fit houses.csv --target price --method low-rank --network mlp\n"
      "  slimbayes export model.safetensors --out mean.safetensors\n"
      "  slimbayes export model.safetensors --draw 3 --out third.safetensors\n"
      "  slimbayes export houses.safetensors --onnx houses.onnx --level 0.9");
}

}  // namespace

void add_model_commands(CLI::App& root, Parsed& parsed) {
  add_predict(root, parsed);
  add_evaluate(root, parsed);
  add_report(root, parsed);
  add_explain(root, parsed);
  add_updates(root, parsed);
  add_merge(root, parsed);
  add_export(root, parsed);
}

}  // namespace slimbayes::cli
