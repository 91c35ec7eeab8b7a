#include "slimbayes/engine/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <random>

#include "slimbayes/catalog/network/layer_tensors.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/engine/tape.h"

namespace slimbayes::engine {
namespace {

using Numbers = std::vector<double>;
using Values = std::map<std::string, Numbers>;

/// The periodic embedding of a row, from its definition.
Numbers embedded(const Periodic& layer, const Numbers& x, const std::string& name, const Values& values) {
  const auto f = static_cast<size_t>(layer.frequencies), e = static_cast<size_t>(layer.out) - 1;
  const Numbers &frequency = values.at(name + ".frequency"), &phase = values.at(name + ".phase"),
                &weight = values.at(name + ".weight"), &bias = values.at(name + ".bias");
  Numbers y;
  for (size_t j = 0; j < x.size(); ++j) {
    for (size_t o = j * e; o < (j + 1) * e; ++o) {
      double sum = bias[o];
      for (size_t k = 0; k < f; ++k)
        sum += weight[o * f + k] *
               std::cos(2 * std::numbers::pi * frequency[j * f + k] * x[j] + phase[j * f + k]);
      y.push_back(sum);
    }
    y.push_back(x[j]);
  }
  return y;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The hidden states of an LSTM at every step, one after the other, from its definition.
Numbers lstm_states(const Lstm& layer, size_t features, const Numbers& x, const std::string& name,
                    const Values& values) {
  const auto h = static_cast<size_t>(layer.out);
  const Numbers &input = values.at(name + ".weight_ih"), &recurrent = values.at(name + ".weight_hh");
  Numbers hidden(h), cell(h), all;
  for (size_t t = 0; t < x.size() / features; ++t) {
    Numbers sums = values.at(name + ".bias_ih");
    for (size_t i = 0; i < 4 * h; ++i) {
      if (layer.biases == "two") sums[i] += values.at(name + ".bias_hh")[i];
      for (size_t k = 0; k < features; ++k) sums[i] += input[i * features + k] * x[t * features + k];
      for (size_t k = 0; k < h; ++k) sums[i] += recurrent[i * h + k] * hidden[k];
    }
    for (size_t i = 0; i < h; ++i) {
      cell[i] = sigmoid(sums[h + i]) * cell[i] + sigmoid(sums[i]) * std::tanh(sums[2 * h + i]);
      hidden[i] = sigmoid(sums[3 * h + i]) * std::tanh(cell[i]);
    }
    all.insert(all.end(), hidden.begin(), hidden.end());
  }
  return all;
}

/// The layers of a plan in float64, one row at a time, from their definitions.
Numbers row_through(const std::vector<LayerSpec>& layers, const std::string& prefix, Numbers x,
                    const Values& values, Shape shape) {
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string name = prefix + "." + std::to_string(i);
    if (const auto* linear = std::get_if<Linear>(&layers[i])) {
      const Numbers& weight = values.at(name + ".weight");
      Numbers y;
      for (size_t o = 0; o < static_cast<size_t>(linear->out); ++o) {
        double sum = 0;
        for (size_t k = 0; k < x.size(); ++k) sum += x[k] * weight[o * x.size() + k];
        y.push_back(linear->scales.weight * sum +
                    (linear->bias ? linear->scales.bias * values.at(name + ".bias")[o] : 0));
      }
      x = y;
    } else if (const auto* activation = std::get_if<Activation>(&layers[i])) {
      for (double& each : x) {
        if (activation->function == "silu") each = each / (1 + std::exp(-each));
        if (activation->function == "tanh") each = std::tanh(each);
        if (activation->function == "relu") each = std::max(each, 0.0);
        if (activation->function == "mish") each *= std::tanh(std::log1p(std::exp(each)));
        if (activation->function == "smooth-clip") each /= std::hypot(1, each / 3);
      }
    } else if (std::holds_alternative<Scale>(layers[i])) {
      for (size_t k = 0; k < x.size(); ++k) x[k] *= values.at(name + ".weight")[k];
    } else if (const auto* periodic = std::get_if<Periodic>(&layers[i])) {
      x = embedded(*periodic, x, name, values);
    } else if (const auto* lstm = std::get_if<Lstm>(&layers[i])) {
      x = lstm_states(*lstm, static_cast<size_t>(shape.width()), x, name, values);
    } else if (std::holds_alternative<LastStep>(layers[i])) {
      x.erase(x.begin(), x.end() - shape.width());
    } else if (std::holds_alternative<BatchNorm>(layers[i])) {
      for (size_t k = 0; k < x.size(); ++k)
        x[k] = (x[k] - values.at(name + ".running_mean")[k]) /
                   std::sqrt(values.at(name + ".running_var")[k] + 1e-5) * values.at(name + ".weight")[k] +
               values.at(name + ".bias")[k];
    } else if (std::holds_alternative<LayerNorm>(layers[i])) {
      double mean = 0, var = 0;
      for (double each : x) mean += each / static_cast<double>(x.size());
      for (double each : x) var += (each - mean) * (each - mean) / static_cast<double>(x.size());
      for (size_t k = 0; k < x.size(); ++k)
        x[k] = (x[k] - mean) / std::sqrt(var + 1e-5) * values.at(name + ".weight")[k] +
               values.at(name + ".bias")[k];
    } else if (const auto* residual = std::get_if<Residual>(&layers[i])) {
      const Numbers body = row_through(residual->body, name, x, values, shape);
      for (size_t k = 0; k < x.size(); ++k) x[k] += body[k];
    }
    shape = output(layers[i], shape, name);
  }
  return x;
}

/// A network with values, rows and weights of its outputs; loss = sum of weights times outputs.
struct Case {
  NetworkSpec spec;
  int64_t rows, outputs;
  Plan plan;
  std::vector<std::vector<float>> values;
  std::vector<float> x, g;

  Case(NetworkSpec of, int64_t rows)
      : spec(std::move(of)), rows(rows), outputs(output(spec).width()), plan(spec.input.numel()) {
    EXPECT_EQ(plan.append(spec, "network"), "");
    std::mt19937_64 bits(5);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& out, int64_t n, float sd) {
      for (int64_t i = 0; i < n; ++i) out.push_back(sd * normal(bits));
    };
    const std::vector<TensorShape> shapes = shapes_of(spec, "network");
    for (const std::string& name : plan.tensors())
      for (const TensorShape& shape : shapes)
        if (shape.name == name) {
          int64_t n = 1;
          for (int64_t size : shape.sizes) n *= size;
          fill(values.emplace_back(), n, shape.sizes.size() == 2 ? 0.3F : 1);
          if (name.ends_with("running_var"))
            for (float& each : values.back()) each = 0.1F + each * each;
        }
    EXPECT_EQ(values.size(), plan.tensors().size());
    fill(x, rows * spec.input.numel(), 1);
    fill(g, rows * outputs, 1);
  }

  /// The values by name in float64.
  Values exact() const {
    Values named;
    for (size_t i = 0; i < values.size(); ++i)
      named[plan.tensors()[i]] = Numbers(values[i].begin(), values[i].end());
    return named;
  }
  Numbers reference(const Values& named) const {
    Numbers all;
    const int64_t d = spec.input.numel();
    for (int64_t i = 0; i < rows; ++i) {
      const Numbers y = row_through(spec.layers, "network", {x.begin() + i * d, x.begin() + (i + 1) * d},
                                    named, spec.input);
      all.insert(all.end(), y.begin(), y.end());
    }
    return all;
  }
  double loss(const Values& at) const {
    const Numbers y = reference(at);
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) sum += y[i] * g[i];
    return sum;
  }
};

/// Returns the outputs and the gradients of the parameters by the engine.
std::pair<std::vector<float>, std::vector<std::vector<float>>> passed(const Case& c,
                                                                      const kernels::Kernels& k) {
  Tape tape(std::make_shared<Plan>(c.plan), k);
  std::vector<const float*> values;
  std::vector<std::vector<float>> gradients;
  std::vector<float*> to;
  for (const auto& each : c.values) {
    values.push_back(each.data());
    gradients.emplace_back(each.size());
  }
  for (auto& each : gradients) to.push_back(each.data());
  tape.pack(values);
  std::vector<float> y(static_cast<size_t>(c.rows * c.outputs));
  tape.forward(c.x.data(), c.spec.input.numel(), c.rows, y.data(), c.outputs, true);
  tape.backward(c.g.data(), c.outputs, to);
  return {y, gradients};
}

std::vector<Case> cases() {
  NetworkSpec scaled = mlp(5, 20, 2, "tanh");
  for (LayerSpec& layer : scaled.layers)
    if (auto* linear = std::get_if<Linear>(&layer)) linear->scales = {.weight = 1.5, .bias = 0.5};
  NetworkSpec nested{
      {{6}},
      {Residual{{Activation{"silu"}, LayerNorm{}, Residual{{Linear{6, false}, Activation{"relu"}}, {}}}, {}},
       Residual{{Dropout{0.1}}, {}}, Activation{"tanh"}, Linear{3}}};
  return {{tabular_resnet(9, 24, 2), 70},
          {mlp(7, 33, 3, "relu"), 61},
          {scaled, 3},
          {nested, 60},
          {NetworkSpec{{{1, 4, 3}}, {Flatten{}, Linear{2}}}, 5},
          {network_for({.network = "realmlp", .hidden = 20, .blocks = 2}, {{5}}), 65},
          {NetworkSpec{{{7, 3}}, {Lstm{16}, LastStep{}, LayerNorm{}, Linear{2}}}, 65},
          {NetworkSpec{{{4, 17}}, {Lstm{9, "one"}, Dropout{0.2}, Lstm{5}, LastStep{}, Linear{1}}}, 61},
          {NetworkSpec{{{1, 2}}, {Lstm{3}, LastStep{}}}, 2},
          {NetworkSpec{{{3, 4}}, {Lstm{6}, Dropout{0.3}, LastStep{}, Linear{2}}}, 61},
          {NetworkSpec{{{3, 4}}, {LastStep{}, Linear{2}}}, 5},
          {NetworkSpec{{{3}}, {Periodic{.frequencies = 19, .out = 2}, Scale{}, Linear{2}}}, 7}};
}

TEST(Plan, OutputsAreThoseOfFloat64) {
  for (const Case& c : cases())
    for (const kernels::Kernels& k : kernels::all_kernels()) {
      const Numbers wanted = c.reference(c.exact());
      const auto y = passed(c, k).first;
      for (size_t i = 0; i < y.size(); ++i)
        EXPECT_NEAR(y[i], wanted[i], 2e-5 * (1 + std::abs(wanted[i]))) << k.target;
    }
}

TEST(Plan, PredictsWithBatchNorms) {
  const Case c(mlp(5, 18, 2, "silu", 0, /*batch_norm=*/true), 61);
  EXPECT_FALSE(c.plan.trains());
  const Numbers wanted = c.reference(c.exact());
  for (const kernels::Kernels& k : kernels::all_kernels()) {
    Tape tape(std::make_shared<Plan>(c.plan), k);
    std::vector<const float*> values;
    for (const auto& each : c.values) values.push_back(each.data());
    tape.pack(values);
    std::vector<float> y(wanted.size()), none(wanted.size());
    tape.forward(c.x.data(), 5, c.rows, y.data(), c.outputs, true);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], wanted[i], 5e-5 * (1 + std::abs(wanted[i])));
    const std::vector<float*> to(values.size());
    EXPECT_THROW(tape.backward(none.data(), c.outputs, to), std::logic_error);
  }
}

TEST(Plan, GradientsAreDifferenceQuotients) {
  for (const Case& c : cases()) {
    std::vector<std::vector<std::vector<float>>> gradients;
    for (const kernels::Kernels& k : kernels::all_kernels()) gradients.push_back(passed(c, k).second);
    Values at = c.exact();
    for (size_t t = 0; t < c.values.size(); ++t) {
      double scale = 0;
      for (float each : gradients[0][t]) scale = std::max<double>(scale, std::abs(each));
      Numbers& own = at[c.plan.tensors()[t]];
      for (size_t i = 0; i < own.size(); i += std::max<size_t>(1, own.size() / 2)) {
        const double middle = own[i], h = 1e-6;
        own[i] = middle + h;
        const double up = c.loss(at);
        own[i] = middle - h;
        const double slope = (up - c.loss(at)) / (2 * h);
        own[i] = middle;
        for (const auto& of_target : gradients)
          EXPECT_NEAR(of_target[t][i], slope, 1e-5 * scale) << c.plan.tensors()[t];
      }
    }
  }
}

TEST(Plan, HasTheSameBitsOnTargetsWithFusedMultiplyAdds) {
  for (const Case& c : {Case(tabular_resnet(26, 64, 2), 130),
                        Case(network_for({.network = "realmlp", .hidden = 40, .blocks = 2}, {{9}}), 130),
                        Case(network_for({.network = "lstm", .hidden = 20, .blocks = 2}, {{6, 5}}), 130)}) {
    std::vector<std::vector<std::vector<float>>> found;
    for (const kernels::Kernels& k : kernels::all_kernels())
      if (std::string_view(k.target) != "SSE4") found.push_back(passed(c, k).second);
    for (const auto& each : found) EXPECT_EQ(each, found.front());
  }
}

TEST(Plan, RefusesWhatItDoesNotKnow) {
  const auto why = [](const NetworkSpec& spec) { return Plan(spec.input.numel()).append(spec, "network"); };
  EXPECT_EQ(why({{{4}}, {Activation{"gelu"}}}), "the activation gelu");
  EXPECT_EQ(why({{{2, 4, 4}}, {BatchNorm{}, Flatten{}}}), "batch_norm");
  EXPECT_EQ(why({{{3, 4}}, {Lstm{5}}}), "an output that is no vector");
  EXPECT_EQ(why({{{-1, 4}}, {Lstm{5}, LastStep{}}}), "a sequence of any length");
  EXPECT_EQ(why({{{3, 4}}, {Lstm{4}, Attention{2}, LastStep{}}}), "attention");
  EXPECT_EQ(why({{{3, 4}}, {Linear{5}}}), "a linear layer on each step of a sequence");
  EXPECT_EQ(why({{{4}}, {Linear{5}, Periodic{}}}), "a periodic embedding behind trained layers");
  EXPECT_EQ(why({{{9}, true}, {Embedding{10, 4}}}), "tokens that are not averaged at once");
  EXPECT_EQ(why({{{4}}, {Residual{{Linear{4}}, {Linear{4}}}}}), "a residual with layers in its shortcut");
}

TEST(Tape, OfNoRowsDoesNothing) {
  Case c(mlp(3, 4, 1, "relu"), 1);
  c.rows = 0;
  for (const auto& gradient : passed(c, kernels::kernels()).second)
    for (float each : gradient) EXPECT_EQ(each, 0);
}

// Without padding between 9 and 16 units, what an infinite input makes of it must not reach the units.
TEST(Tape, OfAnLstmSaturatesWithInfiniteInputs) {
  for (const kernels::Kernels& k : kernels::all_kernels()) {
    Case c(NetworkSpec{{{3, 1}}, {Lstm{9}, LastStep{}}}, 2);
    c.x[0] = INFINITY;
    for (float each : passed(c, k).first) EXPECT_TRUE(std::isfinite(each)) << k.target;
  }
}

// What backward does not need is not kept: one array serves all steps.
TEST(Tape, OfAPredictionIsAsShortAsOneStep) {
  const auto of = [](int64_t steps) {
    Plan plan(2 * steps);
    EXPECT_EQ(plan.append({{{steps, 2}}, {Lstm{64}, LastStep{}}}, "network"), "");
    return plan;
  };
  const int64_t flat = 2 * kChunkRows * kernels::padded(2 * 999) + kChunkRows * kernels::padded(64 * 999);
  EXPECT_LT(of(1000).tape_floats(false) - of(1).tape_floats(false), flat);
  EXPECT_GT(of(1000).tape_floats(true), 900 * (of(2).tape_floats(true) - of(1).tape_floats(true)));
}

TEST(Tape, KeepsNaN) {
  Case c(tabular_resnet(3, 8, 1), 4);
  c.values[0][0] = NAN;
  for (float each : passed(c, kernels::kernels()).first) EXPECT_TRUE(std::isnan(each));
}

}  // namespace
}  // namespace slimbayes::engine
