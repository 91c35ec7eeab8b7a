// The dense Gaussian process of rows with weights, beside that of repeated rows.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/engine/row_model.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/methods/dense_gp/dense_gp.h"
#include "tests/methods/contract.h"
#include "tests/methods/repeated_rows.h"

namespace slimbayes {
namespace {

constexpr double kDenseFloor = 1e-4;

struct DenseRows {
  at::Tensor z = Stream(1).normal({9, 2}), y = Stream(2).normal({9});
  at::Tensor theta = dense_start(2, -2) + 0.1 * Stream(3).normal({5});
  at::Tensor weight = (1 + at::arange(9).remainder(3)).to(at::kDouble);
  at::Tensor which = at::repeat_interleave(at::arange(9), weight.to(at::kLong));
};

TEST(WeightedDenseGp, EvidenceAndGradientAreThoseOfRepeatedRows) {
  const DenseRows rows;
  const auto leaf = [](const at::Tensor& x) { return x.clone().set_requires_grad(true); };
  const at::Tensor theta = leaf(rows.theta), z = leaf(rows.z), of_copies = leaf(rows.theta),
                   copies = leaf(rows.z.index_select(0, rows.which));
  const double own = dense_evidence_backward(theta, z, rows.y, kDenseFloor, rows.weight),
               repeated = dense_evidence_backward(of_copies, copies, rows.y.index_select(0, rows.which),
                                                  kDenseFloor);
  EXPECT_NEAR(own, repeated, 1e-10 * std::abs(repeated));
  EXPECT_TRUE(at::allclose(theta.grad(), of_copies.grad(), 1e-9, 1e-10)) << theta.grad() << of_copies.grad();
  const at::Tensor sums = at::zeros_like(rows.z).index_add(0, rows.which, copies.grad());
  EXPECT_TRUE(at::allclose(z.grad(), sums, 1e-9, 1e-10));
}

TEST(WeightedDenseGp, TheEvidencesGradientEqualsCentralDifferences) {
  const DenseRows rows;
  const at::Tensor weight = 0.37 * rows.weight;  // no whole numbers, and some below 1
  const at::Tensor inputs[] = {rows.theta.clone().set_requires_grad(true),
                               rows.z.clone().set_requires_grad(true)};
  dense_evidence_backward(inputs[0], inputs[1], rows.y, kDenseFloor, weight);
  for (const int which : {0, 1}) {
    for (int64_t i = 0; i < inputs[which].numel(); ++i) {
      double value[2];
      for (const int side : {0, 1}) {
        at::Tensor moved[] = {rows.theta.clone(), rows.z.clone()};
        moved[which].view(-1)[i] += side == 0 ? -1e-5 : 1e-5;
        for (at::Tensor& each : moved) each.set_requires_grad(true);
        value[side] = dense_evidence_backward(moved[0], moved[1], rows.y, kDenseFloor, weight);
      }
      EXPECT_NEAR(inputs[which].grad().view(-1)[i].item<double>(), (value[1] - value[0]) / 2e-5, 1e-8)
          << (which == 0 ? "theta " : "z ") << i;
    }
  }
}

TEST(WeightedDenseGp, ThePosteriorIsThatOfRepeatedRows) {
  const DenseRows rows;
  const DensePosterior own(rows.theta, rows.z, rows.y, kDenseFloor, rows.weight),
      copies(rows.theta, rows.z.index_select(0, rows.which), rows.y.index_select(0, rows.which), kDenseFloor),
      once(rows.theta, rows.z, rows.y, kDenseFloor);
  const at::Tensor points = Stream(4).normal({7, 2});
  const Regression a = own(points), b = copies(points);
  EXPECT_TRUE(at::allclose(a.mean, b.mean, 1e-10, 1e-10));
  EXPECT_TRUE(at::allclose(a.epistemic_var, b.epistemic_var, 1e-10, 1e-10));
  EXPECT_TRUE(at::equal(a.aleatoric_var, b.aleatoric_var));
  EXPECT_FALSE(at::allclose(a.epistemic_var, once(points).epistemic_var, 1e-2, 1e-3));
}

// Without an iteration the hyperparameters are those of the start, of which the first is the first of equals.
TEST(WeightedGpExact, AnswersAndIsStoredAsARowModel) {
  const RepeatedRows rows = counted(contract::toy(40, 1));
  const Dataset data = contract::toy(15, 3);
  const auto fit = [](const Dataset& train, const nlohmann::json& options) {
    return registry_row("gp-exact").make(options)->fit({train, {}}, {Stream(0), nullptr, {}});
  };
  const auto own = fit(rows.weighted, {{"iterations", 0}}), copies = fit(rows.repeated, {{"iterations", 0}});
  EXPECT_NEAR(own->summary().best_score, copies->summary().best_score, 1e-10);
  const Regression a = contract::answer(*own, data), b = contract::answer(*copies, data);
  EXPECT_TRUE(at::allclose(a.mean, b.mean, 1e-9, 1e-9));
  EXPECT_TRUE(at::allclose(a.epistemic_var, b.epistemic_var, 1e-9, 1e-10));
  EXPECT_TRUE(own->row_model());
  const TensorFile file = own->save();
  EXPECT_TRUE(at::equal(stored_tensor(file, kDenseWeights), rows.weighted.weights()));
  EXPECT_TRUE(
      at::equal(contract::answer(*registry_row("gp-exact").load(file), data).epistemic_var, a.epistemic_var));
  EXPECT_FALSE(copies->save().tensors.contains(kDenseWeights));
  TensorFile wrong = file;
  wrong.tensors[kDenseWeights] = to_stored(at::zeros({40}, at::kDouble));
  EXPECT_THROW(registry_row("gp-exact").load(wrong), std::invalid_argument);
}

/// Returns the notes of a fit of gp-exact that tell of its noise.
std::vector<std::string> noise_notes(const Dataset& train, double& noise_sd) {
  const auto fitted = registry_row("gp-exact").make({{"iterations", 60}})->fit({train, {}}, {Stream(0)});
  noise_sd = std::sqrt(contract::answer(*fitted, train).aleatoric_var[0].item<double>());
  std::vector<std::string> notes = fitted->summary().notes;
  std::erase_if(notes, [](const std::string& note) { return !note.starts_with("the learned noise has"); });
  return notes;
}

// The noise that made these targets has an sd of .3. The evidence of rows that count several times is
// greatest without noise, at its floor of 1e-6 in variance; that of the rows once is not.
TEST(WeightedGpExact, TellsOfANoiseThatEqualRowsMadeSmall) {
  const at::Tensor x = Stream(1).normal({40, 2}), smooth = at::sin(x.select(1, 0)) + 0.5 * x.select(1, 1);
  const auto data = [&](const at::Tensor& y) { return dataset_of({{}, {"a", "b"}}, {{x}, y}); };
  const Dataset noisy = data(smooth + 0.3 * Stream(2).normal({40}));
  const RepeatedRows rows = counted(noisy);
  double noise = 0;
  const auto counts = noise_notes(rows.weighted, noise);
  EXPECT_NEAR(noise, 1e-3, 1e-5);
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_NE(counts[0].find("of the target's sd, because 26 of 40 rows count more than once"),
            std::string::npos)
      << counts[0];
  EXPECT_NE(counts[0].find("`.weights_are=importance`"), std::string::npos);
  const auto copies = noise_notes(rows.repeated, noise);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_NE(copies[0].find("39 of 79 rows equal another one"), std::string::npos) << copies[0];
  EXPECT_NE(copies[0].find("leave the copies out"), std::string::npos);
  const at::Tensor w = rows.weighted.weights();
  EXPECT_TRUE(noise_notes(weighted(noisy, w / w.mean()), noise).empty());
  EXPECT_GT(noise, 0.1);
  EXPECT_TRUE(noise_notes(noisy, noise).empty());
  EXPECT_GT(noise, 0.1);
  EXPECT_TRUE(noise_notes(data(smooth), noise).empty());  // no noise, as is true, and no equal rows
  EXPECT_LT(noise, 0.01 * smooth.std().item<double>());
}

TEST(WeightedDklExact, LearnsByTheWeights) {
  const RepeatedRows rows = counted(contract::toy(40, 1));
  const Dataset data = contract::toy(15, 3);
  for (const int64_t most : {1000, 20}) {  // all rows in a step, and half of them
    const nlohmann::json options = {{"hidden", 8}, {"steps", 6}, {"evidence_rows", most}};
    const auto fit = [&](const Dataset& train) {
      return registry_row("dkl-exact")
          .make(options)
          ->fit({train, contract::toy(20, 2)}, {Stream(0), nullptr, {}});
    };
    const auto own = fit(rows.weighted), once = fit(contract::toy(40, 1));
    const Regression a = contract::answer(*own, data);
    EXPECT_TRUE(at::isfinite(total_var(a)).all().item<bool>());
    EXPECT_FALSE(at::allclose(a.mean, contract::answer(*once, data).mean, 1e-4, 1e-4));
    EXPECT_TRUE(at::equal(contract::answer(*registry_row("dkl-exact").load(own->save()), data).mean, a.mean));
  }
}

}  // namespace
}  // namespace slimbayes
