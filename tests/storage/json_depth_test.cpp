#include "slimbayes/storage/json_depth.h"

#include <gtest/gtest.h>

#include <string>

namespace slimbayes {
namespace {

TEST(NestsAtMost, CountsObjectsAndArrays) {
  EXPECT_TRUE(nests_at_most("", 0));
  EXPECT_TRUE(nests_at_most("12", 0));
  EXPECT_FALSE(nests_at_most("[]", 0));
  EXPECT_TRUE(nests_at_most(R"({"a": [1, [2], [3]], "b": {}})", 3));
  EXPECT_FALSE(nests_at_most(R"({"a": [1, [2], [3]], "b": {}})", 2));
  EXPECT_FALSE(nests_at_most(std::string(100000, '['), 32));
}

TEST(NestsAtMost, StringsDoNotCount) {
  EXPECT_TRUE(nests_at_most(R"(["[[[", "a\"[[[", "\\"])", 1));
  EXPECT_FALSE(nests_at_most(R"(["a\\", [1]])", 1));
}

}  // namespace
}  // namespace slimbayes
