#include "slimbayes/data/examples.h"

#include "slimbayes/encoding/encoder.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

TEST(bad_examples_text, NamesTheRowsAndSaysOnceWhatTheirReasonsShare) {
  Table t = table_of({numbers("x", {3e6, 1e7, -1e200, 1}), numbers("y", {1, 2, 3, 4})});
  t.numbers = {10, 20, 30, 40};
  const Encoder e =
      Encoder::fit(table_of({numbers("x", {-1, 1, 3}), numbers("y", {1, 2, 3})}), {0, 1, 2}, {"y"});
  std::vector<BadRow> bad;
  std::vector<float> x(4);
  e.inputs(t, x, &bad);
  ASSERT_EQ(bad.size(), 3u);
  expect_has(bad_examples_text(t, bad, "left out"),
             "3 of 4 rows without an answer, left out: data row 11: expected");
  const std::string told = bad_examples_text(t, bad, "left out");
  expect_has(told, "; data row 21: ");
  const std::string advice = "beyond that an answer is rounding error";  // the same for all: said once
  EXPECT_EQ(told.find(advice), told.rfind(advice));
  EXPECT_TRUE(told.ends_with("leave it empty where the value is not known"));
  expect_has(bad_examples_text(t, {bad[0]}, "left out"),
             "without an answer, left out: data row 11: " + bad[0].reason);
  // What only some reasons share stays with them.
  const std::vector<BadRow> others = {
      {0, "a; received 7; b"}, {1, "c; received 7; b"}, {2, "d; received 7; e"}};
  EXPECT_TRUE(bad_examples_text(t, others, "left out").ends_with("data row 31: d; received 7; e"));
  EXPECT_TRUE(
      bad_examples_text(t, {others[0], others[1]}, "left out").ends_with("data row 21: c; received 7; b"));
}

}  // namespace
}  // namespace slimbayes
