// The main program of the tests on the simulated device. A touch of its memory by the host fails the test in
// which it happens, with the stack of the touch.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/device/simulated/memory.h"
#include "tests/device/simulated/simulated.h"

namespace slimbayes::simulated {
namespace {

class NoTouches : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override {
    EXPECT_EQ(touches(), 0) << told_touches();
    forget_touches();
  }
};

}  // namespace
}  // namespace slimbayes::simulated

int main(int argc, char** argv) {
  // libtorch takes one accelerator: the tests of a card leave it the card.
  if (std::getenv("SLIMBAYES_TEST_DEVICE") == nullptr) slimbayes::simulated::install();
  at::set_num_threads(1);  // the data of the tests are too small for more threads
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new slimbayes::simulated::NoTouches);
  return RUN_ALL_TESTS();
}
