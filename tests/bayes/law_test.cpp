// Laws and priors against their densities: moments of draws, and the KL as an integral.
#include "slimbayes/bayes/law.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/bayes/gaussian_kl.h"
#include "slimbayes/bayes/prior.h"

namespace slimbayes {
namespace {

at::Tensor number(double x) { return at::full({}, x, at::kDouble); }

/// Returns KL(law || prior) by the trapezoidal rule. The grid has a point at the location, where the density
/// of a Laplace law has its corner.
double integral_kl(const Law& law, const Prior& prior, double location, double scale) {
  const double width = 40 * scale;
  const at::Tensor x = location + at::linspace(-width, width, 400001, at::kDouble);
  const at::Tensor log_q = law.log_density(x, number(location), number(scale));
  at::Tensor log_p;
  const auto normal = [&](double sd) { return find_law("gaussian").log_density(x, number(0), number(sd)); };
  if (const auto* one = std::get_if<NormalPrior>(&prior)) {
    log_p = normal(one->sd);
  } else {
    const auto& two = std::get<MixturePrior>(prior);
    log_p =
        at::logaddexp(normal(two.wide) + std::log(two.share), normal(two.narrow) + std::log(1 - two.share));
  }
  return at::trapezoid(log_q.exp() * (log_q - log_p), x).item<double>();
}

TEST(Law, DrawsHaveItsLocationAndSd) {
  constexpr int64_t kDraws = 200000;
  for (const char* name : {"gaussian", "laplace"}) {
    const Law& law = find_law(name);
    const at::Tensor location = at::full({kDraws}, 0.7, at::kDouble),
                     scale = at::full({kDraws}, 0.3, at::kDouble);
    const at::Tensor x = law.draw(location, scale, Stream(4));
    const double sd = 0.3 * law.sd, error = sd / std::sqrt(static_cast<double>(kDraws));
    EXPECT_NEAR(x.mean().item<double>(), 0.7, 5 * error) << name;
    EXPECT_NEAR(x.std().item<double>(), sd, 10 * error) << name;
    // The share beyond one scale tells the laws apart: .317 and e^-1 = .368.
    const double beyond = ((x - 0.7).abs() > 0.3).to(at::kDouble).mean().item<double>();
    EXPECT_NEAR(beyond, law.name == "gaussian" ? 0.3173 : 0.3679, 0.01) << name;
  }
}

TEST(Law, DensitiesIntegrateToOneAndTheKlIsTheIntegral) {
  for (const char* name : {"gaussian", "laplace"}) {
    const Law& law = find_law(name);
    const at::Tensor x = at::linspace(-12, 12, 240001, at::kDouble);
    EXPECT_NEAR(at::trapezoid(law.log_density(x, number(0.2), number(0.4)).exp(), x).item<double>(), 1, 1e-7);
    for (double location : {0.0, 0.8}) {
      const double found = law.kl_to_normal(number(location), number(0.25), 0.6).item<double>();
      EXPECT_NEAR(found, integral_kl(law, NormalPrior{0.6}, location, 0.25), 1e-6) << name;
    }
  }
  EXPECT_THROW(find_law("cauchy"), std::invalid_argument);
}

TEST(Prior, TheKlToAMixtureIsEstimatedWithoutBias) {
  constexpr int64_t kDraws = 200000;
  const MixturePrior prior{0.5, 1, 0.1};
  for (const char* name : {"gaussian", "laplace"}) {
    const Law& law = find_law(name);
    const at::Tensor location = at::full({kDraws}, 0.3, at::kDouble),
                     scale = at::full({kDraws}, 0.2, at::kDouble);
    const at::Tensor draw = law.draw(location, scale, Stream(5));
    const at::Tensor kl = kl_elements({law, location, scale, draw}, prior);
    const double error = kl.std().item<double>() / std::sqrt(static_cast<double>(kDraws));
    EXPECT_NEAR(kl.mean().item<double>(), integral_kl(law, prior, 0.3, 0.2), 5 * error) << name;
  }
}

// The sum in pieces and its gradient are those of the elements; more than one piece and an odd remainder.
TEST(Prior, TheSummedKlOfGaussiansIsTheSumOfItsElements) {
  const at::Tensor location = Stream(1).normal({33, 1001}).requires_grad_(),
                   scale = Stream(2).uniform({33, 1001}).requires_grad_();
  const LawValues q{find_law("gaussian"), location, scale, location};
  const Prior prior = NormalPrior{0.7};
  (3 * kl_sum(q, prior)).backward();
  const at::Tensor to_location = location.grad().clone(), to_scale = scale.grad().clone();
  location.mutable_grad().zero_();
  scale.mutable_grad().zero_();
  const at::Tensor elements = kl_elements(q, prior).sum();
  (3 * elements).backward();
  EXPECT_NEAR(kl_sum(q, prior).item<double>() / elements.item<double>(), 1, 1e-12);
  const at::Tensor small_location = location.detach().to(at::kFloat),
                   small_scale = scale.detach().to(at::kFloat);  // as in training
  const LawValues small{find_law("gaussian"), small_location, small_scale, small_location};
  EXPECT_NEAR(kl_sum(small, prior).item<double>() / elements.item<double>(), 1, 1e-5);
  EXPECT_THROW(gaussian_kl_sum(location, scale.narrow(0, 0, 3), 0.7), std::invalid_argument);
  EXPECT_TRUE(at::allclose(to_location, location.grad(), 1e-10, 1e-12));
  EXPECT_TRUE(at::allclose(to_scale, scale.grad(), 1e-10, 1e-10));
}

// The sum that training uses has the value and the derivatives of the sum of kl_elements(), also for weights
// that only one part of the mixture explains, and in more than one piece.
TEST(Prior, TheSumForAMixtureIsThatOfTheElements) {
  for (const MixturePrior& mixture :
       {MixturePrior{}, MixturePrior{0.2, 2, 0.01}, MixturePrior{0.9, 0.1, 3}}) {
    const Prior prior = mixture;
    std::vector<std::vector<at::Tensor>> grads;
    std::vector<double> values;
    for (bool fast : {true, false}) {
      const at::Tensor location = (Stream(1).normal({70000}) * 0.5).requires_grad_(),
                       scale = (1e-3 + Stream(2).uniform({70000})).requires_grad_();
      at::Tensor draw = location.detach() + 0.3 * Stream(3).normal({70000});
      draw[0] = 0, draw[1] = 1e-5, draw[2] = 80, draw[3] = -80;
      draw.requires_grad_();
      const LawValues q{find_law("gaussian"), location, scale, draw};
      const at::Tensor sum = fast ? kl_sum(q, prior) : kl_elements(q, prior).sum();
      (2 * sum).backward();
      values.push_back(sum.item<double>());
      grads.push_back({location.grad(), scale.grad(), draw.grad()});
    }
    EXPECT_NEAR(values[0] / values[1], 1, 1e-12);
    for (size_t i = 0; i < grads[0].size(); ++i)
      EXPECT_TRUE(at::allclose(grads[0][i], grads[1][i], 1e-9, 1e-9)) << i;
  }
  const at::Tensor location = Stream(1).normal({5, 7}).to(at::kFloat), scale = at::full_like(location, 0.1),
                   draw = location + 0.1 * Stream(2).normal({5, 7}).to(at::kFloat);
  const LawValues q{find_law("gaussian"), location, scale, draw};
  EXPECT_NEAR(kl_sum(q, MixturePrior{}).item<double>() / kl_elements(q, MixturePrior{}).sum().item<double>(),
              1, 1e-5);
  EXPECT_TRUE(std::isfinite(kl_sum(q, MixturePrior{1, 1, 0.01}).item<double>()));  // one part alone
  EXPECT_THROW(gaussian_mixture_kl_sum(draw.narrow(0, 0, 2), location, scale, {}), std::invalid_argument);
}

TEST(Prior, SurvivesItsJson) {
  for (const Prior& prior : {Prior(NormalPrior{0.3}), Prior(MixturePrior{0.25, 2, 0.01})})
    EXPECT_EQ(to_json(prior_from_json(to_json(prior))), to_json(prior));
  EXPECT_THROW(prior_from_json({{"kind", "normal"}, {"sd", 0}}), std::invalid_argument);
  EXPECT_THROW(prior_from_json({{"kind", "flat"}}), std::invalid_argument);
  EXPECT_THROW(prior_from_json({{"kind", "mixture"}, {"share", 2}, {"wide", 1}, {"narrow", 1}}),
               std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
