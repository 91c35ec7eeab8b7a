#include "slimbayes/method/shared_network.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/catalog/option.h"
#include "slimbayes/method/batches.h"

namespace slimbayes {
namespace {

const double kUnknown = std::nan("");

/// Returns rows of two inputs and two targets, x_1 + x_2 and x_1 - x_2 with a small noise; every third row
/// lacks the second target.
Dataset rows_of_two(int64_t n, uint64_t seed) {
  const at::Tensor x = Stream(seed).normal({n, 2}), noise = 0.1 * Stream(seed).split("noise").normal({n, 2});
  at::Tensor y = at::stack({x.sum(1), x.select(1, 0) - x.select(1, 1)}, 1) / std::sqrt(2.0) + noise;
  y.select(1, 1).masked_fill_(at::arange(n).remainder(3) == 0, kUnknown);
  return dataset_of(Schema{}, {{x.to(at::kFloat)}, y});
}

/// The rows of a short training, of which those of validation have weights.
Split weighted_split() {
  return {rows_of_two(200, 1), weighted(rows_of_two(90, 2), 1 + at::arange(90).remainder(4))};
}

SharedNetwork short_training(const Split& split, const FitContext& context = {Stream(3)},
                             const nlohmann::json& more = nlohmann::json::object()) {
  nlohmann::json options = {{"steps", 300}, {"hidden", 12}, {"blocks", 1}};
  options.update(more);
  return train_shared_network(options_from_json<TrainedNetworkOptions>(options, "dnn"), split, context,
                              "dnn");
}

/// Returns the outputs of a network at these rows, [n, k] float64.
at::Tensor outputs_of(const NetworkSpec& spec, const Weights& weights, const Dataset& rows) {
  const BoundNetwork network(spec, "network", as_type(weights, at::kFloat));
  return network(input_of(rows.all())).detach().to(at::kDouble);
}

TEST(masked_loss_gradient, IsThatOfTheLossWrittenOut) {
  const at::Tensor f = Stream(1).normal({4, 3}).set_requires_grad(true);
  at::Tensor y = Stream(2).normal({4, 3});
  for (const auto& [row, target] : {std::pair(0, 1), {2, 0}, {2, 1}, {2, 2}, {3, 2}})
    y[row][target] = kUnknown;
  at::Tensor loss = at::zeros({}, at::kDouble);
  for (int64_t row = 0; row < 4; ++row)
    for (int64_t target = 0; target < 3; ++target)
      if (!std::isnan(y[row][target].item<double>()))
        loss = loss + (f[row][target] - y[row][target]).square();
  loss = loss / 4;
  loss.backward();
  const LossGradient found = masked_loss_gradient(f, y);
  EXPECT_NEAR(found.loss.value(), loss.item<double>(), 1e-12);
  EXPECT_TRUE(at::allclose(found.gradient, f.grad(), 1e-12, 1e-14));
  EXPECT_EQ(found.gradient[2].abs().sum().item<double>(), 0);
}

TEST(train_shared_network, LearnsEveryTargetAndTakesItsNoiseFromItsValidationRows) {
  const Split split = weighted_split();
  const SharedNetwork shared = short_training(split);
  EXPECT_EQ(shared.summary.valid_rows, 90);
  const at::Tensor y = split.valid.all().target, weight = split.valid.weights();
  const at::Tensor squares = (outputs_of(shared.spec, shared.weights, split.valid) - y).square();
  double loss = 0;
  for (int64_t target = 0; target < 2; ++target) {
    const at::Tensor known = y.select(1, target).isnan().logical_not();
    const at::Tensor own = squares.select(1, target).masked_select(known), of = weight.masked_select(known);
    const double sum = (own * of).sum().item<double>(), mse = sum / of.sum().item<double>();
    EXPECT_NEAR(shared.noise_var[target].item<double>(), mse, 1e-5 * mse);
    EXPECT_LT(mse, 0.3);  // of targets with the variance 1.01
    loss += sum / weight.sum().item<double>();
  }
  EXPECT_NEAR(shared.summary.best_score, loss, 1e-5 * loss);
}

TEST(train_shared_network, BothExecutionsGiveTheSameTraining) {
  const Split split = weighted_split();
  FitContext by_libtorch{Stream(3)};
  by_libtorch.execution = Execution::libtorch;
  const SharedNetwork a = short_training(split), b = short_training(split, by_libtorch);
  EXPECT_EQ(a.summary.trained_by, "engine");
  EXPECT_EQ(b.summary.trained_by, "libtorch");
  EXPECT_LT((outputs_of(a.spec, a.weights, split.valid) - outputs_of(b.spec, b.weights, split.valid))
                .abs()
                .max()
                .item<double>(),
            0.2);
}

TEST(train_shared_network, RefusesATargetWithoutRows) {
  Split split = weighted_split();
  Batch all = split.train.all();
  all.target = all.target.clone();
  all.target.select(1, 0).fill_(kUnknown);
  split.train = dataset_of(split.train.schema, all);
  EXPECT_THROW(short_training(split), std::invalid_argument);
}

TEST(train_shared_network, RefusesOptionsOfClasses) {
  const auto refusal = [](const nlohmann::json& option) -> std::string {
    try {
      short_training(weighted_split(), {Stream(3)}, option);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no refusal";
  };
  EXPECT_NE(refusal({{"class_weights", "balanced"}}).find("`.class_weights`"), std::string::npos);
  EXPECT_NE(refusal({{"label_smoothing", 0.1}}).find("`.label_smoothing`"), std::string::npos);
}

TEST(network_of_target, AnswersAsTheSharedNetworkDoesForThatTarget) {
  const Split split = weighted_split();
  const SharedNetwork shared = short_training(split);
  const at::Tensor all = outputs_of(shared.spec, shared.weights, split.valid);
  for (int64_t target = 0; target < 2; ++target) {
    const TrainedNetwork own = network_of_target(shared, target);
    const at::Tensor one = outputs_of(own.spec, own.weights, split.valid);
    EXPECT_EQ(one.sizes(), (std::vector<int64_t>{90, 1}));
    EXPECT_TRUE(at::allclose(one.squeeze(1), all.select(1, target), 1e-5, 1e-6));
    EXPECT_EQ(own.head.noise_var, shared.noise_var[target].item<double>());
    EXPECT_EQ(own.head.outputs, 1);
    EXPECT_EQ(own.summary.steps, 0);
  }
  EXPECT_GT((all.select(1, 0) - all.select(1, 1)).abs().mean().item<double>(), 0.1);
}

TEST(shared_network_from, ReadsWhatToFileWrote) {
  const SharedNetwork shared = short_training(weighted_split());
  const SharedNetwork read = shared_network_from(to_file(shared));
  EXPECT_EQ(to_json(read.spec), to_json(shared.spec));
  EXPECT_TRUE(at::equal(read.noise_var, shared.noise_var));
  EXPECT_EQ(to_json(read.summary), to_json(shared.summary));
  ASSERT_EQ(read.weights.size(), shared.weights.size());
  for (const auto& [name, weight] : shared.weights) {
    EXPECT_TRUE(at::equal(read.weights.at(name), weight)) << name;
  }
  TensorFile other = to_file(shared);
  other.metadata.erase("network");
  EXPECT_ANY_THROW(shared_network_from(other));
}

}  // namespace
}  // namespace slimbayes
