#include "slimbayes/encoding/domain.h"

#include "tests/data/tables.h"

namespace slimbayes {
namespace {

TEST(Domain, IsParsedOrRefusedWithASentence) {
  std::vector<Axis> axes = parse_domain("0:1, -2.5:3e1");
  ASSERT_EQ(axes.size(), 2u);
  EXPECT_EQ(axes[1].low, -2.5);
  EXPECT_EQ(axes[1].high, 30);
  EXPECT_DOUBLE_EQ(volume(axes), 32.5);
  for (const char* bad : {"", "0", "0:1,", "1:0", "0:0", "a:b", "0:inf", "0:1:2"}) {
    expect_has(error_of([&] { parse_domain(bad); }),
               "[domain] expected an axis LOW:HIGH for each coordinate");
  }
}

}  // namespace
}  // namespace slimbayes
