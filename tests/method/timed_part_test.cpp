#include "slimbayes/method/timed_part.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

namespace slimbayes {
namespace {

using Clock = std::chrono::steady_clock;

TEST(TimedPart, GetsAnEqualShareOfWhatIsLeft) {
  FitContext whole{Stream(1)};
  whole.until = Clock::now() + std::chrono::hours(4);
  const TimedPart part(whole, 4);
  EXPECT_NEAR(seconds_left(part.context()), 3600, 60);
  ASSERT_NE(part.context().callback, nullptr);
  EXPECT_FALSE(part.context().callback->late());
}

TEST(TimedPart, IsLateOnceTheTimeIsOver) {
  FitContext whole{Stream(1)};
  whole.until = Clock::now() - std::chrono::seconds(1);
  const TimedPart part(whole, 3);
  EXPECT_LT(seconds_left(part.context()), 0);
  EXPECT_TRUE(part.context().callback->late());
  EXPECT_FALSE(part.context().callback->stop());  // time is no interruption
}

TEST(TimedPart, WithoutALimitIsTheGivenPart) {
  const TimedPart part(FitContext{Stream(1)}, 3);
  EXPECT_EQ(part.context().callback, nullptr);
  EXPECT_TRUE(std::isinf(seconds_left(part.context())));
}

}  // namespace
}  // namespace slimbayes
