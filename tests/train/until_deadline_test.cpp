#include "slimbayes/train/until_deadline.h"

#include <gtest/gtest.h>

namespace slimbayes {
namespace {

struct Stopping : Callback {
  bool now = false;
  bool stop() override { return now; }
};

TEST(UntilDeadline, StopsWhenTheTimeIsOver) {
  Stopping inner;
  UntilDeadline over(&inner, -1), open(&inner, 1e6), alone(nullptr, 1e6);
  EXPECT_TRUE(over.stop());
  EXPECT_FALSE(over.asked());
  EXPECT_FALSE(open.stop());
  EXPECT_FALSE(alone.stop());
}

TEST(UntilDeadline, StopsWithTheCaller) {
  Stopping inner;
  UntilDeadline open(&inner, 1e6);
  inner.now = true;
  EXPECT_TRUE(open.stop());
  EXPECT_TRUE(open.asked());
}

}  // namespace
}  // namespace slimbayes
