#include "slimbayes/ntk/enrichment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "slimbayes/ntk/layer_gradients.h"
#include "tests/ntk/enrichments.h"
#include "tests/ntk/networks.h"
#include "tests/train/thread_ranks.h"

namespace slimbayes {
namespace {

TEST(Enrichment, ExactRoutesEqualTheDenseGradients) {
  for (const SmallNetwork& network : known_networks()) {
    const GradientModel model = model_of(network);
    GradientRows rows = network.rows(11);
    rows.output = at::arange(11, at::kLong).remainder(3);
    const at::Tensor q = Stream(4).normal({11, 5}), dense = dense_gram(model, rows, q);
    const Enrichment gram = by("gram", model, rows, q), sums = by("sums", model, rows, q),
                     weighted = by("weighted", model, rows, q);
    EXPECT_EQ(gram.route, "gram");
    EXPECT_EQ(sums.route, "sums");
    EXPECT_LT(relative_error(sums.gram, dense), 1e-11) << network.name;
    EXPECT_LT(relative_error(gram.gram, dense), 1e-11) << network.name;
    EXPECT_LT(relative_error(weighted.gram, dense), 1e-11) << network.name;
    EXPECT_TRUE(at::equal(gram.gram, gram.gram.t())) << network.name;
    EXPECT_EQ(gram.gram.scalar_type(), at::kDouble);
  }
}

// Equality above means little for a parameter whose gradient is 0, or a form that no network takes.
TEST(Enrichment, TheNetworksCoverEveryParameterAndForm) {
  std::set<std::pair<std::string, GradientForm>> seen;
  for (const SmallNetwork& network : known_networks()) {
    const GradientModel model = model_of(network);
    const GradientRows rows = network.rows(11);
    const at::Tensor gradients = dense_gradients(model, rows);
    int64_t offset = 0;
    for (const at::Tensor& parameter : model.parameters) {
      EXPECT_GT(gradients.slice(1, offset, offset + parameter.numel()).abs().max().item<double>(), 1e-8)
          << network.name << " " << parameter.sizes();
      offset += parameter.numel();
    }
    const GradientPlan plan = gradient_plan(model, rows);
    ASSERT_EQ(plan.unknown, "") << network.name;
    const Traced traced = model.traced(rows.inputs(0, 1));
    for (size_t i = 0; i < traced.taps.size(); ++i) seen.insert({traced.taps[i].kind, plan.forms[i]});
  }
  using enum GradientForm;
  EXPECT_EQ(seen, (std::set<std::pair<std::string, GradientForm>>{{"linear", product},
                                                                  {"linear", vector},
                                                                  {"conv2d", product},
                                                                  {"conv2d", vector},
                                                                  {"layer_norm", vector},
                                                                  {"batch_norm", vector},
                                                                  {"embedding", tokens},
                                                                  {"embedding", vector}}));
}

TEST(Enrichment, BatchesAndRangesDoNotChangeIt) {
  for (const SmallNetwork& network : known_networks()) {
    const GradientModel model = model_of(network);
    GradientRows rows = network.rows(7);
    const at::Tensor q = Stream(4).normal({7, 4}), whole = by("gram", model, rows, q).gram;
    for (int64_t batch : {1, 3}) {
      rows.batch = batch;
      for (const char* route : {"gram", "sums", "weighted"})
        EXPECT_LT(relative_error(by(route, model, rows, q).gram, whole), 1e-11) << network.name << batch;
      const Enrichment ranges = enrichment(model, rows, q, {.route = "gram", .kept = 1}, Stream(9));
      EXPECT_LT(relative_error(ranges.gram, whole), 1e-11) << network.name << batch;
    }
  }
}

// Threads as the processes. A process with another sum than the others would not give the same bits.
TEST(Enrichment, ProcessesAddTheSumsOfTheirRows) {
  for (const SmallNetwork& network : known_networks()) {
    const GradientModel model = model_of(network);
    GradientRows rows = network.rows(23);
    rows.output = at::arange(23, at::kLong).remainder(3);
    const at::Tensor features = Stream(4).normal({23, 5}), q = projector(features, 0.1);
    for (const char* route : {"gram", "sums", "weighted", "sketch"}) {
      const at::Tensor alone = by(route, model, rows, q).gram;
      std::vector<at::Tensor> grams(4);
      const auto thrown = run_ranks(4, [&](const Collective& ranks) {
        const int64_t first = ranks.rank() * 23 / 4, end = (ranks.rank() + 1) * 23 / 4;
        const GradientShare share{first, ranks.rank(), ranks.size(),
                                  [&](const GradientShare::Sums& own) {
                                    for (const at::Tensor& one : own()) ranks.sum(one);
                                  },
                                  [&](const at::Tensor& own) {
                                    at::Tensor all = at::zeros({23, own.size(1)}, at::kDouble);
                                    all.narrow(0, first, own.size(0)).copy_(own);
                                    ranks.sum(all);
                                    return all;
                                  }};
        const at::Tensor own = projector(features.slice(0, first, end), 0.1, share);
        EXPECT_LT(relative_error(own, q.slice(0, first, end)), 1e-12);
        grams[static_cast<size_t>(ranks.rank())] =
            enrichment(model, rows, own, {.route = route}, Stream(9), share).gram;
      });
      EXPECT_EQ(thrown, std::vector<std::string>(4, ""));
      for (const at::Tensor& gram : grams) {
        EXPECT_TRUE(at::equal(gram, grams[0])) << network.name << route;
        EXPECT_LT(relative_error(gram, alone), 1e-12) << network.name << route;
      }
    }
  }
}

TEST(Enrichment, ManyRowsAreManyTiles) {
  const SmallNetwork network = known_networks()[1];
  const GradientModel model = model_of(network);
  const GradientRows rows = network.rows(700);
  const at::Tensor q = Stream(4).normal({700, 4}), dense = dense_gram(model, rows, q);
  EXPECT_LT(relative_error(by("gram", model, rows, q).gram, dense), 1e-11);
  EXPECT_LT(relative_error(by("sums", model, rows, q).gram, dense), 1e-11);
  for (int64_t rows_kept : {600, 100}) {
    const int64_t kept = rows_kept * 8 * (4 + 9 + 4 * 9);  // two ranges: 300 -> 256 rows, 50 rows
    EXPECT_LT(
        relative_error(enrichment(model, rows, q, {.route = "gram", .kept = kept}, Stream(9)).gram, dense),
        1e-11);
  }
}

// The sums are added up over blocks of 256 rows and over pieces of columns, parameters and tokens.
TEST(Enrichment, SumsOfManyRowsAndColumnsEqualTheGram) {
  std::vector<SmallNetwork> networks = known_networks();
  networks.push_back({"wide", ends_in(mlp(4, 64, 2, "tanh"), 1)});
  networks.push_back(
      {"wide windows",
       ends_in(network_for({.network = "transformer", .hidden = 96, .blocks = 1, .heads = 2}, {{2, 3}}), 1)});
  for (const SmallNetwork& network : networks) {
    const GradientModel model = model_of(network);
    const GradientRows rows = network.rows(300);
    const at::Tensor q = Stream(4).normal({300, 40}), gram = by("gram", model, rows, q).gram;
    const Enrichment sums = by("sums", model, rows, q);
    EXPECT_LT(relative_error(sums.gram, gram), 1e-11) << network.name;
    EXPECT_LT(relative_error(sums.gram, sums.gram.t()), 1e-14) << network.name;
    const EnrichmentOptions few{.route = "sums", .kept = 1};  // one row at a time
    const GradientRows some = network.rows(7);
    EXPECT_LT(relative_error(enrichment(model, some, q.slice(0, 0, 7), few, Stream(9)).gram,
                             by("gram", model, some, q.slice(0, 0, 7)).gram),
              1e-11)
        << network.name;
  }
}

TEST(Enrichment, OfAFloat32NetworkIsNearThatOfFloat64) {
  for (const SmallNetwork& network : known_networks()) {
    const at::Tensor q = Stream(4).normal({40, 5});
    const at::Tensor exact = by("gram", model_of(network), network.rows(40), q).gram;
    const GradientModel model = model_of(network, at::kFloat);
    GradientRows rows = network.rows(40);
    rows.inputs = [inputs = rows.inputs](int64_t from, int64_t to) -> Input {
      const Input input = inputs(from, to);
      return {input.x.is_floating_point() ? input.x.to(at::kFloat) : input.x, input.mask};
    };
    for (const char* route : {"gram", "sums", "weighted"})
      EXPECT_LT(relative_error(by(route, model, rows, q).gram, exact), 1e-4) << network.name << route;
  }
}

/// Expects an error of at most `factor` tr(M) / sqrt(q) in each of ten streams, and of their mean.
void expect_near_sketch(const GradientModel& model, const GradientRows& rows, double factor) {
  const at::Tensor q = Stream(4).uniform({rows.size, 10}), exact = by("weighted", model, rows, q).gram;
  const double trace = exact.trace().item<double>();
  at::Tensor mean = at::zeros_like(exact);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const EnrichmentOptions options{.route = "sketch", .sketch = 64};
    const at::Tensor sketch = enrichment(model, rows, q, options, Stream(seed)).gram;
    EXPECT_LE((sketch - exact).norm().item<double>(), factor * trace / std::sqrt(64.0)) << seed;
    EXPECT_TRUE(at::equal(sketch, enrichment(model, rows, q, options, Stream(seed)).gram));
    mean += sketch / 10;
  }
  EXPECT_LE((mean - exact).norm().item<double>(), factor * trace / std::sqrt(640.0));  // unbiased
}

TEST(Enrichment, TheSketchIsNear) {
  expect_near_sketch(model_of(known_networks()[4]), known_networks()[4].rows(60), 3);
  // Gradients of one sign: without random signs the buckets would add up to p / q = 31 times the trace. M has
  // nearly rank 1, where the error's sd is sqrt(2) tr(M) / sqrt(q).
  const at::Tensor w = at::zeros({2000}, at::kDouble).set_requires_grad(true),
                   x = Stream(5).uniform({60, 2000});
  const GradientModel sums{[w](const Input& input) { return at::mv(input.x, w).unsqueeze(1); }, {w}, {}};
  expect_near_sketch(sums, {60, [x](int64_t from, int64_t to) { return Input(x.slice(0, from, to)); }}, 6);
}

TEST(Enrichment, OfNothingIsZero) {
  const SmallNetwork network = known_networks()[0];
  const GradientModel model = model_of(network);
  EXPECT_TRUE(at::equal(by("auto", model, network.rows(0), at::zeros({0, 3}, at::kDouble)).gram,
                        at::zeros({3, 3}, at::kDouble)));
  EXPECT_EQ(by("auto", model, network.rows(4), at::zeros({4, 0}, at::kDouble)).gram.numel(), 0);
  const GradientModel linear = model_of({"linear", {{{4}}, {Linear{2}}}});
  EXPECT_TRUE(linear.parameters.empty());
  EXPECT_EQ(by("auto", linear, network.rows(4), Stream(1).normal({4, 2})).gram.abs().sum().item<double>(), 0);
}

TEST(Enrichment, RefusesWhatDoesNotFit) {
  const SmallNetwork network = known_networks()[0];
  const GradientModel model = model_of(network);
  GradientRows rows = network.rows(4);
  const at::Tensor q = at::ones({4, 2}, at::kDouble);
  expect_part(message_of([&] { by("grams", model, rows, q); }),
              "a route of auto, gram, sums, weighted and sketch");
  expect_part(message_of([&] { by("gram", model, rows, at::ones({5, 2}, at::kDouble)); }), "q");
  expect_part(message_of([&] { by("gram", model, rows, q.to(at::kFloat)); }), "q in float64");
  expect_part(message_of([&] { enrichment(model, rows, q, {.route = "sketch", .sketch = 0}, Stream(1)); }),
              "a sketch of 1");
  rows.output = at::full({4}, 3, at::kLong);
  expect_part(message_of([&] { by("gram", model, rows, q); }), "expected outputs in [0, 2]; received 3");
  rows.output = at::zeros({3}, at::kLong);
  expect_part(message_of([&] { by("gram", model, rows, q); }), "rows.output");
  const NetworkSpec no_head = mlp(3, 4, 1, "relu"), sequence{{{5, 3}}, {Linear{2}}};
  const Weights none;
  expect_part(message_of([&] { gradient_model(no_head, "net", as_type(none, at::kDouble), at::kDouble); }),
              "received activation");
  expect_part(message_of([&] { gradient_model(sequence, "net", as_type(none, at::kDouble), at::kDouble); }),
              "whose output is a vector; received a sequence");
}

}  // namespace
}  // namespace slimbayes
