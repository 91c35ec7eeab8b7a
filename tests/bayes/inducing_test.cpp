// Networks whose matrices are drawn from inducing weights.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "slimbayes/bayes/inducing_conditional.h"
#include "slimbayes/bayes/random_weights.h"
#include "slimbayes/bayes/row_flow.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/nn/weights.h"

namespace slimbayes {
namespace {

SitePlan inducing(int64_t rows, int64_t columns, const std::string& conditional = "matheron",
                  const std::string& flow = "none") {
  InducingPlan own{.rows = rows, .columns = columns, .conditional = conditional, .flow = flow};
  own.start_noise = 0.5, own.most_noise = 1;  // noise that a test can see
  own.start_sd = 0.3, own.most_sd = 1;
  return {.structure = "inducing", .prior = NormalPrior{0.5}, .inducing = own};
}

/// A distribution over the weights of a network, with parameters in float64.
struct Bound {
  Network network;
  RandomWeights random;
  std::map<std::string, at::Tensor> values;
  WeightPosterior posterior;

  Bound(const NetworkSpec& spec, const SitePlan& each)
      : network(spec, "net"),
        random(network.layout(), plan_for_all(network.layout(), each)),
        values(started(random)),
        posterior(random.bound([this](const std::string& name) { return values.at(name); })) {}

  static std::map<std::string, at::Tensor> started(const RandomWeights& random) {
    std::map<std::string, at::Tensor> all;
    for (const ParameterSpec& one : random.parameters(Stream(2))) all[one.name] = one.start;
    return all;
  }
};

/// Returns K^-1 Z of a side. [m, n]
at::Tensor back(const InducingSide& side) { return solve_cholesky(side.chol, side.z); }

const NetworkSpec kOneLayer{{{3}}, {Linear{2}}};

TEST(Inducing, ItsDrawsHaveTheMomentsOfTheModel) {
  // vec [W b] = sd (T vec U + lambda noise), U = L_r V L_c^T, V = mean + s e. The noise has the conditional
  // covariance of the prior (matheron) or the identity (reparam).
  const at::NoGradGuard no_grad;
  constexpr int64_t kDraws = 8000;
  for (const char* conditional : {"matheron", "reparam"}) {
    const Bound q(kOneLayer, inducing(3, 2, conditional));
    const auto side = [&](const char* name) {
      return inducing_side(q.values.at(std::string("net.0.weight.z_") + name),
                           at::softplus(q.values.at(std::string("net.0.weight.d_") + name)));
    };
    const InducingSide rows = side("rows"), columns = side("columns");
    const at::Tensor gain =
        at::kron(at::matmul(back(rows).t(), rows.chol), at::matmul(back(columns).t(), columns.chol));
    const at::Tensor explained =
        at::kron(at::matmul(rows.z.t(), back(rows)), at::matmul(columns.z.t(), back(columns)));
    const at::Tensor one = at::eye(8, at::kDouble);
    const at::Tensor noise = std::string(conditional) == "matheron" ? one - explained : one;
    const at::Tensor mean = 0.5 * at::mv(gain, q.values.at("net.0.weight.inducing").flatten());
    const at::Tensor covariance = 0.25 * (0.09 * at::matmul(gain, gain.t()) + 0.25 * noise);
    at::Tensor draws = at::empty({kDraws, 8}, at::kDouble);
    for (int64_t s = 0; s < kDraws; ++s) {
      const Binding w = q.posterior.draw(Stream(3).split(static_cast<uint64_t>(s))).binding;
      draws[s] =
          at::cat({dense(w.maps[0]), w.tensors[q.network.layout().tensor("net.0.bias")].unsqueeze(1)}, 1)
              .flatten();
    }
    const at::Tensor off = draws - mean, sd = covariance.diag().sqrt();
    EXPECT_LT((off.mean(0).abs() / sd).max().item<double>(), 5 / std::sqrt(static_cast<double>(kDraws)));
    const at::Tensor found = at::matmul(off.t(), off) / kDraws;
    EXPECT_LT(((found - covariance).abs() / at::outer(sd, sd)).max().item<double>(),
              5 * std::sqrt(2.0 / kDraws));
    const Binding centre = q.posterior.mean();
    EXPECT_TRUE(at::allclose(dense(centre.maps[0]).flatten(), mean.view({2, 4}).narrow(1, 0, 3).reshape({-1}),
                             1e-9, 1e-12));
    EXPECT_TRUE(at::allclose(centre.tensors[q.network.layout().tensor("net.0.bias")],
                             mean.view({2, 4}).select(1, 3), 1e-9, 1e-12));
  }
}

TEST(Inducing, AConvolutionsMatrixHasTheKernelAsItsRowsAndTheBiasAsItsLastColumn) {
  // W [out, channels * 3 * 3 + 1] of the draw without noise, from the formula; the network's layer is conv2d
  // of it.
  const at::NoGradGuard no_grad;
  const Bound q({{{2, 6, 5}}, {Conv2d{4}}}, inducing(3, 4));
  const auto value = [&](const char* name) { return q.values.at(std::string("net.0.weight.") + name); };
  const InducingSide rows = inducing_side(value("z_rows"), at::softplus(value("d_rows"))),
                     columns = inducing_side(value("z_columns"), at::softplus(value("d_columns")));
  const at::Tensor u = unwhitened(rows, columns, value("inducing"));
  const at::Tensor w = 0.5 * at::matmul(back(rows).t(), at::matmul(u, back(columns)));  // sd of the prior .5
  ASSERT_EQ(w.sizes(), (at::IntArrayRef{4, 19}));
  const at::Tensor x = Stream(1).normal({3, 2, 6, 5});
  const at::Tensor expected = at::conv2d(x, w.narrow(1, 0, 18).reshape({4, 2, 3, 3}), w.select(1, 18), 1, 1);
  EXPECT_TRUE(at::allclose(q.network(x, q.posterior.mean()), expected, 1e-9, 1e-10));
}

TEST(Inducing, DrawsOfANetworkDifferAndReturn) {
  const at::NoGradGuard no_grad;
  const NetworkSpec image{{{2, 6, 6}}, {Conv2d{4}, Activation{}, MeanOverImage{}, Linear{3}}};
  const NetworkSpec steps{{{4, 6}}, {Lstm{5}, Attention{1}, MeanOverSteps{}, Linear{2}}};
  const std::pair<NetworkSpec, at::Tensor> cases[] = {{image, Stream(1).normal({5, 2, 6, 6})},
                                                      {steps, Stream(1).normal({5, 4, 6})}};
  for (const auto& [spec, x] : cases) {
    for (const char* flow : {"none", "certified", "paper", "spectral"}) {
      const Bound q(spec, inducing(3, 4, "matheron", flow));
      const WeightDraw draw = q.posterior.draw(Stream(3));
      const at::Tensor found = q.network(x, draw.binding);
      EXPECT_TRUE(found.isfinite().all().item<bool>());
      EXPECT_TRUE(at::equal(found, q.network(x, q.posterior.draw(Stream(3)).binding)));
      EXPECT_FALSE(at::allclose(found, q.network(x, q.posterior.draw(Stream(4)).binding)));
      EXPECT_TRUE(std::isfinite(q.posterior.kl(draw).item<double>()));
    }
  }
}

TEST(Inducing, TheJitterOfASingularKIsReported) {
  // 8 inducing rows for 2 outputs: Z Z^T has rank 2, and D of 1e-9 squared is lost beside it.
  SitePlan plan = inducing(8, 2);
  EXPECT_EQ(Bound(kOneLayer, plan).posterior.jitter(), 0);
  plan.inducing.start_diagonal = 1e-9;
  const double jitter = Bound(kOneLayer, plan).posterior.jitter();
  EXPECT_GT(jitter, 0);
  EXPECT_LT(jitter, 1e-8);
}

TEST(Inducing, GradientsReachEveryParameter) {
  for (const char* flow : {"none", "certified", "paper", "spectral"}) {
    for (const char* conditional : {"matheron", "reparam"}) {
      Bound q({{{3}}, {Linear{4}, Activation{"tanh"}, Linear{2}}}, inducing(3, 2, conditional, flow));
      for (auto& [name, value] : q.values) {
        if (name.find(".flow.") != std::string::npos) value += 0.1;  // the last layer starts at 0
        value.requires_grad_();
      }
      const WeightDraw draw = q.posterior.draw(Stream(3));
      const at::Tensor out = q.network(Stream(4).normal({6, 3}), draw.binding);
      (out.square().sum() + q.posterior.kl(draw)).backward();
      for (const auto& [name, value] : q.values)
        EXPECT_GT(value.grad().abs().sum().item<double>(), 0) << name << " " << conditional << " " << flow;
    }
  }
}

TEST(Inducing, TheKlOfAFlowAtItsStartIsThatWithoutOne) {
  // The flow starts as the identity: its estimate of the KL has the closed form as its mean.
  const at::NoGradGuard no_grad;
  constexpr int64_t kDraws = 4000;
  for (const char* flow : {"certified", "paper"}) {
    const Bound plain(kOneLayer, inducing(3, 2)), q(kOneLayer, inducing(3, 2, "matheron", flow));
    for (const auto& [name, value] : plain.values) ASSERT_TRUE(at::equal(value, q.values.at(name))) << name;
    const double expected = plain.posterior.kl(plain.posterior.draw(Stream(1))).item<double>();
    at::Tensor found = at::empty({kDraws}, at::kDouble);
    for (int64_t s = 0; s < kDraws; ++s)
      found[s] = q.posterior.kl(q.posterior.draw(Stream(5).split(static_cast<uint64_t>(s)))).item<double>();
    EXPECT_NEAR(found.mean().item<double>(), expected,
                5 * found.std().item<double>() / std::sqrt(static_cast<double>(kDraws)));
  }
}

TEST(Inducing, TheKlOfAFlowThatHasTrainedIsThatOfItsDensity) {
  // KL(q(V) || N(0, I)) = E[log q0(V0) - log |det J| - log N(V; 0, I)], over draws of its own.
  const at::NoGradGuard no_grad;
  constexpr int64_t kDraws = 4000;
  for (const auto& [name_of_flow, form, layers] :
       {std::tuple{"certified", FlowForm::certified, 1}, std::tuple{"paper", FlowForm::paper, 5},
        std::tuple{"spectral", FlowForm::spectral, 5}}) {
    const SitePlan plan = inducing(3, 2, "matheron", name_of_flow);
    Bound q(kOneLayer, plan);
    const std::string site = "net.0.weight.";
    const RowFlow flow({.features = 2, .layers = layers, .form = form});
    std::vector<at::Tensor> parameters;
    for (const auto& [name, sizes] : flow.shapes()) {
      at::Tensor& value = q.values.at(site + "flow." + name);
      value += 0.4;
      parameters.push_back(value);
    }
    const at::Tensor mean = q.values.at(site + "inducing"),
                     sd = q.values.at(site + "inducing.spread").sigmoid();
    const at::Tensor e = Stream(8).normal({kDraws, 3, 2});
    const RowFlow::Image image = flow(mean + sd * e, parameters);
    const at::Tensor terms =
        (-0.5 * e.square() - sd.log() + 0.5 * image.values.square()).sum({1, 2}) - image.log_det.sum(1);
    EXPECT_GT(image.log_det.abs().max().item<double>(), 0.1);
    const double noise = conditional_kl(q.values.at(site + "noise").sigmoid(), 8).item<double>();
    at::Tensor found = at::empty({kDraws}, at::kDouble);
    for (int64_t s = 0; s < kDraws; ++s)
      found[s] = q.posterior.kl(q.posterior.draw(Stream(5).split(static_cast<uint64_t>(s)))).item<double>();
    const double error = std::hypot(found.std().item<double>(), terms.std().item<double>());
    EXPECT_NEAR(found.mean().item<double>(), terms.mean().item<double>() + noise,
                5 * error / std::sqrt(static_cast<double>(kDraws)));
  }
}

TEST(Inducing, HasAsManyNumbersAsTheFormulaOfTheLayer) {
  const auto count = [](const Bound& q) {
    int64_t all = 0;
    for (const auto& [name, value] : q.values) all += value.numel();
    return all;
  };
  const int64_t r = 5, c = 4;
  // M_out d_out + M_in d_in + 2 M_out M_in + (M_out + M_in) + 1; the bias is a column
  EXPECT_EQ(count(Bound({{{3}}, {Linear{7}}}, inducing(r, c))), r * 7 + c * 4 + 2 * r * c + (r + c) + 1);
  const NetworkSpec image{{{2, 6, 6}}, {Conv2d{.out = 8, .bias = false}, MeanOverImage{}}};
  EXPECT_EQ(count(Bound(image, inducing(r, c))), r * 8 + c * 18 + 2 * r * c + (r + c) + 1);
}

TEST(Inducing, RowsOfZVaryAroundTheirPlace) {
  // U is fixed and the noise of W almost 0, so what varies from draw to draw comes from Z.
  const at::NoGradGuard no_grad;
  SitePlan plan = inducing(3, 2);
  plan.inducing.start_sd = plan.inducing.start_noise = 1e-9;
  const auto difference = [&] {
    Bound q(kOneLayer, plan);
    for (auto& [name, value] : q.values)
      if (name.find(".z_") != std::string::npos && name.ends_with(".spread")) value.fill_(-2);
    const at::Tensor one = dense(q.posterior.draw(Stream(3)).binding.maps[0]);
    return (one - dense(q.posterior.draw(Stream(4)).binding.maps[0])).abs().max().item<double>();
  };
  EXPECT_LT(difference(), 1e-7);
  plan.inducing.noisy_z = true;
  EXPECT_GT(difference(), 1e-3);
}

TEST(Inducing, ADrawHasNoMoreNumbersThanItsBound) {
  const at::NoGradGuard no_grad;
  const Bound q({{{300}}, {Linear{200}, Linear{2}}}, inducing(4, 3));
  const Binding draw = q.posterior.draw(Stream(1)).binding;
  int64_t numbers = 0;
  for (const LinearMap& map : draw.maps) numbers += dense(map).numel();
  for (const at::Tensor& bias : draw.tensors) numbers += bias.defined() ? bias.numel() : 0;
  EXPECT_EQ(numbers, 300 * 200 + 200 + 200 * 2 + 2);
  EXPECT_GE(q.posterior.numbers_at_most(), numbers);
}

TEST(Inducing, ThePlanIsStoredWithTheModel) {
  const NetworkLayout layout(kOneLayer, "net");
  const WeightPlan plan = plan_for_all(layout, inducing(3, 2, "reparam", "certified"));
  ASSERT_EQ(plan.sites.size(), 1);  // the bias is no site of its own
  const InducingPlan own = weight_plan_from_json(to_json(plan)).sites.at("net.0.weight").inducing;
  EXPECT_EQ(own.rows, 3);
  EXPECT_EQ(own.columns, 2);
  EXPECT_EQ(own.conditional, "reparam");
  EXPECT_EQ(own.flow, "certified");
  EXPECT_EQ(own.most_sd, 1);
}

TEST(Inducing, RefusesPlansOutOfRange) {
  const auto refused = [](const NetworkSpec& spec, const SitePlan& plan) {
    const NetworkLayout layout(spec, "net");
    EXPECT_THROW(RandomWeights(layout, plan_for_all(layout, plan)), std::invalid_argument);
  };
  refused(kOneLayer, inducing(0, 2));
  refused(kOneLayer, inducing(2, 2, "exact"));
  refused(kOneLayer, inducing(2, 2, "matheron", "planar"));
  refused({{{3}, true}, {Embedding{10, 4}, MeanOverSteps{}, Linear{2}}}, inducing(2, 2));
  SitePlan plan = inducing(2, 2);
  plan.prior = MixturePrior{};
  refused(kOneLayer, plan);
  plan = inducing(2, 2);
  plan.inducing.start_noise = 2;
  refused(kOneLayer, plan);
}

}  // namespace
}  // namespace slimbayes
