#include "slimbayes/train/until_deadline.h"

#include <gtest/gtest.h>

#include <limits>

namespace slimbayes {
namespace {

struct Inner : Callback {
  bool stopped = false, over = false;
  Remaining left;
  void report(const Progress& progress) override { left = progress.left; }
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

TEST(UntilDeadline, ReportsNoMoreThanTheTimeThatIsLeft) {
  Inner inner;
  UntilDeadline soon(&inner, 60), late(&inner, -1);
  Progress progress;
  progress.left = {1e6, 1e5};
  soon.report(progress);
  EXPECT_LE(inner.left.seconds, 60);
  EXPECT_LE(inner.left.if_none_better, 60);
  EXPECT_GT(inner.left.seconds, 0);
  progress.left = {5, std::numeric_limits<double>::infinity()};  // patience is not in use
  soon.report(progress);
  EXPECT_EQ(inner.left.seconds, 5);
  EXPECT_TRUE(std::isinf(inner.left.if_none_better));
  late.report(progress);
  EXPECT_EQ(inner.left.seconds, 0);
}

}  // namespace
}  // namespace slimbayes
