#include "slimbayes/encoding/outside.h"

#include "tests/encoding/fitted_encoder.h"

namespace slimbayes {
namespace {

Column dates(std::string name, std::vector<double> values) {
  return {std::move(name), ColumnKind::datetime, std::move(values), {}};
}

Encoder fitted_encoder(const Table& table, EncoderOptions options = {"y"}) {
  return Encoder::fit(table, {0, 1, 2}, options);
}

Table training() {
  return table_of({numbers("x", {-1, 1, 3, 900}), dates("when", {0, 86400, 43200, 0}),
                   categories("c", {0, 1, 0, 0}, {"a", "b"}), numbers("y", {1, 2, 3, 4})});
}

TEST(Outside, CountsHalfRangesBeyondTheTrainingCells) {
  for (const char* scale : {"min-max", "standard"}) {
    for (const char* scale_on : {"train", "all"}) {
      const Encoder e = fitted_encoder(training(), {"y", scale, {}, scale_on});
      const Table t = table_of({numbers("x", {3, 3 + 1e-9, 7, -5, kNone, 0}),
                                dates("when", {0, 86400, 129600, 10, 5, -43200 * 9.0}),
                                categories("c", {0, 0, 0, 0, 0, 1}, {"a", "z"})});
      const auto far = outside(e, t);
      ASSERT_TRUE(far.has_value());
      EXPECT_EQ(far->beyond, (std::vector<double>{0, 0, 2, 2, 0, 9})) << scale << scale_on;
      EXPECT_EQ(far->rows, 3);
      ASSERT_EQ(far->columns.size(), 2u);
      EXPECT_EQ(far->columns[0].name, "when");
      EXPECT_EQ(far->columns[0].rows, 2);
      EXPECT_EQ(far->columns[0].row, 5);
      EXPECT_EQ(far->columns[1].farthest, 2);
      EXPECT_EQ(outside_text(*far, t),
                "3 of 6 rows lie outside the training range: 'when' (2 rows; data row 6 lies 9 half-ranges "
                "beyond), 'x' "
                "(2 rows; data row 3 lies 2 half-ranges beyond)");
    }
  }
}

TEST(Outside, TheDistanceIsInTrainingSds) {
  const Encoder e = fitted_encoder(training(), {"y", "min-max", {"when"}});
  const double sd = std::sqrt(8.0 / 3);
  const auto far = outside(
      e, table_of({numbers("x", {1, 1 + sd, 1 - 5 * sd, kNone}), categories("c", {0, 0, 0, 0}, {"a"})}));
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(far->distance[i], (std::vector<double>{0, 1, 5, 0})[i], 1e-12);
}

TEST(Outside, IsFiniteAtTheEndsOfDoubles) {
  const Encoder e = fitted_encoder(table_of(
      {numbers("x", {-1.7e308, 1.7e308, 0}), numbers("tiny", {0, 1e-310, 2e-310}), numbers("y", {1, 2, 3})}));
  const auto far = outside(e, table_of({numbers("x", {-1.7e308, 1.79e308}), numbers("tiny", {1e308, -0.0})}));
  for (double by : {far->beyond[0], far->beyond[1], far->distance[0], far->distance[1]})
    EXPECT_TRUE(std::isfinite(by));
  EXPECT_GT(far->beyond[0], 1e300);
  EXPECT_NEAR(far->beyond[1], 0.09 / 1.7, 1e-12);
}

TEST(Outside, IsNotKnownOfCategoriesNorByOlderFiles) {
  EXPECT_FALSE(outside(fitted_encoder(training(), {"y", "min-max", {"x", "when"}}), training()).has_value());
  nlohmann::json old = fitted_encoder(training()).to_json();
  EXPECT_TRUE(outside(Encoder::from_json(old), training()).has_value());
  for (auto& column : old["columns"]) column.erase("range");
  EXPECT_FALSE(outside(Encoder::from_json(old), training()).has_value());
}

TEST(BadRows, AreListedWhereTheOthersAreEncoded) {
  const Encoder e = fitted_encoder(training());
  const Table t = table_of({numbers("x", {3e6, 1, -1e200, 1e6}), dates("when", {0, 1e12, 1e300, 5}),
                            categories("c", {0, 1, 0, 1}, {"a", "b"})});
  std::vector<BadRow> bad;
  const std::vector<float> x = inputs_of(e, t, &bad);
  ASSERT_EQ(bad.size(), 3u);
  EXPECT_EQ(rows_without(bad, 4), (std::vector<int64_t>{3}));
  ASSERT_EQ(x.size(), 16u);
  EXPECT_EQ(std::vector<float>(x.begin() + 12, x.end()), inputs_of(e, take_rows(t, {3})));
  EXPECT_TRUE(std::all_of(x.begin(), x.begin() + 12, [](float value) { return value == 0; }));
  expect_has(bad[0].reason, "column 'x'; received 3000000");
  expect_has(bad[1].reason, "column 'when'");
  expect_has(bad[2].reason, "column 'x'; received -1e+200");
  expect_has(error_of([&] { inputs_of(e, t); }), "t.csv: data row 1: " + bad[0].reason);
}

}  // namespace
}  // namespace slimbayes
