// Plays one game of the wheel bandit with one policy: a cell of experiments/wheel. Prints a line per 40
// phases on stderr, and the result as one line of JSON on stdout.
#include <slimbayes/core/denormals.h>
#include <slimbayes/core/threads.h>
#include <slimbayes_revision.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/wheel/rivals.h"

namespace {

struct Cell {
  wheel::Game game;
  wheel::LastLayerPolicyOptions last_layer;
  std::string policy = "rich-bll";
  int threads = 1;
  bool dry_run = false;
};

const std::vector<std::string> kPolicies = {"rich-bll",      "bll",  "neural-linear", "neural-linear-mr",
                                            "lin-diag-post", "vbll", "uniform"};

std::unique_ptr<wheel::Policy> policy_of(const Cell& cell) {
  const slimbayes::Stream stream = slimbayes::Stream(cell.game.seed).split("policy");
  const wheel::TrainingOptions& training = cell.last_layer.training;
  if (cell.policy == "uniform") return std::make_unique<wheel::UniformPolicy>();
  if (cell.policy == "lin-diag-post") return std::make_unique<wheel::LinDiagPolicy>(wheel::kDefaultPrior);
  if (cell.policy == "neural-linear")
    return std::make_unique<wheel::NeuralLinearPolicy>(wheel::kDefaultPrior, training, stream);
  if (cell.policy == "neural-linear-mr")
    return std::make_unique<wheel::NeuralLinearPolicy>(wheel::kMushroomPrior, training, stream);
  if (cell.policy == "vbll") return std::make_unique<wheel::VbllPolicy>(training, stream);
  wheel::LastLayerPolicyOptions options = cell.last_layer;
  options.enriched = cell.policy == "rich-bll";
  return std::make_unique<wheel::LastLayerPolicy>(options, stream);
}

/// Returns everything that decides a cell beside delta and seed: what a row keeps as its recipe.
nlohmann::json options_of(const Cell& cell) {
  const wheel::LastLayerPolicyOptions& o = cell.last_layer;
  const wheel::Game& g = cell.game;
  nlohmann::json options = {{"phases", g.phases},
                            {"pulls", g.pulls},
                            {"first_pulls", g.first_pulls},
                            {"gradient_steps", g.gradient_steps},
                            {"noise_sd", g.wheel.noise_sd}};
  if (cell.policy == "bll" || cell.policy == "rich-bll") {
    options["subsample"] = o.subsample;
    options["window"] = o.window;
    options["noise_var"] = o.noise_var;
  }
  if (cell.policy == "rich-bll") options["route"] = o.route;
  if (cell.policy != "uniform" && cell.policy != "lin-diag-post")
    options["training"] = {{"rate", o.training.rate}, {"clip", o.training.clip}, {"batch", o.training.batch}};
  return {{"method", cell.policy}, {"options", options}};
}

nlohmann::json result_of(const Cell& cell, const wheel::Policy& policy, const wheel::Result& result) {
  return {{"policy", cell.policy},
          {"delta", cell.game.wheel.delta},
          {"seed", cell.game.seed},
          {"pulls", result.pulls},
          {"regret", result.regret},
          {"uniform_regret", result.uniform_regret},
          {"percent", result.percent()},
          {"percent_after_first", result.percent_after_first()},
          {"seconds", result.seconds},
          {"gradient_seconds", policy.gradient_seconds},
          {"posterior_seconds", policy.posterior_seconds},
          {"commit", std::string(SLIMBAYES_REVISION)},
          {"recipe", options_of(cell)}};
}

void add_flags(CLI::App& app, Cell& cell) {
  const auto open = CLI::Validator(
      [](std::string& text) {
        const double value = std::stod(text);
        return value > 0 && value < 1 ? std::string() : "expected a radius between 0 and 1, received " + text;
      },
      "in (0, 1)");
  app.add_option("--policy", cell.policy, "who plays")
      ->check(CLI::IsMember(kPolicies))
      ->capture_default_str();
  app.add_option("--delta", cell.game.wheel.delta, "radius beyond which one arm is good")->check(open);
  app.add_option("--seed", cell.game.seed, "of contexts, noise, weights and draws")->capture_default_str();
  app.add_option("--phases", cell.game.phases, "phases of 20 pulls and 100 gradient steps")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--subsample", cell.last_layer.subsample,
                 "pulls that the posterior of bll and rich-bll is computed from; 0: all")
      ->capture_default_str();
  app.add_option("--window", cell.last_layer.window, "pulls whose squared error is their noise variance")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--noise-var", cell.last_layer.noise_var,
                 "a fixed noise variance instead of the window's; 0: none")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--noise-sd", cell.game.wheel.noise_sd,
                 "sd of all rewards but the large one; 0.05 in the benchmark's code")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--route", cell.last_layer.route, "of A^T A: auto, gram, sums, weighted or sketch")
      ->capture_default_str();
  app.add_flag("--dry-run", cell.dry_run, "prints the options that decide the result, and plays nothing");
  app.add_option("--threads", cell.threads, "of the tensor library")->check(CLI::PositiveNumber);
}

}  // namespace

int main(int argc, char** argv) try {
  Cell cell;
  CLI::App app("Plays the wheel bandit with one policy.");
  app.set_version_flag("--version", std::string(SLIMBAYES_REVISION));
  add_flags(app, cell);
  CLI11_PARSE(app, argc, argv);
  if (cell.dry_run) {
    std::printf("%s\n", options_of(cell).dump().c_str());
    return 0;
  }
  const slimbayes::ThreadScope threads(cell.threads);
  // Gradients of rarely pulled arms and Adam's moments of them decay to denormal numbers.
  const slimbayes::FlushDenormals flush;
  const auto policy = policy_of(cell);
  const wheel::Result result =
      wheel::play(cell.game, *policy, [&](int64_t phase, const wheel::Result& so_far) {
        if (phase % 40 != 0) return;
        std::fprintf(
            stderr, "phase %4ld: regret %9.1f, %6.2f %% of uniform, %.0f s (gradient %.0f, posterior %.0f)\n",
            static_cast<long>(phase), so_far.regret, so_far.percent(), so_far.seconds,
            policy->gradient_seconds, policy->posterior_seconds);
      });
  std::printf("%s\n", result_of(cell, *policy, result).dump().c_str());
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
