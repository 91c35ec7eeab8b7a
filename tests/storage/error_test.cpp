#include "slimbayes/storage/error.h"

#include <gtest/gtest.h>

namespace slimbayes {
namespace {

TEST(DataError, NamesThePlaceAsFarAsItIsKnown) {
  EXPECT_STREQ(DataError("t.csv", "bad cell").what(), "t.csv: bad cell");
  EXPECT_STREQ(DataError("t.csv", "bad cell", 3).what(), "t.csv:3: bad cell");
  EXPECT_STREQ(DataError("t.csv", "bad cell", 3, 7).what(), "t.csv:3:7: bad cell");
  EXPECT_STREQ(DataError("t.csv", "bad cell", 0, 7).what(), "t.csv: bad cell");
}

}  // namespace
}  // namespace slimbayes
