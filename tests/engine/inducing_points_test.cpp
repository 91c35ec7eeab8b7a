#include "slimbayes/engine/inducing_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

namespace slimbayes::engine {
namespace {

using kernels::padded;
using Reals = std::vector<double>;

/// Inputs g, the parameters, and a loss: the sum of weights times phi and of weights times the correction.
struct InducingCase {
  int64_t rows, h, r;
  Reals g, points, log_lengthscale, log_amplitude = {0.3F}, of_phi, of_correction;

  InducingCase(int64_t rows, int64_t h, int64_t r, double shift = 0) : rows(rows), h(h), r(r) {
    std::mt19937_64 bits(3);
    std::normal_distribution<float> normal;  // numbers that float32 holds
    const auto fill = [&](Reals& out, int64_t n, double sd, double mean) {
      for (int64_t i = 0; i < n; ++i) out.push_back(static_cast<float>(mean + sd * normal(bits)));
    };
    fill(g, rows * h, 1, shift);
    fill(points, r * h, 1, shift);
    fill(log_lengthscale, h, 0.2, 0.3);
    fill(of_phi, rows * r, 1, 0);
    fill(of_correction, rows, 1, 0);
  }
};

double gaussian(const InducingCase& c, const double* x, const double* z) {
  double sum = 0;
  for (int64_t j = 0; j < c.h; ++j)
    sum += std::pow((x[j] - z[j]) / std::exp(c.log_lengthscale[static_cast<size_t>(j)]), 2);
  return std::exp(c.log_amplitude[0] - sum / 2);
}

/// Returns phi = L^-1 k_Z(g) row by row, from the definitions.
Reals features(const InducingCase& c) {
  const auto r = static_cast<size_t>(c.r), h = static_cast<size_t>(c.h);
  std::vector<Reals> factor(r, Reals(r));
  for (size_t i = 0; i < r; ++i)
    for (size_t j = 0; j <= i; ++j) {
      double sum = gaussian(c, &c.points[i * h], &c.points[j * h]);
      if (i == j) sum *= 1 + 1e-11;
      for (size_t p = 0; p < j; ++p) sum -= factor[i][p] * factor[j][p];
      factor[i][j] = i == j ? std::sqrt(sum) : sum / factor[j][j];
    }
  Reals phi(static_cast<size_t>(c.rows) * r);
  for (size_t b = 0; b < static_cast<size_t>(c.rows); ++b)
    for (size_t i = 0; i < r; ++i) {
      double sum = gaussian(c, &c.g[b * h], &c.points[i * h]);
      for (size_t p = 0; p < i; ++p) sum -= factor[i][p] * phi[b * r + p];
      phi[b * r + i] = sum / factor[i][i];
    }
  return phi;
}

double inducing_loss(const InducingCase& c) {
  const Reals phi = features(c);
  double sum = 0;
  for (size_t b = 0; b < static_cast<size_t>(c.rows); ++b) {
    double square = 0;
    for (size_t i = b * static_cast<size_t>(c.r); i < (b + 1) * static_cast<size_t>(c.r); ++i) {
      sum += c.of_phi[i] * phi[i];
      square += phi[i] * phi[i];
    }
    sum += c.of_correction[b] * (std::exp(c.log_amplitude[0]) - square);
  }
  return sum;
}

/// The results of the engine, as float32: phi, |phi|^2, and the gradients.
struct FoundByPoints {
  std::vector<float> phi, g, points, log_lengthscale, log_amplitude;
  Reals squares;
  bool ready = false;
};

std::vector<float> to_floats(const Reals& x) { return {x.begin(), x.end()}; }

/// Copies rows of `width` numbers to rows with padding, or back.
std::vector<float> with_padding(const std::vector<float>& x, int64_t width) {
  std::vector<float> out;
  for (size_t i = 0; i < x.size(); ++i) {
    out.push_back(x[i]);
    if ((i + 1) % static_cast<size_t>(width) == 0)
      out.resize(out.size() + static_cast<size_t>(padded(width) - width));
  }
  return out;
}
std::vector<float> without_padding(const float* x, int64_t rows, int64_t width) {
  std::vector<float> out;
  for (int64_t i = 0; i < rows; ++i)
    out.insert(out.end(), x + i * padded(width), x + i * padded(width) + width);
  return out;
}

FoundByPoints inducing_passed(const InducingCase& c, const kernels::Kernels& k) {
  InducingPoints inducing(c.h, c.r, k);
  const std::vector<float> g = with_padding(to_floats(c.g), c.h), points = to_floats(c.points),
                           scale = to_floats(c.log_lengthscale), amplitude = to_floats(c.log_amplitude);
  FoundByPoints found;
  found.ready = inducing.prepare({points.data(), scale.data(), amplitude.data()});
  if (!found.ready) return found;
  Doubles tape(inducing.tape_doubles());
  Floats phi(inducing.tape_floats());
  InducingPoints::Work work = inducing.work();
  InducingPoints::Sums sums = inducing.sums();
  found.squares.resize(static_cast<size_t>(c.rows));
  inducing.forward(g.data(), c.rows, tape.data(), work, phi.data(), found.squares.data());
  found.phi = without_padding(phi.data(), c.rows, c.r);
  const std::vector<float> grad_phi = with_padding(to_floats(c.of_phi), c.r);
  std::vector<float> grad_g(g.size());
  inducing.backward(c.rows, tape.data(), grad_phi.data(), c.of_correction.data(), work, sums, grad_g.data());
  found.points.resize(points.size());
  found.log_lengthscale.resize(scale.size());
  found.log_amplitude.resize(1);
  inducing.finish(sums, {found.points.data(), found.log_lengthscale.data(), found.log_amplitude.data()});
  found.g = without_padding(grad_g.data(), c.rows, c.h);
  return found;
}

std::vector<InducingCase> inducing_cases() { return {{7, 3, 5}, {60, 9, 37}, {13, 20, 16}, {20, 6, 12, 30}}; }

TEST(InducingPoints, FeaturesAreThoseOfFloat64) {
  for (const InducingCase& c : inducing_cases())
    for (const kernels::Kernels& k : kernels::all_kernels()) {
      const Reals phi = features(c);
      const FoundByPoints found = inducing_passed(c, k);
      ASSERT_TRUE(found.ready);
      for (size_t i = 0; i < phi.size(); ++i)
        EXPECT_NEAR(found.phi[i], phi[i], 1e-7 * (1 + std::abs(phi[i])));
      for (size_t b = 0; b < found.squares.size(); ++b) {
        double square = 0;
        for (size_t i = b * static_cast<size_t>(c.r); i < (b + 1) * static_cast<size_t>(c.r); ++i)
          square += phi[i] * phi[i];
        EXPECT_NEAR(found.squares[b], square, 1e-12 * square) << k.target;
      }
    }
}

TEST(InducingPoints, GradientsAreDifferenceQuotients) {
  for (InducingCase c : inducing_cases()) {
    std::vector<FoundByPoints> found;
    for (const kernels::Kernels& k : kernels::all_kernels()) found.push_back(inducing_passed(c, k));
    const auto check = [&](Reals& own, std::vector<float> FoundByPoints::*gradient, const char* name) {
      double scale = 0;
      for (float each : found[0].*gradient) scale = std::max<double>(scale, std::abs(each));
      for (size_t i = 0; i < own.size(); i += std::max<size_t>(1, own.size() / 7)) {
        const double middle = own[i], step = 1e-5;
        const auto at = [&](double x) {
          own[i] = x;
          return inducing_loss(c);
        };
        const double slope =
            (8 * (at(middle + step) - at(middle - step)) - (at(middle + 2 * step) - at(middle - 2 * step))) /
            (12 * step);
        own[i] = middle;
        for (const FoundByPoints& each : found) EXPECT_NEAR((each.*gradient)[i], slope, 1e-5 * scale) << name;
      }
    };
    check(c.g, &FoundByPoints::g, "g");
    check(c.points, &FoundByPoints::points, "points");
    check(c.log_lengthscale, &FoundByPoints::log_lengthscale, "log l");
    check(c.log_amplitude, &FoundByPoints::log_amplitude, "log a");
  }
}

TEST(InducingPoints, HaveTheSameBitsOnTargetsWithFusedMultiplyAdds) {
  std::vector<FoundByPoints> all;
  for (const kernels::Kernels& k : kernels::all_kernels())
    if (std::string_view(k.target) != "SSE4") all.push_back(inducing_passed(inducing_cases()[1], k));
  for (const FoundByPoints& each : all) {
    EXPECT_EQ(each.phi, all[0].phi);
    EXPECT_EQ(each.g, all[0].g);
    EXPECT_EQ(each.points, all[0].points);
    EXPECT_EQ(each.log_lengthscale, all[0].log_lengthscale);
    EXPECT_EQ(each.squares, all[0].squares);
  }
}

TEST(InducingPoints, AreNotReadyForWhatNeedsMoreCare) {
  const auto ready = [](const std::function<void(InducingCase&)>& change) {
    InducingCase c(5, 3, 6);
    change(c);
    return inducing_passed(c, kernels::kernels()).ready;
  };
  EXPECT_TRUE(ready([](InducingCase&) {}));
  EXPECT_FALSE(ready([](InducingCase& c) { c.points[4] = NAN; }));
  EXPECT_FALSE(ready([](InducingCase& c) { c.log_lengthscale[1] = NAN; }));
  EXPECT_FALSE(ready([](InducingCase& c) { c.log_amplitude[0] = NAN; }));
  EXPECT_FALSE(
      ready([](InducingCase& c) { c.points[4] = 1e4; }));  // 100 lengthscales from the mean of the points
  EXPECT_FALSE(ready([](InducingCase& c) { c.log_amplitude[0] = -800; }));  // exp(-800) is zero
}

}  // namespace
}  // namespace slimbayes::engine
