// Flags, help and examples of the commands that need neither data nor a model file: methods, describe,
// generate, demo.
#include <fmt/format.h>

#include "cli/common_flags.h"
#include "cli/flags.h"
#include "cli/usage.h"
#include "slimbayes/catalog/call_options.h"

namespace slimbayes::cli {
namespace {

void add_listings(CLI::App& root, Parsed& p) {
  CLI::App& methods = *root.add_subcommand("methods", "List the methods");
  methods.add_flag("--json", p.methods.json, "print a JSON list");
  methods.footer("Examples:\n  slimbayes methods\n  slimbayes methods --json | jq '.[].name'");

  CLI::App& describe = *root.add_subcommand("describe", "Explain a method and its options, or a model file");
  describe.add_option("NAME", p.describe.name,
                      "a method, or a file written by fit [default: a list of the methods]");
  describe.add_flag("--json", p.describe.json, "print one JSON object");
  describe.footer(
      "Examples:\n  slimbayes describe dbk\n  slimbayes describe model.safetensors --json\n"
      "  slimbayes describe air.safetensors");
}

void add_generate(CLI::App& root, Parsed& p) {
  CLI::App& generate = *root.add_subcommand("generate",
                                            "Write synthetic data with its truth: x, y, true_mean, true_sd; "
                                            "of cox x1 in 0:1, x2 in 0:2, true_intensity");
  generate.add_option("NAME", p.generate.name, "steps, ripple, counts or cox (events x1, x2)")->required();
  generate.add_option("--rows", p.generate.rows, "rows, of cox their expected number [default 2000]")
      ->type_name("N")
      ->check(within<GenerateOptions>("a number of rows", "rows"));
  generate.add_option("--seed", p.generate.seed, "seed [default 0]")
      ->type_name("S")
      ->check(within<RunOptions>("a seed", "seed"));
  generate.add_option("--amplitude", p.generate.amplitude, "of the noise of steps [default 0.4]")
      ->type_name("A")
      ->check(within<GenerateOptions>("an amplitude", "amplitude"));
  generate
      .add_option("--out", p.generate.out,
                  ".csv, .tsv, .parquet, .feather, or - for CSV on stdout [default -]")
      ->type_name("FILE");
  generate.footer(
      "Examples:\n  slimbayes generate steps --rows 2000 --out steps.csv\n"
      "  slimbayes fit steps.csv --target y --ignore true_mean,true_sd\n"
      "  slimbayes generate cox --rows 5000 --out events.csv\n"
      "  slimbayes fit events.csv --likelihood cox --domain 0:1,0:2 --ignore true_intensity");
}

void add_demo(CLI::App& root, Parsed& p) {
  CLI::App& demo = *root.add_subcommand(
      "demo", "Fit a small table; draw three methods' bands where the noise is known (a minute)");
  demo.add_option("--out", p.demo.out, "folder for model.safetensors and bands.svg [default demo-out]")
      ->type_name("DIR");
  demo.add_option("--steps", p.demo.steps,
                  fmt::format("optimiser steps of each network [default {}]", p.demo.steps))
      ->type_name("N")
      ->check(within<DemoRequest>("a number of steps", "steps"));
  demo.add_option("--rows", p.demo.rows, fmt::format("rows of the synthetic data [default {}]", p.demo.rows))
      ->type_name("N")
      ->check(within<DemoRequest>("a number of rows", "rows"));
  add_threads(demo, p.threads);
  demo.footer("Examples:\n  slimbayes demo\n  slimbayes demo --out /srv/www/bands");
}

}  // namespace

void add_other_commands(CLI::App& root, Parsed& parsed) {
  add_listings(root, parsed);
  add_generate(root, parsed);
  add_demo(root, parsed);
}

}  // namespace slimbayes::cli
