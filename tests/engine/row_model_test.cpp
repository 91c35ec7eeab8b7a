#include "slimbayes/engine/row_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <new>
#include <random>

#include "slimbayes/catalog/network/layer_tensors.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/engine/exact_plan.h"
#include "slimbayes/engine/features.h"
#include "slimbayes/engine/inducing_features.h"
#include "slimbayes/engine/kernel_rows.h"
#include "slimbayes/engine/linear_head.h"
#include "slimbayes/engine/tape.h"
#include "slimbayes/storage/error.h"

namespace slimbayes::engine {
namespace {

std::vector<double> normals(int64_t count, uint64_t seed, double scale = 1) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(scale * normal(bits));
  return out;
}

/// The numbers that a model answers for all rows, [numbers, rows].
std::vector<double> answers(const RowModel& model, const std::vector<double>& x, int64_t chunk = kChunkRows) {
  const int64_t n = std::ssize(x) / model.inputs();
  std::vector<double> out(static_cast<size_t>(model.numbers() * n));
  Doubles scratch(model.scratch());
  for (int64_t row = 0; row < n; row += chunk)
    model.answer(x.data() + row * model.inputs(), std::min(chunk, n - row), out.data() + row, n,
                 scratch.data());
  return out;
}

/// Parameters of a plan in float32 and in float64.
struct Parameters {
  std::vector<std::vector<float>> single;
  std::vector<std::vector<double>> exact;

  Parameters(const NetworkSpec& spec, const Plan& plan) {
    for (const std::string& name : plan.tensors())
      for (const TensorShape& shape : shapes_of(spec, "network"))
        if (shape.name == name) {
          int64_t n = 1;
          for (int64_t size : shape.sizes) n *= size;
          single.emplace_back();
          for (const double value : normals(n, 3 + single.size(), shape.sizes.size() == 2 ? 0.3 : 1))
            single.back().push_back(static_cast<float>(value));
          exact.emplace_back(single.back().begin(), single.back().end());
        }
  }
  template <class Number>
  static std::vector<const Number*> pointers(const std::vector<std::vector<Number>>& all) {
    std::vector<const Number*> out;
    for (const auto& each : all) out.push_back(each.data());
    return out;
  }
};

NetworkSpec resnet(int64_t inputs) {
  NetworkSpec spec = tabular_resnet(inputs, 64, 2);
  spec.layers.push_back({Linear{.out = 1}});
  return spec;
}

/// Float32 and float64 agree within the rounding of float32.
TEST(Features, FloatAndDoublePassesAgree) {
  const NetworkSpec spec = resnet(26);
  Plan plan(26);
  ASSERT_EQ(plan.append(spec, "network"), "");
  const Parameters p(spec, plan);
  const auto single = network_features(plan, std::span<const float* const>(Parameters::pointers(p.single)),
                                       FeaturesOf::last_layer);
  const auto exact = network_features(plan, std::span<const double* const>(Parameters::pointers(p.exact)),
                                      FeaturesOf::last_layer);
  ASSERT_TRUE(single && exact);
  EXPECT_EQ(single->rank(), 64);
  std::vector<double> x = normals(7 * 26, 1);
  for (double& each : x) each = static_cast<float>(each);
  Doubles a(single->scratch()), b(exact->scratch());
  const Features::Rows f = single->run(x.data(), 7, a.data()), g = exact->run(x.data(), 7, b.data());
  for (int64_t i = 0; i < 7; ++i) {
    EXPECT_NEAR(f.output[i], g.output[i], 2e-5);
    for (int64_t j = 0; j < 64; ++j) EXPECT_NEAR(f.phi[i * 64 + j], g.phi[i * 64 + j], 2e-5);
  }
  // The float32 pass is the plan's own.
  Tape tape(std::make_shared<const Plan>(plan), kernels::kernels());
  tape.pack(Parameters::pointers(p.single));
  const std::vector<float> narrow(x.begin(), x.end());
  std::vector<float> y(7);
  tape.forward(narrow.data(), 26, 7, y.data(), 1, false);
  for (int64_t i = 0; i < 7; ++i) EXPECT_EQ(f.output[i], y[static_cast<size_t>(i)]);
}

/// The formulas of LinearHead, in plain loops.
TEST(LinearHead, IsItsFormula) {
  const int64_t r = 19, q = 19, n = 61;
  LinearHead head{.constant = 0.3,
                  .noise_var = 0.2,
                  .weights = normals(r, 1),
                  .root = normals(q * r, 2),
                  .root_constant = normals(q, 3),
                  .constant_var = 0.7,
                  .response_constant = 0.1,
                  .response = normals(r, 4),
                  .largest = 25};
  const std::vector<double> x = normals(n * r, 5);
  for (const int triangle : {0, 1, 2}) {
    for (int64_t j = 0; j < q; ++j)
      for (int64_t p = 0; p < r; ++p)
        if ((triangle == 1 && p > j) || (triangle == 2 && p < j))
          head.root[static_cast<size_t>(j * r + p)] = 0;
    const auto model = linear_row_model(identity_features(r), head);
    const std::vector<double> out = answers(*model, x);
    EXPECT_EQ(out, answers(*model, x, 1));  // a row by itself has the same bits
    for (int64_t i = 0; i < n; ++i) {
      const double* phi = x.data() + i * r;
      double mean = head.constant, var = 0, left = 1 - head.response_constant, square = 0;
      for (int64_t j = 0; j < q; ++j) {
        double sum = head.root_constant[static_cast<size_t>(j)];
        for (int64_t p = 0; p < r; ++p) sum += head.root[static_cast<size_t>(j * r + p)] * phi[p];
        var += sum * sum;
      }
      for (int64_t p = 0; p < r; ++p) {
        mean += head.weights[static_cast<size_t>(p)] * phi[p];
        left -= head.response[static_cast<size_t>(p)] * phi[p];
        square += phi[p] * phi[p];
      }
      var += head.constant_var * left * left + std::max(*head.largest, square) - square;
      EXPECT_NEAR(out[static_cast<size_t>(i)], mean, 1e-13);
      EXPECT_EQ(out[static_cast<size_t>(n + i)], 0.2);
      EXPECT_NEAR(out[static_cast<size_t>(2 * n + i)] / var, 1, 1e-12);
    }
  }
  head.weights.pop_back();
  EXPECT_THROW(linear_row_model(identity_features(r), head), std::invalid_argument);
}

/// One training row: the posterior of a Gaussian process by hand.
TEST(KernelRows, IsTheGaussianProcessOfOneRow) {
  const double amplitude = 2, noise = 0.5, y = 1.5, c = 0.25;
  const auto model = kernel_row_model({.features = {.inputs = 1},
                                       .lengthscale = {2},
                                       .rows = {0.5},
                                       .amplitude = amplitude,
                                       .noise_var = noise,
                                       .offset = c,
                                       .diagonal = noise,
                                       .alpha = {(y - c) / (amplitude + noise)},
                                       .ones = {1 / (amplitude + noise)}});
  for (const double x : {-3.0, 1.0, 4.0}) {
    const double k = amplitude * std::exp(-0.5 * (x / 2 - 0.5) * (x / 2 - 0.5)), s = amplitude + noise;
    const std::vector<double> out = answers(*model, {x});
    EXPECT_NEAR(out[0], c + k * (y - c) / s, 1e-14);
    EXPECT_EQ(out[1], noise);
    EXPECT_NEAR(out[2], amplitude - k * k / s + (1 - k / s) * (1 - k / s) * s, 1e-14);
  }
}

// Two rows so far apart that their kernel is 0: each is a process of one row, with a noise of its own.
TEST(KernelRows, MayHaveANoiseOfEachRow) {
  const double amplitude = 2, noise[] = {0.5, 0.125}, y[] = {1.5, -0.5};
  KernelRows spec{.features = {.inputs = 1},
                  .lengthscale = {1},
                  .rows = {0, 1000},
                  .amplitude = amplitude,
                  .noise_var = 0.5,
                  .diagonals = {noise[0], noise[1]},
                  .alpha = {y[0] / (amplitude + noise[0]), y[1] / (amplitude + noise[1])},
                  .ones = {1 / (amplitude + noise[0]), 1 / (amplitude + noise[1])}};
  const auto model = kernel_row_model(spec);
  ASSERT_NE(model, nullptr);
  const double sum = spec.ones[0] + spec.ones[1];
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const std::vector<double> out = answers(*model, {spec.rows[i]});
    const double s = amplitude + noise[i], left = 1 - amplitude / s;
    EXPECT_NEAR(out[0], amplitude * y[i] / s, 1e-14);
    EXPECT_NEAR(out[2], amplitude - amplitude * amplitude / s + left * left / sum, 1e-14);
  }
  spec.diagonals.pop_back();
  EXPECT_THROW(kernel_row_model(spec), std::invalid_argument);
  spec.diagonals = {0.5, 0};
  EXPECT_THROW(kernel_row_model(spec), std::invalid_argument);
  spec.diagonals.clear();  // and `diagonal` is 0
  EXPECT_THROW(kernel_row_model(spec), std::invalid_argument);
}

// At the inducing points <phi(g), phi(g')> is the kernel itself, up to its nugget.
TEST(InducingFeatures, ReproduceTheKernelAtTheirPoints) {
  const std::vector<float> points = {0, 1, -1, 0.5F, 2, 2, 0.25F, -3}, log_l = {0.5F, -0.25F};
  const float log_a = 0.75F;
  const auto phi = inducing_features(identity_features(2), 4, {points.data(), log_l.data(), &log_a});
  ASSERT_NE(phi, nullptr);
  EXPECT_EQ(phi->inputs(), 2);
  EXPECT_EQ(phi->rank(), 4);
  const std::vector<double> x(points.begin(), points.end());
  Doubles scratch(phi->scratch());
  const Features::Rows rows = phi->run(x.data(), 4, scratch.data());
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j) {
      double product = 0, squared = 0;
      for (int64_t p = 0; p < 4; ++p)
        product += rows.phi[static_cast<int64_t>(i) * kernels::padded(4) + p] *
                   rows.phi[static_cast<int64_t>(j) * kernels::padded(4) + p];
      for (size_t d = 0; d < 2; ++d)
        squared += std::pow((x[2 * i + d] - x[2 * j + d]) / std::exp(static_cast<double>(log_l[d])), 2);
      EXPECT_NEAR(product, std::exp(0.75 - squared / 2), 1e-10) << i << j;
    }
  const std::vector<float> wrong = {0, NAN, -1, 0.5F, 2, 2, 0.25F, -3};
  EXPECT_EQ(inducing_features(identity_features(2), 4, {wrong.data(), log_l.data(), &log_a}), nullptr);
}

TEST(Buffer, IsEmptyAfterAnAllocationThatFailed) {
  Doubles numbers(16);
  for (const int64_t most : {int64_t{1} << 50, int64_t{1} << 61, std::numeric_limits<int64_t>::max()})
    EXPECT_THROW(numbers.reserve(most), std::bad_alloc);
  numbers.reserve(8);
  ASSERT_NE(numbers.data(), nullptr);
  numbers.data()[7] = 1;
}

TEST(RowModel, OnlyRoundingMayMakeAVarianceNegative) {
  int64_t zeroed = 0;
  EXPECT_EQ(rounded_row_variance(0.5, 1, zeroed), 0.5);
  EXPECT_EQ(zeroed, 0);
  EXPECT_EQ(rounded_row_variance(-1e-12, 1, zeroed), 0);
  EXPECT_EQ(zeroed, 1);
  EXPECT_THROW(rounded_row_variance(-1e-9, 1, zeroed), NumericalError);
  EXPECT_THROW(rounded_row_variance(NAN, 1, zeroed), NumericalError);
  EXPECT_TRUE(std::isnan(rounded_row_variance(-1, INFINITY, zeroed)));
}

}  // namespace
}  // namespace slimbayes::engine
