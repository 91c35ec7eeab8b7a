#include "slimbayes/core/linear_statistics.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

LinearRows rows(int64_t n, int64_t r, bool d, uint64_t seed = 1) {
  Stream s(seed);
  return {s.split("phi").normal({n, r}), 3 + s.split("y").normal({n}),
          d ? 0.5 + s.split("d").uniform({n}) : at::Tensor()};
}

LinearRows rows_between(const LinearRows& all, int64_t from, int64_t to) {
  return {all.features.slice(0, from, to), all.y.slice(0, from, to),
          all.d.defined() ? all.d.slice(0, from, to) : all.d};
}

void expect_equal(const LinearStatistics& a, const LinearStatistics& b, double tolerance) {
  auto near = [&](const at::Tensor& x, const at::Tensor& y) {
    EXPECT_LE((x - y).norm().item<double>(), tolerance * (1 + y.norm().item<double>()));
  };
  near(a.S, b.S);
  near(a.c, b.c);
  near(a.ones_phi, b.ones_phi);
  for (auto field : {&LinearStatistics::yy, &LinearStatistics::ones_y, &LinearStatistics::ones_ones,
                     &LinearStatistics::log_det_d, &LinearStatistics::y_shift})
    EXPECT_NEAR(a.*field, b.*field, tolerance * (1 + std::abs(b.*field)));
  EXPECT_EQ(a.n, b.n);
}

TEST(LinearStatistics, AreTheDocumentedProducts) {
  LinearRows all = rows(30, 4, true);
  LinearStatistics s = added(linear_statistics(4, 2.5), all);
  at::Tensor w = all.d.reciprocal(), y = all.y - 2.5, weighted = all.features * w.unsqueeze(1);
  expect_equal(s,
               {.S = at::mm(weighted.t(), all.features),
                .c = at::mv(weighted.t(), y),
                .ones_phi = weighted.sum(0),
                .yy = (w * y * y).sum().item<double>(),
                .ones_y = (w * y).sum().item<double>(),
                .ones_ones = w.sum().item<double>(),
                .log_det_d = all.d.log().sum().item<double>(),
                .n = 30,
                .y_shift = 2.5},
               1e-14);
}

TEST(LinearStatistics, SeventeenUnequalBatchesEqualOne) {
  for (bool d : {false, true}) {
    LinearRows all = rows(500, 6, d);
    LinearStatistics batches = linear_statistics(6, 3), shard[2] = {batches, linear_statistics(6, -1)};
    int64_t from = 0;
    for (int64_t i = 1; i <= 17; ++i) {  // batches of 1, 4, 7, ... rows; the last has the rest
      int64_t to = i == 17 ? 500 : std::min<int64_t>(500, from + 3 * i - 2);
      batches = added(batches, rows_between(all, from, to));
      shard[i % 2] = added(shard[i % 2], rows_between(all, from, to));
      from = to;
    }
    LinearStatistics once = added(linear_statistics(6, 3), all);
    expect_equal(batches, once, 1e-12);
    expect_equal(merged(shard[0], shard[1]), once, 1e-10);  // each shard has its own y_shift
  }
}

TEST(LinearStatistics, AddThenRemoveReturnsToTheStart) {
  LinearStatistics start = added(linear_statistics(5, 3), rows(40, 5, true));
  LinearRows more = rows(25, 5, true, 2);
  expect_equal(removed(added(start, more), more), start, 1e-12);
  expect_equal(removed(added(linear_statistics(5), more), more), linear_statistics(5), 1e-12);
}

TEST(LinearStatistics, ShiftedEqualsAccumulatingAboutTheOtherShift) {
  LinearRows all = rows(40, 5, true);
  expect_equal(shifted(added(linear_statistics(5, 1), all), 4), added(linear_statistics(5, 4), all), 1e-12);
}

TEST(LinearStatistics, ConvertBeforeTheProductsAndFollowNoGradient) {
  LinearRows all = rows(1000, 3, false);
  LinearRows single{all.features.to(at::kFloat).requires_grad_(true), all.y.to(at::kFloat), {}};
  LinearRows twice{single.features.to(at::kDouble), single.y.to(at::kDouble), {}};
  LinearStatistics s = added(linear_statistics(3), single);
  expect_equal(s, added(linear_statistics(3), twice), 1e-14);
  EXPECT_FALSE(s.S.requires_grad());
  EXPECT_EQ(s.S.scalar_type(), at::kDouble);
}

TEST(LinearStatistics, EmptyBatchesChangeNothing) {
  LinearStatistics s = added(linear_statistics(3), rows(10, 3, true));
  expect_equal(added(s, rows(0, 3, true)), s, 0);
}

TEST(LinearStatistics, BadRowsAreRefused) {
  LinearStatistics s = linear_statistics(3);
  LinearRows good = rows(4, 3, true);
  EXPECT_THROW(added(s, {good.features.slice(1, 0, 2), good.y, {}}), std::invalid_argument);
  EXPECT_THROW(added(s, {good.features, good.y.slice(0, 1), {}}), std::invalid_argument);
  EXPECT_THROW(added(s, {good.features * std::nan(""), good.y, {}}), std::invalid_argument);
  EXPECT_THROW(added(s, {good.features, good.y * HUGE_VAL, {}}), std::invalid_argument);
  EXPECT_THROW(added(s, {good.features, good.y, good.d - 10}), std::invalid_argument);
  EXPECT_THROW(added(s, {good.features, good.y, good.d * std::nan("")}), std::invalid_argument);
  EXPECT_THROW(removed(s, good), std::invalid_argument);
  EXPECT_THROW(merged(s, linear_statistics(4)), std::invalid_argument);
  EXPECT_THROW(linear_statistics(0), std::invalid_argument);
}

TEST(LinearStatistics, ScaledCountsEachRowSeveralTimes) {
  const Stream stream(4);
  const LinearRows rows{stream.split("phi").normal({5, 3}), stream.split("y").normal({5}), {}};
  const LinearStatistics once = added(linear_statistics(3, 0.2), rows);
  LinearStatistics thrice = once;
  for (int i = 0; i < 2; ++i) thrice = merged(thrice, once);
  expect_equal(scaled(once, 3, 15), thrice, 1e-12);
  EXPECT_THROW(scaled(once, 0, 15), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
