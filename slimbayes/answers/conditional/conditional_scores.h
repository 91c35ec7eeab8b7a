#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/answers/metrics.h"
#include "slimbayes/catalog/fields.h"

namespace slimbayes {

// What `evaluate` says of the coverage in parts of the rows: structs of catalog/fields.h. Those of the
// coverage by width and of the excess risk are in answers/metrics.h. Intervals that hold their level on
// average may miss it for some rows: too narrow for a group, or where they are narrow.

/// The scores of a group of rows. With weights, means, shares and ranges are by them; `rows` counts rows.
struct GroupScores {
  std::string name = {};
  int64_t rows = 0;
  std::optional<double> coverage = {};
  std::optional<std::pair<double, double>> coverage_range = {};
  std::optional<double> width = {}, set_size = {};
  double nll = 0;
  std::optional<double> rmse = {}, accuracy = {};
};

template <class V>
void describe(GroupScores& f, V& v) {
  v("name", f.name, "the value of the column, the bin of its numbers, or (missing)");
  v("rows", f.rows, "number of rows");
  v("coverage", f.coverage, "share of the targets inside their intervals, or of the classes in their sets");
  v("coverage_range", f.coverage_range,
    "least and largest true coverage that explain this share: the binomial 95 % range of Wilson");
  v("width", f.width, "mean width of the intervals; of numbers and counts");
  v("set_size", f.set_size, "mean number of classes in a set; of a calibrated model");
  v("nll", f.nll, "negative log likelihood, in nats a row");
  v("rmse", f.rmse, "root mean squared error of the mean; of numbers and counts");
  v("accuracy", f.accuracy, "share of the rows whose most probable class is the true one; of classes");
}

/// The scores of the rows by a column.
struct GroupedScores {
  std::string column = {};
  std::vector<GroupScores> groups = {};
  std::optional<GroupScores> few = {};
  int64_t few_groups = 0;
};

template <class V>
void describe(GroupedScores& f, V& v) {
  v("column", f.column, "name of the column");
  v("groups", f.groups, "the groups of at least 10 rows");
  v("few", f.few, "the rows of all groups of fewer than 10 rows together; if there are any");
  v("few_groups", f.few_groups, "number of these groups");
}

}  // namespace slimbayes
