#include "tests/kernels/rows.h"

namespace slimbayes::kernels {
namespace {

class Activations : public EveryTarget {};

/// An activation with its value and derivative in float64.
struct Reference {
  const char* name;
  void (*Kernels::*kernel)(Rows, float* x, float* slope);
  double (*value)(double x);
  double (*slope)(double x);
};

double softplus(double x) { return x > 40 ? x : std::log1p(std::exp(x)); }

const std::vector<Reference>& references() {
  static const std::vector<Reference> all = {
      {"silu", &Kernels::silu, [](double x) { return x * sigmoid(x); },
       [](double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }},
      {"tanh", &Kernels::tanh, [](double x) { return std::tanh(x); },
       [](double x) { return 1 - std::tanh(x) * std::tanh(x); }},
      {"relu", &Kernels::relu, [](double x) { return x > 0 ? x : 0; },
       [](double x) { return x > 0 ? 1.0 : 0.0; }},
      {"mish", &Kernels::mish, [](double x) { return x * std::tanh(softplus(x)); },
       [](double x) {
         const double t = std::tanh(softplus(x));
         return t + x * (1 - t * t) * sigmoid(x);
       }},
      {"smooth_clip", &Kernels::smooth_clip,
       [](double x) { return std::isinf(x) ? 3 : x / std::hypot(1, x / 3); },
       [](double x) { return std::pow(std::hypot(1, x / 3), -3); }}};
  return all;
}

TEST_P(Activations, AreThoseOfFloat64) {
  std::vector<double> places = {0,  1e-30, -1e-30, 1e-6, 0.6249F, -0.6251F, 1,
                                -1, 9.1,   -9.1,   60,   -60,     86.5,     -86.5};
  for (int i = -200; i <= 200; ++i) places.push_back(i * 0.05);
  for (const Reference& f : references()) {
    Matrix x(1, static_cast<int64_t>(places.size())), slope(1, x.width);
    for (size_t i = 0; i < places.size(); ++i) x.values[i] = static_cast<float>(places[i]);
    (k().*f.kernel)(x.of(), x.data(), slope.data());
    for (size_t i = 0; i < places.size(); ++i) {
      const double at = static_cast<float>(places[i]), y = f.value(at);
      EXPECT_NEAR(x.values[i], y, 4e-7 * std::abs(y) + 1e-37) << f.name << " at " << at;
      EXPECT_NEAR(slope.values[i], f.slope(at), 5e-7) << f.name << " at " << at;
    }
    EXPECT_TRUE(x.padding_is_zero());
  }
}

TEST_P(Activations, KeepWhatIsNotFinite) {
  for (const Reference& f : references()) {
    Matrix x(1, 3), slope(1, 3);
    x(0, 0) = NAN;
    x(0, 1) = INFINITY;
    x(0, 2) = 1e30F;
    (k().*f.kernel)(x.of(), x.data(), slope.data());
    EXPECT_TRUE(std::isnan(x.values[0])) << f.name;
    EXPECT_EQ(x.values[1], f.value(INFINITY)) << f.name;
    EXPECT_EQ(x.values[2], static_cast<float>(f.value(1e30F))) << f.name;
    EXPECT_NEAR(slope.values[2], f.slope(1e30F), 1e-6) << f.name;
  }
}

TEST_P(Activations, MultiplyIsElementwise) {
  Matrix x(5, 19, 1);
  const Matrix before = x, other(5, 19, 2);
  k().multiply(x.of(), x.data(), other.data());
  for (size_t i = 0; i < x.values.size(); ++i) EXPECT_EQ(x.values[i], before.values[i] * other.values[i]);
}

SLIMBAYES_EVERY_TARGET(Activations);

}  // namespace
}  // namespace slimbayes::kernels
