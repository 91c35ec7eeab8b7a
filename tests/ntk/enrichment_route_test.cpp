// Which route an enrichment takes, and what its operations are.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/ntk/enrichment.h"
#include "slimbayes/ntk/layer_gradients.h"
#include "tests/ntk/enrichments.h"
#include "tests/ntk/networks.h"

namespace slimbayes {
namespace {

TEST(Enrichment, AnLstmGoesToTheWeightedRoute) {
  const SmallNetwork network = lstm_network();
  const GradientModel model = model_of(network);
  const GradientRows rows = network.rows(7);
  const at::Tensor q = Stream(4).normal({7, 3});
  const Enrichment result = by("auto", model, rows, q);
  EXPECT_EQ(result.route, "weighted");
  EXPECT_EQ(result.reason, "the routes gram and sums do not know the layer net.0 (lstm)");
  EXPECT_LT(relative_error(result.gram, dense_gram(model, rows, q)), 1e-11);
  for (const char* route : {"gram", "sums"})
    expect_part(message_of([&] { by(route, model, rows, q); }), "received the layer net.0 (lstm)");
}

TEST(Enrichment, AnOpaqueModuleNeedsNoTaps) {
  const SmallNetwork network = known_networks()[0];
  GradientModel model = model_of(network);
  const GradientRows rows = network.rows(7);
  const at::Tensor q = Stream(4).normal({7, 3}), known = by("gram", model, rows, q).gram;
  model.traced = nullptr;
  const Enrichment result = by("auto", model, rows, q);
  EXPECT_EQ(result.route, "weighted");
  EXPECT_LT(relative_error(result.gram, known), 1e-11);
}

/// Returns the model with its taps changed by `change`.
GradientModel with_taps(GradientModel model, std::function<void(std::vector<Tap>&)> change) {
  model.traced = [old = model.traced, change](const Input& input) {
    Traced traced = old(input);
    change(traced.taps);
    return traced;
  };
  return model;
}

TEST(Enrichment, NeverSkipsAParameter) {
  const SmallNetwork network = known_networks()[0];
  const GradientModel model = model_of(network);
  const GradientRows rows = network.rows(7);
  const at::Tensor q = Stream(4).normal({7, 3}), known = by("gram", model, rows, q).gram;
  const auto reason = [&](std::function<void(std::vector<Tap>&)> change) {
    const Enrichment result = by("auto", with_taps(model, std::move(change)), rows, q);
    EXPECT_EQ(result.route, "weighted");
    EXPECT_LT(relative_error(result.gram, known), 1e-11);
    return result.reason;
  };
  expect_part(reason([](auto& taps) { taps.erase(taps.begin() + 1); }), "a parameter of [9, 9] in no layer");
  expect_part(reason([](auto& taps) { taps[1].kind = "mystery"; }), "the layer net.2 (mystery)");
  expect_part(reason([](auto& taps) { taps[1].parameters.pop_back(); }), "a parameter of [9] in no layer");
  expect_part(reason([](auto& taps) { taps[1].parameters = taps[2].parameters; }), "shares a parameter");
  expect_part(reason([](auto& taps) { taps[0].parameters[1] = at::zeros({9}); }), "a constant in the layer");
}

// What decides between the routes: tokens cost their positions, not the vocabulary.
TEST(Enrichment, TheOperationsOfSumsCountWhatIsAdded) {
  for (const SmallNetwork& network : known_networks()) {
    const GradientModel model = model_of(network);
    const GradientPlan plan = gradient_plan(model, network.rows(3));
    const double all = 2 * static_cast<double>(model.parameter_count());
    if (std::ranges::find(plan.forms, GradientForm::tokens) != plan.forms.end())
      EXPECT_LT(plan.column_flops, all) << network.name;
    else
      EXPECT_DOUBLE_EQ(plan.column_flops, all) << network.name;
  }
}

TEST(Enrichment, IsPlannedByTheLongestText) {
  SmallNetwork texts = known_networks()[10];
  ASSERT_EQ(texts.name, "texts");
  const GradientModel model = model_of(texts);
  const auto flops = [&](std::vector<int64_t> lengths, int64_t longest) {
    texts.lengths = std::move(lengths);
    GradientRows rows = texts.rows(20);
    rows.longest = longest;
    return enrichment_flops(model, rows, 5, {.route = "sums"});
  };
  EXPECT_EQ(flops({1, 2, 6, 4}, 2), flops({6, 1, 2, 4}, 0));
  EXPECT_GT(flops({1, 2, 6, 4}, 2), flops({1, 2, 6, 4}, 0));
}

TEST(Enrichment, AutoTakesTheCheaperExactRoute) {
  const SmallNetwork mlp_network = known_networks()[0];
  const GradientModel model = model_of(mlp_network);
  const auto route = [&](int64_t n, int64_t r, int64_t bytes) {
    return enrichment(model, mlp_network.rows(n), at::ones({n, r}, at::kDouble), {.bytes = bytes}, Stream(1));
  };
  EXPECT_EQ(route(20, 10, 1 << 28).route, "gram");
  const Enrichment sums = route(3000, 1, 1 << 28);
  EXPECT_EQ(sums.route, "sums");
  expect_part(sums.reason, "GFLOP");
  EXPECT_EQ(route(3000, 1, 8).route, "gram");  // over the budget
  const GradientModel lstm = model_of(lstm_network());
  const Enrichment sketch =
      enrichment(lstm, lstm_network().rows(5), at::ones({5, 2}, at::kDouble), {.bytes = 8}, Stream(1));
  EXPECT_EQ(sketch.route, "sketch");
  expect_part(sketch.reason, "does not hold");
}

TEST(Enrichment, TheOperationsAreThoseOfTheChosenRoute) {
  const SmallNetwork mlp = known_networks()[0];
  const GradientModel model = model_of(mlp);
  const auto flops = [&](const std::string& route, int64_t n) {
    return enrichment_flops(model, mlp.rows(n), 10, {.route = route});
  };
  for (int64_t n : {10, 50, 4000})
    EXPECT_DOUBLE_EQ(flops("auto", n), std::min({flops("gram", n), flops("sums", n), flops("weighted", n)}));
  EXPECT_GT(flops("gram", 4000) / flops("gram", 2000), 3.5);  // nearly n^2
  EXPECT_LT(flops("weighted", 4000) / flops("weighted", 2000), 2.01);
  EXPECT_LT(flops("sums", 4000) / flops("sums", 2000), 2.01);
  EXPECT_GT(enrichment_flops(model_of(lstm_network()), lstm_network().rows(5), 2, {}), 0);
  EXPECT_EQ(flops("auto", 0), 0);
}

}  // namespace
}  // namespace slimbayes
