#include "slimbayes/encoding/windows/window_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"
#include "tests/encoding/windows/window_tables.h"

namespace slimbayes {
namespace {

TEST(WindowEncoder, KnowsTheHourWhereTheRowsSpanADay) {
  const Table table = hourly(24 * 3);
  const WindowOptions how = windows_of(5);
  const Windows windows = find_windows(table, how);
  const WindowEncoder encoder =
      WindowEncoder::fit(window_table_of(table, windows, all_of(windows)), encoding());
  EXPECT_EQ(encoder.schema().features,
            (std::vector<std::string>{"x", "y (past)", "sine of the hour of the day",
                                      "cosine of the hour of the day"}));
  const WindowTable every = window_table_of(table, windows, all_of(windows));
  const WindowRows encoded = encoder.encode(every);
  EXPECT_EQ(encoded.rows.size(), 72u * 4);
  EXPECT_EQ(encoded.last.front(), 4);
  EXPECT_NEAR(inputs_of_window(encoder, encoded, 0)[4 * 4 + 2], std::sin(2 * M_PI * 4 / 24), 1e-6);
  EXPECT_NEAR(inputs_of_window(encoder, encoded, 0)[4 * 4 + 3], std::cos(2 * M_PI * 4 / 24), 1e-6);
  const WindowEncoder again = WindowEncoder::from_json(encoder.to_json());
  EXPECT_EQ(again.to_json(), encoder.to_json());
  EXPECT_EQ(again.encode(every).rows, encoded.rows);
  EXPECT_EQ(again.schema().features, encoder.schema().features);
  EXPECT_TRUE(again.reading().kinds.contains("y"));
}

TEST(WindowEncoder, NamesTheWindowsThatHoldABadRow) {
  const Table table = hourly(30);
  const WindowOptions how = windows_of(4);
  const Windows windows = find_windows(table, how);
  const WindowEncoder encoder =
      WindowEncoder::fit(window_table_of(table, windows, all_of(windows)), encoding());
  Table far = table;
  far.columns[1].values[10] = 1e200;
  std::vector<BadRow> bad;
  encoder.encode(window_table_of(far, windows, {5, 7, 10, 11}), &bad);
  ASSERT_EQ(bad.size(), 2u);  // only the windows 7 to 10 see row 10
  EXPECT_EQ(bad[0].row, 1);
  EXPECT_EQ(bad[1].row, 2);
  expect_has(bad[0].reason, "in data row 11: ");
  EXPECT_THROW(encoder.encode(window_table_of(far, windows, {7})), DataError);
  EXPECT_NO_THROW(
      encoder.encode(window_table_of(far, windows, {5, 11})));  // these windows do not see the row
}

TEST(WindowEncoder, RefusesWindowsThatWereFoundWithOtherOptions) {
  const Table table = hourly(60);
  const WindowOptions how = windows_of(4);
  const Windows windows = find_windows(table, how), wider = find_windows(table, windows_of(8)),
                later = find_windows(table, windows_of(4, 2));
  const WindowEncoder encoder =
      WindowEncoder::fit(window_table_of(table, windows, {0, 1, 2, 3, 4}), encoding());
  for (const Windows& foreign : {wider, later}) {
    EXPECT_THROW(encoder.encode(window_table_of(table, foreign, {0})), std::invalid_argument);
  }
  EXPECT_NO_THROW(encoder.encode(window_table_of(table, windows, {0})));
}

}  // namespace
}  // namespace slimbayes
