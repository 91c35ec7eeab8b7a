#include "slimbayes/core/identity_plus.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "slimbayes/core/check.h"
#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

/// A = V diag(4, 1, 0.01, 0, 0) V^T, and V.
struct Known {
  at::Tensor values = at::tensor({4.0, 1.0, 0.01, 0.0, 0.0}, at::kDouble);
  at::Tensor vectors = std::get<0>(at::linalg_qr(Stream(1).normal({5, 5})));
  at::Tensor a = (vectors * values).mm(vectors.t());
};

TEST(IdentityPlus, SolvesForEveryScale) {
  const Known known;
  for (const double c : {0.0, 1e-9, 1.0, 1e6, 1e9, 1e12, 1e18, 1e22}) {
    const IdentityPlus h = identity_plus(known.a, c);
    EXPECT_EQ(h.factor.defined(), c <= 1e9) << c;
    const at::Tensor exact = 1 + c * known.values;  // eigenvalues of H
    const at::Tensor squares = solve_half(h, known.vectors).square().sum(0);
    EXPECT_LT((squares * exact - 1).abs().max().item<double>(), 1e-5) << c;
    const at::Tensor seen = known.vectors.narrow(1, 0, 3);  // the range of A
    const at::Tensor solved = solve(h, seen), expected = seen / exact.narrow(0, 0, 3);
    EXPECT_LT(((solved - expected).norm() / expected.norm()).item<double>(), 1e-5) << c;
    EXPECT_NEAR(log_det(h).item<double>(), exact.log().sum().item<double>(), 1e-4) << c;
  }
}

TEST(IdentityPlus, RefusesWhatIsNotPositiveSemidefinite) {
  const Known known;
  for (const double c : {1e3, 1e15}) {
    EXPECT_THROW(identity_plus(known.a - 0.5 * at::eye(5, at::kDouble), c), NumericalError) << c;
    EXPECT_THROW(identity_plus(known.a * std::nan(""), c), NumericalError) << c;
  }
  EXPECT_THROW(identity_plus(known.a, -1), std::invalid_argument);
  EXPECT_THROW(identity_plus(known.a, std::numeric_limits<double>::infinity()), std::invalid_argument);
  EXPECT_EQ(identity_plus(at::zeros({0, 0}, at::kDouble), 1e20).factor.size(0), 0);
}

}  // namespace
}  // namespace slimbayes
