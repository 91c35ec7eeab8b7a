#include "slimbayes/model/trust_notes.h"

#include <gtest/gtest.h>

namespace slimbayes {
namespace {

TEST(few_scored, SaysOnHowManyExamplesTheScoresRest) {
  EXPECT_EQ(few_scored(14, "test window", kTestMore),
            "the scores rest on 14 test windows: too few to rank methods; a larger `.test_fraction` "
            "holds out more");
  EXPECT_EQ(few_scored(1, "row", ""), "the scores rest on 1 row: too few to rank methods");
  EXPECT_EQ(few_scored(30, "test row", kTestMore), "");
}

}  // namespace
}  // namespace slimbayes
