#include "slimbayes/method/stored_statistics.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace slimbayes {
namespace {

TEST(statistics_from, TakesNumbersOfAnotherTypeAsTheirValues) {
  const auto sums = [](const std::string& name) {
    if (name == "S") return at::eye(2).to(at::kByte);
    return at::ones({name == "sums" ? 6 : 2}, at::kByte);
  };
  const LinearStatistics s = statistics_from(sums, 2, "");
  EXPECT_EQ(s.n, 1);
  EXPECT_EQ(s.yy, 1);
  EXPECT_EQ(s.S.scalar_type(), at::kDouble);
}

}  // namespace
}  // namespace slimbayes
