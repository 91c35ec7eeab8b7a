#include "slimbayes/data/rows/wild_cells.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

using Law = std::function<double(const Stream&, uint64_t)>;

std::vector<double> cells_of(const Law& law, size_t n, uint64_t seed) {
  std::vector<double> cells;
  for (size_t i = 0; i < n; ++i) cells.push_back(law(Stream(seed), i));
  return cells;
}

double normal(const Stream& s, uint64_t i) { return 50 + 10 * s.normal(i); }

TEST(wild_cells, FindsCellsOfEverySizeOnEitherSide) {
  for (const size_t n : {20, 100, 300, 5000})
    for (double sds = n == 20 ? 1e11 : 1e3; sds < 2e15; sds *= 100)
      for (const double sign : {1.0, -1.0}) {
        std::vector<double> cells = cells_of(normal, n, 1);
        cells[7] = 50 + sign * 10 * sds;
        EXPECT_EQ(wild_cells(cells, 10), std::vector<int64_t>{7}) << n << ' ' << sign * sds;
      }
}

TEST(wild_cells, SeveralDoNotHideEachOther) {
  std::vector<double> cells = cells_of(normal, 300, 1);
  cells[3] = 1e6;
  cells[10] = 1e15;
  cells[20] = 1.1e6;
  cells[40] = -1e7;
  cells[41] = -1e308;
  EXPECT_EQ(wild_cells(cells, 10), (std::vector<int64_t>{3, 10, 20, 40, 41}));
}

TEST(wild_cells, ATailOfTheColumnsOwnIsNotWild) {
  const std::vector<std::pair<const char*, Law>> laws = {
      {"normal", normal},
      {"uniform", [](const Stream& s, uint64_t i) { return s.uniform(i); }},
      {"log-normal, sd 1", [](const Stream& s, uint64_t i) { return std::exp(s.normal(i)); }},
      {"log-normal, sd 4", [](const Stream& s, uint64_t i) { return std::exp(4 * s.normal(i)); }},
      {"Pareto, 1/2", [](const Stream& s, uint64_t i) { return std::pow(s.uniform(i), -2.0); }},
      {"grades", [](const Stream& s, uint64_t i) { return std::round(6 + 0.8 * s.normal(i)); }},
      {"90 % zeros, else log-normal",
       [](const Stream& s, uint64_t i) {
         return s.split("zero").uniform(i) < 0.9 ? 0 : std::exp(2 * s.normal(i));
       }},
      {"99 % zeros", [](const Stream& s, uint64_t i) { return s.uniform(i) < 0.99 ? 0 : 1e6; }}};
  for (const auto& [name, law] : laws)
    for (const size_t n : {5, 20, 300, 3000})
      for (uint64_t seed = 0; seed < 20; ++seed)
        EXPECT_TRUE(wild_cells(cells_of(law, n, seed), 10).empty()) << name << ' ' << n << ' ' << seed;
}

TEST(wild_cells, ACauchyColumnHasAtMostOneInAHundredTimes) {
  int found = 0;
  for (uint64_t seed = 0; seed < 200; ++seed)
    found +=
        !wild_cells(
             cells_of([](const Stream& s, uint64_t i) { return std::tan(3.14159265 * (s.uniform(i) - 0.5)); },
                      300, seed),
             10)
             .empty();
  EXPECT_LE(found, 4);
}

TEST(wild_cells, MoreThanTwoPerCentAreNoExceptions) {
  std::vector<double> cells = cells_of(normal, 300, 1);
  for (size_t i = 0; i < 6; ++i) cells[i] = 1e6 + static_cast<double>(i);
  EXPECT_EQ(wild_cells(cells, 10).size(), 6u);
  cells[6] = 1e6;
  EXPECT_TRUE(wild_cells(cells, 10).empty());
}

TEST(wild_cells, ConstantsMissingCellsAndFewRows) {
  EXPECT_TRUE(wild_cells({}, 10).empty());
  EXPECT_TRUE(wild_cells({1}, 10).empty());
  EXPECT_TRUE(wild_cells({1, 2, 1e9}, 10).empty());
  EXPECT_TRUE(wild_cells(std::vector<double>(50, 3), 10).empty());
  std::vector<double> cells(50, 3);
  cells[0] = 1e9;
  EXPECT_TRUE(wild_cells(cells, 10).empty());  // beside one number, another is no jump
  cells = cells_of(normal, 100, 1);
  cells[5] = std::nan("");
  cells[6] = 1e9;
  EXPECT_EQ(wild_cells(cells, 10), std::vector<int64_t>{6});
  cells[6] = 1000;  // less than 100 times as far as the others
  EXPECT_TRUE(wild_cells(cells, 100).empty());
}

}  // namespace
}  // namespace slimbayes
