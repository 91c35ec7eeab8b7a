#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/report/scored.h"
#include "tests/data/tables.h"

namespace slimbayes {

/// Rows x, noise, colour, y: y = 2 x + noise of sd 0.5, and `noise` and `colour` say nothing.
inline Table toy_table(int64_t rows, uint64_t seed = 1) {
  const Stream stream(seed);
  Table table = table_of(
      {numbers("x", {}), numbers("noise", {}), categories("colour", {}, {"red", "blue"}), numbers("y", {})});
  table.rows = rows;
  for (int64_t i = 0; i < rows; ++i) {
    const auto k = static_cast<uint64_t>(i);
    const double x = stream.split("x").normal(k);
    table.columns[0].values.push_back(x);
    table.columns[1].values.push_back(stream.split("noise").normal(k));
    table.columns[2].values.push_back(stream.split("colour").uniform(k) < 0.3 ? 0 : 1);
    table.columns[3].values.push_back(2 * x + 0.5 * stream.split("y").normal(k));
  }
  return table;
}

/// A straight line fitted to the toy table.
inline Model toy_model(const Table& table, double test_fraction = 0) {
  FitOptions fit;
  fit.target = "y";
  fit.method = "ridge";
  fit.test_fraction = test_fraction;
  return fit_model(table, fit);
}

/// The toy table with answers of this mean and sd to targets y.
inline ScoredExamples toy_scored(const Model& model, const Table& table, const at::Tensor& mean,
                                 const at::Tensor& sd, const at::Tensor& y, double level) {
  const Regression p{mean, sd.square(), at::zeros_like(sd)};
  Answers answers{p, {}, {}, {}};
  answers.levels.push_back({level, interval(p, level)});
  ScoredExamples s{model, table, answers, y, std::make_shared<const Table>(table), {}};
  for (int64_t i = 0; i < y.size(0); ++i) {
    s.answers.rows.push_back(i);
    s.numbers.push_back(i + 1);
  }
  return s;
}

}  // namespace slimbayes
