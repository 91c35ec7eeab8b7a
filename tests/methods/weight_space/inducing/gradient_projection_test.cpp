#include "slimbayes/methods/weight_space/inducing/gradient_projection.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/bayes/inducing_conditional.h"
#include "slimbayes/bayes/row_flow.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/methods/weight_space/draw_stack.h"
#include "slimbayes/methods/weight_space/inducing/inducing_plan.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

/// A classifier of images with inducing weights at their initial values, with batch norms that have seen rows
/// of another mean and sd than 0 and 1.
struct Classifier {
  NetworkSpec spec;
  Network network;
  WeightPlan plan;
  RandomWeights random;
  Parameters parameters;
  WeightPosterior weights;
  Head head{LikelihoodKind::softmax, 4};

  explicit Classifier(int64_t hidden = 8, int64_t size = 0)
      : spec(spec_of(hidden)),
        network(spec, "network"),
        plan(plan_of(network.layout(), size)),
        random(network.layout(), plan),
        parameters(random.parameters(Stream(1)), at::kFloat),
        weights(random.bound([this](const std::string& name) { return parameters[name]; })) {
    at::NoGradGuard no_grad;
    for (uint64_t i = 0; i < 20; ++i) {
      const at::Tensor x = 0.5 + 2 * Stream(8).split(i).normal({30, 1, 9, 7}, at::kFloat);
      network(x, weights.draw(Stream(9).split(i)).binding, {true, Stream(i)});
    }
  }

  static NetworkSpec spec_of(int64_t hidden) {
    NetworkSpec spec = network_for({.network = "convnet", .hidden = hidden}, Shape{{1, 9, 7}});
    spec.layers.push_back(Linear{4});
    return spec;
  }
  static WeightPlan plan_of(const NetworkLayout& layout, int64_t size) {
    FidGpOptions options;
    options.inducing.inducing_rows = options.inducing.inducing_columns = size;
    return inducing_plan(layout, options, "matheron");
  }
  ScoredNetwork scored() const { return {network, weights, head, spec}; }
};

Dataset images(int64_t n, uint64_t seed) {
  return class_data(Stream(seed).normal({n, 1, 9, 7}, at::kFloat), at::zeros({n}, at::kLong), 4);
}

const std::vector<std::string> kSites = {"network.3.weight", "network.10.weight"};

TEST(GradientProjection, ARowHasItsScoresInEveryBatch) {
  const Classifier c;
  const Dataset rows = images(40, 2);
  const Weights stored = projection_statistics(c.scored(), kSites, rows, Stream(3));
  const Scores all = projection_scores(c.scored(), stored, rows);
  const at::Tensor order = Stream(4).permutation(40);
  const Scores shuffled = projection_scores(c.scored(), stored, rows.subset(order));
  const Scores one = projection_scores(c.scored(), stored, rows.subset(at::tensor({7}, at::kLong)));
  ASSERT_EQ(all.size(), 5U);
  for (const auto& [name, score] : all) {
    EXPECT_TRUE(score.isfinite().all().item<bool>()) << name;
    EXPECT_TRUE(at::allclose(shuffled.at(name), score.index_select(0, order), 1e-4, 1e-7)) << name;
    EXPECT_NEAR(one.at(name).item<double>(), score[7].item<double>(),
                1e-4 * std::abs(score[7].item<double>()))
        << name;
  }
}

TEST(GradientProjection, TheNormIsThatOfTheFeatureTimesItsGradient) {
  // The output layer's h are the logits: z = f * (softmax f - e_argmax), in closed form.
  const Classifier c;
  const Dataset rows = images(11, 2);
  const std::vector<std::string> output = {"network.17.weight"};
  const Weights stored = projection_statistics(c.scored(), output, rows, Stream(3));
  at::NoGradGuard no_grad;
  const WeightDraw draw = c.weights.draw(draw_stream(0));
  const at::Tensor f = c.network(rows.all().inputs[0], draw.binding).to(at::kDouble);
  const at::Tensor z = f * (f.softmax(-1) - at::one_hot(f.argmax(-1), 4).to(at::kDouble));
  const Scores scores = projection_scores(c.scored(), stored, rows);
  EXPECT_TRUE(at::allclose(scores.at("gradient_norm"), z.norm(2, 1), 1e-4, 1e-8));
  EXPECT_TRUE(at::allclose(scores.at("energy"), -f.logsumexp(-1), 1e-5, 1e-6));
  // r = (I - P) z~ with P as its formula says, by a dense inverse.
  const at::Tensor u = stored.at("ood.network.17.weight.inducing").to(at::kDouble),
                   b = stored.at("ood.network.17.weight.directions").to(at::kDouble);
  const at::Tensor inside = at::matmul(z, b.t());
  ASSERT_LT(u.size(0), u.size(1));
  const double ridge = 1e-6 * at::linalg_eigvalsh(at::matmul(u, u.t())).max().item<double>();
  const at::Tensor inverse = at::linalg_inv(at::matmul(u, u.t()) + ridge * at::eye(u.size(0), at::kDouble));
  const at::Tensor p = at::matmul(at::matmul(u.t(), inverse), u);
  const at::Tensor r = inside - at::matmul(inside, p);
  EXPECT_TRUE(at::allclose(scores.at("residual"), r.norm(2, 1), 1e-3, 1e-7));
  EXPECT_TRUE(at::allclose(scores.at("projected_norm"), inside.norm(2, 1), 1e-4, 1e-8));
  EXPECT_TRUE(at::allclose(scores.at("relative_residual"), r.norm(2, 1) / inside.norm(2, 1), 1e-3, 1e-6));
  EXPECT_EQ(projection_facts(c.network.layout(), stored)[0].kept, 0);
}

TEST(GradientProjection, CellsAreSumsOverTheRootOfTheirPixels) {
  // 5 x 7 pixels in squares of 2: 3 x 4 cells, those at the edges with 2 pixels and the corner with 1.
  const at::Tensor z = Stream(1).normal({2, 3, 5, 7});
  const at::Tensor found = over_cells(z, 40).view({2, 3, 3, 4});
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 4; ++j) {
      const int64_t h = std::min<int64_t>(2, 5 - 2 * i), w = std::min<int64_t>(2, 7 - 2 * j);
      const at::Tensor sum = z.narrow(2, 2 * i, h).narrow(3, 2 * j, w).sum({2, 3});
      const double pixels = static_cast<double>(h * w);
      EXPECT_TRUE(at::allclose(found.select(2, i).select(2, j), sum / std::sqrt(pixels), 1e-12, 1e-12));
    }
  EXPECT_TRUE(at::equal(over_cells(z, 3 * 35), z.flatten(1)));  // no sum is needed
  EXPECT_TRUE(at::allclose(over_cells(z, 1).view({2, 3}), z.sum({2, 3}) / std::sqrt(35.0), 1e-12, 1e-12));
}

TEST(GradientProjection, RowsWithoutADirectionGiveNoResidual) {
  // Without a direction of the training rows, z~ and so every residual would be 0, which says nothing.
  Classifier c;
  at::NoGradGuard no_grad;
  const Dataset rows = images(12, 2);
  Weights stored = projection_statistics(c.scored(), {"network.3.weight"}, rows, Stream(3));
  const auto directions = [&] { return projection_facts(c.network.layout(), stored)[0].directions; };
  EXPECT_GT(directions(), 3);
  // Copies of one row have one direction.
  const Dataset same = rows.subset(at::zeros({12}, at::kLong));
  stored = projection_statistics(c.scored(), {"network.3.weight"}, same, Stream(3));
  EXPECT_EQ(directions(), 1);
  EXPECT_TRUE(projection_scores(c.scored(), stored, rows).contains("residual"));
  stored.at("ood.network.3.weight.directions").zero_();
  EXPECT_EQ(directions(), 0);
  const Scores scores = projection_scores(c.scored(), stored, rows);
  EXPECT_FALSE(scores.contains("residual") || scores.contains("relative_residual"));
  EXPECT_GT(scores.at("gradient_norm").min().item<double>(), 0);
}

TEST(GradientProjection, DirectionsAreOrthonormalOrZero) {
  const Classifier c;
  const Weights stored = projection_statistics(c.scored(), kSites, images(60, 2), Stream(3));
  for (const std::string& site : kSites) {
    const at::Tensor b = stored.at("ood." + site + ".directions").to(at::kDouble);
    const at::Tensor gram = at::matmul(b, b.t());
    const at::Tensor found = (gram.diag() > 0.5).to(at::kDouble);
    EXPECT_GT(found.sum().item<double>(), 3);
    EXPECT_TRUE(at::allclose(gram, found.diag(), 1e-4, 1e-4)) << site;
  }
}

TEST(GradientProjection, AProjectorThatIsTheIdentityIsReplacedByPartOfItsEnergy) {
  const Classifier c(16, 6);  // U is 6 x 6 at a layer of 8 x 73: of full rank
  const Dataset rows = images(60, 2);
  const Weights stored = projection_statistics(c.scored(), {"network.3.weight"}, rows, Stream(3));
  const std::vector<ProjectorFact> facts = projection_facts(c.network.layout(), stored);
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].layer, "conv2");
  EXPECT_EQ(facts[0].columns, 6);
  EXPECT_GT(facts[0].rank, 5.5);
  const int64_t kept = facts[0].kept;
  const at::Tensor s = at::linalg_svdvals(stored.at("ood.network.3.weight.inducing")).square();
  EXPECT_GE((s.narrow(0, 0, kept).sum() / s.sum()).item<double>(), 0.9);
  EXPECT_LT((s.narrow(0, 0, kept - 1).sum() / s.sum()).item<double>(), 0.9);
  const Scores scores = projection_scores(c.scored(), stored, rows);
  EXPECT_GT(scores.at("residual").min().item<double>(), 0);
  EXPECT_LE((scores.at("residual") - scores.at("gradient_norm")).max().item<double>(), 1e-12);
}

TEST(GradientProjection, NoiseOfTheWeightsMovesAResidualByItsNormAtMost) {
  // The paper's lemma 1: a draw W = T_row U T_col + E, r0(x) = |(I - P) g(T_row U T_col x)|, d(x) the same of
  // W, P the projector on the rows of U. With |x| = 1 and a g of Lipschitz constant 1, here a certified flow,
  // |d - r0| <= |E|, since I - P does not lengthen. No more follows. The paper's flow breaks the bound.
  const at::NoGradGuard no_grad;
  const at::Tensor sd = at::full({5}, 0.1, at::kDouble);
  const InducingSide rows = inducing_side(Stream(1).normal({2, 5}), sd.narrow(0, 0, 2)),
                     columns = inducing_side(Stream(2).normal({5, 4}), sd);
  const at::Tensor u = unwhitened(rows, columns, Stream(3).normal({2, 5}));
  MatheronNoise noise = matheron_noise(rows, columns, Stream(5));
  for (at::Tensor* part : {&noise.w, &noise.e2, &noise.e3, &noise.e4}) *part = part->to(at::kDouble);
  const at::Tensor mean = conditional_mean(rows, columns, u),
                   w = conditional_draw(rows, columns, u, at::full({}, 0.5, at::kDouble), noise);
  const at::Tensor p = at::matmul(u.t(), at::linalg_solve(at::matmul(u, u.t()), u));
  const double norm = at::linalg_matrix_norm(w - mean, 2).item<double>();
  for (const bool certified : {true, false}) {
    const RowFlow flow({.features = 5, .form = certified ? FlowForm::certified : FlowForm::paper});
    std::vector<at::Tensor> parameters = flow.start(Stream(6));
    for (size_t i = 0; i < parameters.size(); ++i)
      parameters[i] = parameters[i] + 2 * Stream(7).split(i).normal(parameters[i].sizes());
    const auto residual = [&](const at::Tensor& x) {
      const at::Tensor g = flow(x.unsqueeze(0), parameters).values.squeeze(0);
      return (g - at::mv(p, g)).norm().item<double>();
    };
    double largest = 0;
    for (uint64_t i = 0; i < 200; ++i) {
      at::Tensor x = Stream(4).split(i).normal({4});
      x = x / x.norm();
      largest = std::max(largest, std::abs(residual(at::mv(w, x)) - residual(at::mv(mean, x))));
    }
    EXPECT_EQ(largest <= norm, certified) << largest << " and " << norm;
    EXPECT_GT(largest, 0.01 * norm);
  }
}

// The margin S of the paper's lemma 1 is the infimum of |(I - P) g(T_row U T_col x)| over |x| = 1 (equation
// 14). Where a layer has more inputs than inducing columns, T_col x = 0 for a unit x. There the residual is
// that of g(0), so that S is at most |(I - P) g(0)|, whatever was trained: 0 without a flow
// (docs/findings.md).
TEST(GradientProjection, TheMarginOfThePapersLemmaIsAtMostTheResidualOfZero) {
  const at::NoGradGuard no_grad;
  const at::Tensor sd = at::full({3}, 0.1, at::kDouble);
  const InducingSide rows = inducing_side(Stream(1).normal({2, 3}), sd.narrow(0, 0, 2)),
                     columns = inducing_side(Stream(2).normal({3, 8}), sd);
  const at::Tensor u = unwhitened(rows, columns, Stream(3).normal({2, 3}));
  const at::Tensor p = at::matmul(u.t(), at::linalg_solve(at::matmul(u, u.t()), u));
  const at::Tensor mean = conditional_mean(rows, columns, u);  // T_row U T_col [3, 8]
  const at::Tensor x = std::get<2>(at::linalg_svd(mean, /*full_matrices=*/true))[7];
  ASSERT_NEAR(x.norm().item<double>(), 1, 1e-12);
  const RowFlow flow({.features = 3});
  std::vector<at::Tensor> parameters = flow.start(Stream(6));
  for (size_t i = 0; i < parameters.size(); ++i)
    parameters[i] = parameters[i] + 2 * Stream(7).split(i).normal(parameters[i].sizes());
  const auto residual = [&](const at::Tensor& v, bool with_flow) {
    const at::Tensor g = with_flow ? flow(v.unsqueeze(0), parameters).values.squeeze(0) : v;
    return (g - at::mv(p, g)).norm().item<double>();
  };
  const at::Tensor zero = at::zeros({3}, at::kDouble), other = Stream(4).normal({8});
  EXPECT_LT(residual(at::mv(mean, x), false), 1e-12);
  EXPECT_GT(residual(at::mv(mean, other / other.norm()), false), 1e-3);  // the infimum is not that of any x
  EXPECT_GT(residual(zero, true), 1e-3);
  EXPECT_NEAR(residual(at::mv(mean, x), true), residual(zero, true), 1e-10);
}

TEST(GradientProjection, KeyLayersAreThoseOfThePaperOrInTheMiddleAndAtTheEnd) {
  const Classifier c;
  const auto sites = [&](const std::vector<std::string>& chosen) {
    return key_sites(c.spec, c.network.layout(), c.plan, chosen);
  };
  EXPECT_EQ(sites({"auto"}), (std::vector<std::string>{"network.7.weight", "network.15.weight"}));
  EXPECT_EQ(sites({"conv1,output"}), (std::vector<std::string>{"network.0.weight", "network.17.weight"}));
  expect_has(error_of([&] { sites({"conv9"}); }), "received 'conv9'; they are conv1, conv2");
  EXPECT_TRUE(key_sites(c.spec, c.network.layout(), {}, {"auto"}).empty());
  NetworkSpec resnet = network_for({.network = "resnet18", .hidden = 4}, Shape{{3, 16, 16}});
  resnet.layers.push_back(Linear{4});
  const NetworkLayout layout(resnet, "network");
  std::vector<std::string> labels;
  for (const std::string& site : key_sites(resnet, layout, inducing_plan(layout, {}, "matheron"), {"auto"}))
    labels.push_back(layout.sites[layout.site(site)].label);
  EXPECT_EQ(labels, (std::vector<std::string>{"layer2.1.conv2", "layer4.1.conv2"}));
}

}  // namespace
}  // namespace slimbayes
