#include "slimbayes/data/synthetic_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

Table empty_table(const std::string& name, std::initializer_list<const char*> columns) {
  Table table{"generated:" + name, {}, 0};
  for (const char* column : columns) table.columns.push_back({column, ColumnKind::numeric, {}, {}});
  return table;
}

void add_row(Table& table, std::initializer_list<double> values) {
  auto column = table.columns.begin();
  for (double value : values) (column++)->values.push_back(value);
  ++table.rows;
}

}  // namespace

int64_t poisson_draw(double mean, const Stream& stream, uint64_t i) {
  if (!(mean >= 0 && mean <= 1e9)) refuse("poisson_draw", "a mean from 0 to 1e9", fmt::format("{}", mean));
  Stream gaps = stream.split(i);
  int64_t count = -1;
  for (double sum = 0; sum <= mean; ++count) sum -= std::log(gaps.uniform(static_cast<uint64_t>(count + 1)));
  return count;
}

Table generate_counts(int64_t rows, const Stream& stream) {
  if (!(rows > 0)) refuse("generate", "at least one row", std::to_string(rows));
  Table table = empty_table("counts", {"x", "y", "true_mean", "true_sd"});
  Stream inputs = stream.split("inputs"), noise = stream.split("noise");
  for (uint64_t i = 0; i < static_cast<uint64_t>(rows); ++i) {
    double x = 2 * inputs.uniform(i) - 1, mean = std::exp(1.5 + std::sin(6 * x));
    add_row(table, {x, static_cast<double>(poisson_draw(mean, noise, i)), mean, std::sqrt(mean)});
  }
  return table;
}

Table generate_cox(int64_t rows, const Stream& stream) {
  if (!(rows > 0)) refuse("generate", "at least one event expected", std::to_string(rows));
  constexpr double kSwing = 0.9, kVolume = 2;
  double base = static_cast<double>(rows) / kVolume;
  Table table = empty_table("cox", {"x1", "x2", "true_intensity"});
  Stream places = stream.split("places"), kept = stream.split("kept"), number = stream.split("number");
  // Repeats the draw until there is at least one event, as a table without rows cannot be fitted.
  for (uint64_t attempt = 0; table.rows == 0; ++attempt) {
    int64_t candidates = poisson_draw(base * (1 + kSwing) * kVolume, number, attempt);
    Stream place = places.split(attempt), keep = kept.split(attempt);
    for (uint64_t i = 0; i < static_cast<uint64_t>(candidates); ++i) {
      double x1 = place.uniform(2 * i), x2 = 2 * place.uniform(2 * i + 1);
      double wave = kSwing * std::sin(2 * std::numbers::pi * x1) * std::cos(std::numbers::pi * x2);
      if (keep.uniform(i) * (1 + kSwing) < 1 + wave) add_row(table, {x1, x2, base * (1 + wave)});
    }
  }
  return table;
}

}  // namespace slimbayes
