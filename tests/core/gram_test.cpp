#include "slimbayes/core/gram.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/core/random.h"
#include "slimbayes/core/threads.h"

namespace slimbayes {
namespace {

TEST(AddGram, AddsThePlainProductAndStaysSymmetric) {
  for (const int64_t r : {1, 7, 16, 33, 128, 600}) {
    for (const int64_t rows : {0, 1, 65, 300}) {
      const at::Tensor phi = Stream(1).normal({rows, r}), half = Stream(2).normal({r, r});
      const at::Tensor start = half + half.t();
      for (const double sign : {1.0, -1.0}) {
        at::Tensor s = start.clone();
        add_gram(s, phi, sign);
        EXPECT_TRUE(at::allclose(s, start + sign * at::mm(phi.t(), phi), 1e-13, 1e-12)) << r << " " << rows;
        EXPECT_TRUE(r > 512 || at::equal(s, s.t())) << r << " " << rows;
      }
    }
  }
}

TEST(AddGram, HasTheSameBitsForAnyNumberOfThreadsAndLayout) {
  const at::Tensor phi = Stream(1).normal({9000, 20});
  at::Tensor one = at::zeros({20, 20}, at::kDouble), two = one.clone(), columns = one.clone();
  {
    const ThreadScope threads(1);
    add_gram(one, phi, 1);
  }
  {
    const ThreadScope threads(2);
    add_gram(two, phi, 1);
    add_gram(columns, phi.t().contiguous().t(), 1);
  }
  EXPECT_TRUE(at::equal(one, two));
  EXPECT_TRUE(at::equal(one, columns));
}

}  // namespace
}  // namespace slimbayes
