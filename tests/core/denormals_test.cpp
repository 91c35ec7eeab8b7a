#include "slimbayes/core/denormals.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "slimbayes/core/threads.h"

namespace slimbayes {
namespace {

constexpr int64_t kMany = 1 << 20;  // so many elements are shared among the threads

/// Returns how many of kMany products, each a denormal number, are not zero.
int64_t denormals() { return (at::full({kMany}, 1e-30F) * 1e-10F).count_nonzero().item<int64_t>(); }

TEST(FlushDenormals, HoldsInEveryThreadAndGivesTheSettingBack) {
  if (!at::globalContext().setFlushDenormal(true)) GTEST_SKIP() << "the processor has no such setting";
  at::globalContext().setFlushDenormal(false);
  for (int count : {1, 2}) {
    const ThreadScope threads(count);
    EXPECT_EQ(denormals(), kMany);
    {
      const FlushDenormals outer;
      EXPECT_EQ(denormals(), 0);
      { const FlushDenormals inner; }
      EXPECT_EQ(denormals(), 0);
    }
    EXPECT_EQ(denormals(), kMany);
    const auto fails = [] {
      const FlushDenormals scope;
      throw std::runtime_error("");
    };
    EXPECT_THROW(fails(), std::runtime_error);
    EXPECT_EQ(denormals(), kMany);
  }
}

TEST(FlushDenormals, LeavesACallersOwnSettingOn) {
  if (!at::globalContext().setFlushDenormal(true)) GTEST_SKIP() << "the processor has no such setting";
  const ThreadScope threads(1);
  { const FlushDenormals scope; }
  EXPECT_EQ(denormals(), 0);
  at::globalContext().setFlushDenormal(false);
}

}  // namespace
}  // namespace slimbayes
