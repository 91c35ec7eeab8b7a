#include "slimbayes/data/table/camvid.h"

#include <gtest/gtest.h>

#include <string>

namespace slimbayes {
namespace {

TEST(BeginsAsCamvid, NeedsAWholeMapOfKnownLabels) {
  const auto map = [](char label) { return std::string(static_cast<size_t>(kCamvidPixels), label); };
  EXPECT_TRUE(begins_as_camvid(map('\0')));
  EXPECT_TRUE(begins_as_camvid(map('\x0b') + "\xff"));
  EXPECT_FALSE(begins_as_camvid(map('\x0c')));
  EXPECT_FALSE(begins_as_camvid(map('\x0b').substr(1)));
  EXPECT_FALSE(begins_as_camvid(map('a')));
  EXPECT_FALSE(begins_as_camvid(""));
}

}  // namespace
}  // namespace slimbayes
