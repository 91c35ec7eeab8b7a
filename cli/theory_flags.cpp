// Flags, help and examples of the commands that apply theory to a model: rank-advice and bounds.
#include <fmt/format.h>

#include "cli/common_flags.h"
#include "cli/flags.h"
#include "cli/usage.h"
#include "slimbayes/catalog/call_options.h"

namespace slimbayes::cli {
namespace {

void add_rank_advice(CLI::App& root, Parsed& p) {
  RankAdviceRequest& r = p.rank_advice;
  CLI::App& app = *root.add_subcommand(
      "rank-advice", "Advise ranks for a low-rank network from the singular values of a trained one");
  app.add_option("MODEL", r.model, "file written by fit, of a method with a network")->required();
  app.add_option("--energy", r.energy,
                 "share of the sum of squared singular values that the advised rank keeps [default 0.9]")
      ->type_name("SHARE")
      ->check(within<RankOptions>("a share", "energy"));
  app.add_option("--plots", r.plots, "folder for spectra.svg, the singular values of every matrix")
      ->type_name("FOLDER");
  add_threads(app, p.threads);
  app.add_flag("--json", r.json, "print one JSON object, with every singular value");
  app.footer(
      "Reads every matrix of the network (of random weights the mean, E[A] E[B]^T of factors). A rank saves "
      "parameters where r (m + n) < m n. The last lines can be pasted after `slimbayes fit`. The ranks are a "
      "start for a search on validation data: a network that is trained with factors may need fewer or "
      "more.\n\nExamples:\n"
      "  slimbayes fit houses.csv --target price --method dnn --model dnn.safetensors\n"
      "  slimbayes rank-advice dnn.safetensors\n"
      "  slimbayes rank-advice dnn.safetensors --energy 0.99 --plots plots");
}

void add_bounds(CLI::App& root, Parsed& p) {
  BoundsRequest& r = p.bounds;
  CLI::App& app = *root.add_subcommand(
      "bounds", "Bound what a lower rank changes, and the loss on new rows; each with its assumptions");
  app.add_option("MODEL", r.model, "file written by fit, of a method with a network")->required();
  app.add_option("DATA", r.data, "data with their target: those that were fitted on, or others")->required();
  app.add_option("--split", r.split,
                 "part of the data that were fitted on: train, valid, calibration or test [default train]. "
                 "Other data are taken whole")
      ->type_name("PART")
      ->check(one_of({"train", "valid", "calibration", "test"}));
  app.add_option("--ranks", r.ranks,
                 "ranks for the bound of truncation, comma-separated [default: those that keep 90, 95 and "
                 "99 % of the energy]")
      ->type_name("R,R")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(within<RankOptions>("a rank", "rank"));
  app.add_option("--delta", r.delta, "probability with which the PAC-Bayes bound may fail [default 0.05]")
      ->type_name("P")
      ->check(within<CertificateOptions>("a probability", "delta"));
  app.add_option("--draws", r.draws, "networks drawn for the risk in the PAC-Bayes bound [default 100]")
      ->type_name("S")
      ->check(within<CertificateOptions>("a number of draws", "draws"));
  app.add_option("--ranks-tried", r.tried,
                 "how many priors (ranks, sizes, sds) you tried; the bound pays for them [default 1]")
      ->type_name("N")
      ->check(within<CertificateOptions>("a number of priors", "tried"));
  app.add_option("--clip", r.clip,
                 "of numbers and counts: the absolute error that counts as a full failure, in the target's "
                 "units. Choose it without looking at the data")
      ->type_name("C")
      ->check(within<CertificateOptions>("a clip", "clip"));
  app.add_option("--c0", r.c0,
                 "the constant C0 of the Gaussian complexity, which no source gives [default 1]")
      ->type_name("C0")
      ->check(within<RankOptions>("a constant", "c0"));
  add_column_changes(app, r.rename, r.fill, "DATA", "a change that DATA do not need is an error");
  add_threads(app, p.threads);
  add_table_memory(app, p.table_memory);
  app.add_flag("--json", r.json, "print one JSON object");
  app.footer(
      "Truncation: any method with a network. PAC-Bayes: methods with random weights (bbb, full-rank, "
      "low-rank, rank-1); it is a certificate only if every assumption holds, and the output says which are "
      "violated and which the model file cannot tell. On the training rows it is none, because they scaled "
      "the inputs. Gaussian complexity: a value to compare networks with, never a certificate.\n\n"
      "Examples:\n"
      "  slimbayes fit spam.csv --target spam --method low-rank --network mlp --test-fraction 0.5\n"
      "  slimbayes bounds model.safetensors spam.csv --split test --ranks-tried 4\n"
      "  slimbayes bounds model.safetensors houses.csv --clip 100000 --ranks 4,8 --json");
}

}  // namespace

void add_theory_commands(CLI::App& root, Parsed& parsed) {
  add_rank_advice(root, parsed);
  add_bounds(root, parsed);
}

}  // namespace slimbayes::cli
