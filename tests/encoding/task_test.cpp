#include "slimbayes/encoding/task.h"

#include <gtest/gtest.h>

namespace slimbayes {
namespace {

TEST(encoded_target, IsUndoneByDecodedTarget) {
  Task task;
  task.y_shift = 20;
  task.y_scale = 4;
  EXPECT_EQ(encoded_target(task, 26), 1.5);
  EXPECT_EQ(decoded_target(task, 1.5), 26);
  const Task classes{TaskKind::classification, LikelihoodKind::softmax, 3};
  EXPECT_EQ(encoded_target(classes, 2), 2);
  EXPECT_EQ(decoded_target(classes, 2.0), 2);
}

TEST(rows_per_example, AreThePixelsOfAGrid) {
  Task task;
  EXPECT_EQ(rows_per_example(task), 1);
  task.grid = PixelGrid{4, 6};
  EXPECT_EQ(rows_per_example(task), 24);
}

}  // namespace
}  // namespace slimbayes
