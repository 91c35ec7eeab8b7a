#include "slimbayes/train/until_deadline.h"

#include <gtest/gtest.h>

namespace slimbayes {
namespace {

struct Inner : Callback {
  bool stopped = false, over = false;
  bool stop() override { return stopped; }
  bool late() override { return over; }
};

TEST(UntilDeadline, IsLateWhenTheTimeIsOver) {
  Inner inner;
  UntilDeadline over(&inner, -1), open(&inner, 1e6), alone(nullptr, 1e6);
  EXPECT_TRUE(over.late());
  EXPECT_FALSE(over.stop());  // time is no interruption
  EXPECT_FALSE(open.late());
  EXPECT_FALSE(alone.late());
  EXPECT_FALSE(alone.stop());
}

TEST(UntilDeadline, StopsAndIsLateWithTheCaller) {
  Inner inner;
  UntilDeadline open(&inner, 1e6);
  inner.stopped = true;
  EXPECT_TRUE(open.stop());
  EXPECT_FALSE(open.late());
  inner.over = true;
  EXPECT_TRUE(open.late());
}

}  // namespace
}  // namespace slimbayes
