// Energies, ranks and tails of known spectra; tests/cli/test_rank_advice.py compares with numpy.
#include "slimbayes/core/singular_values.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

at::Tensor spectrum(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

TEST(SingularValues, OfAProductOfOrthogonalColumns) {
  at::Tensor matrix = at::zeros({3, 2}, at::kDouble);
  matrix[0][1] = -4;
  matrix[2][0] = 3;
  EXPECT_TRUE(at::allclose(singular_values(matrix), spectrum({4, 3})));
  EXPECT_EQ(singular_values(matrix.to(at::kFloat)).scalar_type(), at::kDouble);
}

TEST(SingularValues, RefuseWhatIsNoFiniteMatrix) {
  EXPECT_THROW(singular_values(at::zeros({3})), std::invalid_argument);
  EXPECT_THROW(singular_values(at::full({2, 2}, std::nan(""))), std::invalid_argument);
}

TEST(EnergyKept, IsTheShareOfSquares) {
  const at::Tensor s = spectrum({4, 2, 2, 1});  // squares 16, 4, 4, 1
  EXPECT_DOUBLE_EQ(energy_kept(s, 1), 16.0 / 25);
  EXPECT_DOUBLE_EQ(energy_kept(s, 3), 24.0 / 25);
  EXPECT_EQ(energy_kept(s, 0), 0);
  EXPECT_EQ(energy_kept(s, 4), 1);
  EXPECT_EQ(energy_kept(s, 99), 1);
  EXPECT_EQ(energy_kept(spectrum({0, 0}), 1), 1);
}

TEST(RankForEnergy, IsTheLeastRankThatKeepsTheShare) {
  const at::Tensor s = spectrum({4, 2, 2, 1});
  EXPECT_EQ(rank_for_energy(s, 0.5), 1);
  EXPECT_EQ(rank_for_energy(s, 0.7), 2);
  EXPECT_EQ(rank_for_energy(s, 0.9), 3);
  EXPECT_EQ(rank_for_energy(s, 0.97), 4);
  EXPECT_EQ(rank_for_energy(s, 1), 4);
  EXPECT_EQ(rank_for_energy(spectrum({2, 0, 0}), 1), 1);
  EXPECT_EQ(rank_for_energy(spectrum({0, 0}), 0.9), 1);
  EXPECT_THROW(rank_for_energy(s, 0), std::invalid_argument);
}

TEST(RankForEnergy, AgreesWithEnergyKeptToTheLastBit) {
  for (uint64_t i = 0; i < 200; ++i) {
    const at::Tensor s = singular_values(Stream(5).split(i).normal({7, 5}));
    for (int64_t rank = 1; rank <= 5; ++rank) {
      const double share = energy_kept(s, rank);
      EXPECT_EQ(rank_for_energy(s, share), rank);
      if (rank == 5) continue;
      EXPECT_EQ(rank_for_energy(s, std::nextafter(share, 2)), rank + 1);
    }
  }
}

TEST(LargestSavingRank, IsTheLastOneWithFewerNumbers) {
  for (int64_t m = 1; m < 20; ++m)
    for (int64_t n = 1; n < 20; ++n) {
      const int64_t r = largest_saving_rank(m, n);
      EXPECT_TRUE(r == 0 || r * (m + n) < m * n);
      EXPECT_GE((r + 1) * (m + n), m * n);
    }
}

TEST(Tails, AreTheNormsOfTheRest) {
  const at::Tensor matrix = Stream(1).normal({7, 5});
  const auto [u, s, vt] = at::linalg_svd(matrix, false);
  for (int64_t rank = 0; rank <= 5; ++rank) {
    const at::Tensor rest = matrix - (u.narrow(1, 0, rank) * s.narrow(0, 0, rank)).mm(vt.narrow(0, 0, rank));
    EXPECT_NEAR(frobenius_tail(s, rank), rest.norm().item<double>(), 1e-12);
    EXPECT_NEAR(spectral_tail(s, rank), at::linalg_matrix_norm(rest, 2).item<double>(), 1e-12);
  }
  EXPECT_EQ(frobenius_tail(s, 9), 0);
}

}  // namespace
}  // namespace slimbayes
