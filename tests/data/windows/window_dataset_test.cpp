#include "slimbayes/data/windows/window_dataset.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <numbers>

#include "slimbayes/encoding/windows/calendar.h"
#include "slimbayes/storage/error.h"
#include "tests/encoding/windows/window_tables.h"

namespace slimbayes {
namespace {

TEST(window_dataset, HasTheRowsOfItsWindowsAndTheirTargets) {
  const Table table = hourly(10);
  const Windows windows = find_windows(table, windows_of(4, 2));
  const WindowTable given = window_table_of(table, windows, all_of(windows));
  const WindowEncoder encoder = WindowEncoder::fit(given, encoding());
  const WindowRows encoded = encoder.encode(given);
  const Dataset data = window_dataset(encoder, given, true);
  EXPECT_EQ(data.size(), 5);
  const Batch batch = data.source->rows(at::tensor(std::vector<int64_t>{4, 0}), {});
  EXPECT_EQ(batch.inputs[0].sizes(), at::IntArrayRef({2, 4, 2}));  // features: x and the target's past
  for (const auto& [place, window] : {std::pair<int64_t, size_t>{0, 4}, {1, 0}})
    EXPECT_TRUE(at::equal(batch.inputs[0][place].reshape({-1}),
                          at::tensor(inputs_of_window(encoder, encoded, window))));
  EXPECT_NEAR(decoded_target(encoder.schema().task, batch.target[0].item<double>()), 90, 1e-9);
  EXPECT_FALSE(window_dataset(encoder, given, false).all().target.defined());
}

TEST(window_dataset, ListsBadWindowsOrThrows) {
  const Table table = hourly(30);
  const Windows windows = find_windows(table, windows_of(4));
  const WindowEncoder encoder =
      WindowEncoder::fit(window_table_of(table, windows, all_of(windows)), encoding());
  Table far = table;
  far.columns[1].values[10] = 1e200;
  std::vector<BadRow> bad;
  EXPECT_EQ(window_dataset(encoder, window_table_of(far, windows, {5, 7}), false, &bad).size(), 2);
  ASSERT_EQ(bad.size(), 1u);
  EXPECT_EQ(bad[0].row, 1);
  EXPECT_THROW(window_dataset(encoder, window_table_of(far, windows, {7}), false), DataError);
}

// The features of a model that was fitted with vectorised sines (libtorch) are the same float32.
TEST(calendar_features, AreThoseOfTheTensorLibrary) {
  const std::vector<double> periods = {86400, 7 * 86400.0, 365.2425 * 86400};
  const int64_t hours = 50000;
  const at::Tensor time = 1.6e9 + 3600 * at::arange(hours, at::kDouble);
  std::vector<float> own(static_cast<size_t>(hours) * 6);
  for (int64_t i = 0; i < hours; ++i)
    calendar_features(1.6e9 + 3600 * static_cast<double>(i), periods,
                      std::span(own).subspan(static_cast<size_t>(i) * 6, 6));
  const at::Tensor mine = at::tensor(own).view({hours, 6});
  for (int64_t k = 0; k < 3; ++k) {
    const at::Tensor angle = time * (2 * std::numbers::pi / periods[static_cast<size_t>(k)]);
    EXPECT_TRUE(at::equal(mine.select(1, 2 * k), angle.sin().to(at::kFloat)));
    EXPECT_TRUE(at::equal(mine.select(1, 2 * k + 1), angle.cos().to(at::kFloat)));
  }
}

}  // namespace
}  // namespace slimbayes
