#include "slimbayes/engine/cholesky.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string_view>
#include <vector>

namespace slimbayes::engine {
namespace {

/// Returns B^T B / n with normal numbers in B [n + 3, n].
std::vector<double> covariance(int64_t n) {
  std::mt19937_64 bits(static_cast<uint64_t>(n));
  std::normal_distribution<double> normal;
  std::vector<double> b(static_cast<size_t>((n + 3) * n)), k(static_cast<size_t>(n * n));
  for (double& each : b) each = normal(bits);
  for (int64_t p = 0; p < n + 3; ++p)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        k[static_cast<size_t>(i * n + j)] +=
            b[static_cast<size_t>(p * n + i)] * b[static_cast<size_t>(p * n + j)] / static_cast<double>(n);
  return k;
}

/// Returns U^-1, or its transpose: the rows of the identity, divided.
std::vector<double> divided_identity(const UpperFactor& factor, int64_t n, bool transposed) {
  std::vector<double> x(static_cast<size_t>(n * n)), work(static_cast<size_t>(UpperFactor::work_doubles(n)));
  for (int64_t i = 0; i < n; ++i) x[static_cast<size_t>(i * n + i)] = 1;
  if (transposed)
    factor.divide_transposed(n, x.data(), work.data());
  else
    factor.divide(n, x.data(), work.data());
  return x;
}

TEST(UpperFactor, InvertsAsItDividesTheUnitMatrix) {
  for (const kernels::Kernels& k : kernels::all_kernels())
    for (const int64_t n : {16, 64, 80, 208}) {
      UpperFactor factor(n, k);
      ASSERT_TRUE(factor.factorise(covariance(n).data()));
      std::vector<double> x(static_cast<size_t>(n * n), NAN),
          work(static_cast<size_t>(UpperFactor::work_doubles(UpperFactor::kInvertRows)));
      factor.invert(x.data(), work.data());
      const std::vector<double> divided = divided_identity(factor, n, false);
      for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], divided[i], 1e-12 * (1 + std::abs(divided[i])));
    }
}

TEST(UpperFactor, DividesByTheFactorAndItsTranspose) {
  for (const kernels::Kernels& k : kernels::all_kernels())
    for (const int64_t n : {16, 48, 80, 128}) {
      const std::vector<double> exact = covariance(n);
      std::vector<double> given = exact;
      for (int64_t i = 0; i < n; ++i)  // the lower triangle is not read
        for (int64_t j = 0; j < i; ++j) given[static_cast<size_t>(i * n + j)] = NAN;
      UpperFactor factor(n, k);
      ASSERT_TRUE(factor.factorise(given.data()));
      const std::vector<double> v = divided_identity(factor, n, false), w = divided_identity(factor, n, true);
      const auto at = [n](const std::vector<double>& of, int64_t i, int64_t j) {
        return of[static_cast<size_t>(i * n + j)];
      };
      double worst = 0, largest = 0;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;  // (V^T K V)_ij with V = U^-1
          for (int64_t p = 0; p <= i; ++p)
            for (int64_t q = 0; q <= j; ++q) sum += at(v, p, i) * at(exact, p, q) * at(v, q, j);
          worst = std::max(worst, std::abs(sum - (i == j ? 1 : 0)));
          largest = std::max(largest, std::abs(at(v, i, j)));
          EXPECT_NEAR(at(v, i, j), at(w, j, i), 1e-12 * (1 + largest));
          if (j < i) {
            EXPECT_EQ(at(v, i, j), 0);
          }
        }
      EXPECT_LE(worst, 1e-14 * largest * largest) << k.target << " " << n;
    }
}

TEST(UpperFactor, RefusesWhatIsNotPositiveDefinite) {
  for (const int64_t bad : {int64_t{0}, int64_t{13}, int64_t{40}})
    for (const double value : {0.0, -1.0, static_cast<double>(NAN)}) {
      std::vector<double> k = covariance(48);
      k[static_cast<size_t>(bad * 48 + bad)] = value;
      EXPECT_FALSE(UpperFactor(48, kernels::kernels()).factorise(k.data())) << bad << " " << value;
    }
}

TEST(UpperFactor, HasTheSameBitsOnTargetsWithFusedMultiplyAdds) {
  std::vector<std::vector<double>> found;
  for (const kernels::Kernels& kernels : kernels::all_kernels()) {
    if (std::string_view(kernels.target) == "SSE4") continue;
    UpperFactor factor(80, kernels);
    ASSERT_TRUE(factor.factorise(covariance(80).data()));
    found.push_back(divided_identity(factor, 80, false));
  }
  for (const auto& each : found) EXPECT_EQ(each, found.front());
}

}  // namespace
}  // namespace slimbayes::engine
