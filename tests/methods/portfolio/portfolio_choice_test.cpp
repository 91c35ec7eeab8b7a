#include "slimbayes/methods/portfolio/portfolio_choice.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "tests/methods/portfolio/auto_case.h"

namespace slimbayes {
namespace {

using auto_case::has_fact;
using nlohmann::json;

/// A smooth function of two inputs, with noise.
Dataset smooth(int64_t n, uint64_t seed, double noise_sd) {
  const at::Tensor x = Stream(seed).split("x").normal({n, 2}).clamp(-2, 2);
  return regression_data(
      x, x.select(1, 0).sin() + x.select(1, 1) + noise_sd * Stream(seed).split("noise").normal({n}));
}

TEST(PortfolioChoice, TheNetworkOfExactTablesIsTriedWhereAnErrorIsSmall) {
  const json few = {{"steps", 60},       {"hidden", 8},           {"iterations", 40},
                    {"time_limit", 1e6}, {"log_target", "never"}, {"blocks", 1}};
  const auto fit = [&](double noise_sd, int64_t rows, json options) {
    const Split split{smooth(rows, 1, noise_sd), smooth(60, 2, noise_sd)};
    return registry_row("auto").make(options)->fit(split, {Stream(7)});
  };
  const auto exact = fit(0, 400, few);
  EXPECT_TRUE(has_fact(*exact, "bll (realmlp): held-out NLL")) << json(exact->summary().facts);
  EXPECT_TRUE(has_fact(*fit(0.5, 400, few),
                       "left out: bll (realmlp) (no held-out error of the others is below 0.1 sd"));
  EXPECT_FALSE(has_fact(*fit(0, 150, few), "realmlp"));  // too few rows
  json chosen = few;
  chosen["network"] = "mlp";
  EXPECT_FALSE(has_fact(*fit(0, 400, chosen), "realmlp"));  // the user's network is that of every candidate
  EXPECT_THROW(registry_row("auto").make({{"class_rows", 5}}), std::invalid_argument);  // bll alone has it
  const auto named = [](const json& one) { return one.value("network", "") == "realmlp"; };
  const TensorFile file = exact->save();
  EXPECT_EQ(std::ranges::count_if(json::parse(file.metadata.at("portfolio")), named), 1);
  const auto again = registry_row("auto").load(file)->save();
  EXPECT_EQ(again.metadata.at("portfolio"), file.metadata.at("portfolio"));
}

}  // namespace
}  // namespace slimbayes
