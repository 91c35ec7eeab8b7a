// Exploration with rich-bll on the wheel bandit: a network learns the rewards while it acts, and the variance
// of its last layer says which arms are worth another try. Prints the regret beside that of random arms.
//   wheel [DELTA] [PHASES] [SEED]
// examples/wheel.h has the game, examples/last_layer_policy.h the policy; experiments/wheel compares rivals.
// Ends with status 1 if rich-bll does not have less than half of the regret of random arms.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "last_layer_policy.h"

int main(int argc, char** argv) try {
  wheel::Game game;
  if (argc > 1) game.wheel.delta = std::strtod(argv[1], nullptr);
  game.phases = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 40;
  if (argc > 3) game.seed = std::strtoull(argv[3], nullptr, 10);
  slimbayes::check(game.wheel.delta > 0 && game.wheel.delta < 1 && game.phases > 0, "wheel",
                   "a delta between 0 and 1 and at least one phase", argc > 1 ? argv[1] : "nothing",
                   "call it as wheel [DELTA] [PHASES] [SEED]");
  const slimbayes::Stream stream = slimbayes::Stream(game.seed).split("policy");

  wheel::LastLayerPolicy policy({.enriched = true, .subsample = 512}, stream);
  const wheel::Result result = wheel::play(game, policy, [&](int64_t phase, const wheel::Result& so_far) {
    if (phase % 10 == 0)
      std::printf("phase %3ld: %6ld pulls, regret %9.1f, %6.2f %% of random arms\n", static_cast<long>(phase),
                  static_cast<long>(so_far.pulls), so_far.regret, so_far.percent());
  });
  std::printf("rich-bll: regret %.1f, random arms: %.1f, that is %.2f %%, in %.1f s\n", result.regret,
              result.uniform_regret, result.percent(), result.seconds);
  return result.percent() < 50 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
