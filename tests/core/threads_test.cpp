#include "slimbayes/core/threads.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace slimbayes {
namespace {

TEST(ThreadScope, GivesTheEarlierNumberBack) {
  const int before = at::get_num_threads();
  {
    const ThreadScope outer(3);
    EXPECT_EQ(at::get_num_threads(), 3);
    {
      const ThreadScope inner(1);
      EXPECT_EQ(at::get_num_threads(), 1);
    }
    EXPECT_EQ(at::get_num_threads(), 3);
    const ThreadScope none(0);
    EXPECT_EQ(at::get_num_threads(), 3);
  }
  EXPECT_EQ(at::get_num_threads(), before);
  const auto fails = [] {
    const ThreadScope scope(2);
    throw std::runtime_error("");
  };
  EXPECT_THROW(fails(), std::runtime_error);
  EXPECT_EQ(at::get_num_threads(), before);
}

TEST(ThreadScope, RefusesMoreThanTheDescriptionAllows) {
  for (const int threads : {-2, -1, 4097, 20000, 100000, std::numeric_limits<int>::max()})
    EXPECT_THROW(ThreadScope{threads}, std::invalid_argument) << threads;
}

}  // namespace
}  // namespace slimbayes
