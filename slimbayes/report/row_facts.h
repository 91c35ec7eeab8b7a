#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/catalog/fields.h"

namespace slimbayes {

// What a report says of columns, single rows and foreign rows: structs of catalog/fields.h.

/// How much a model's answers depend on one input column: permutation importance (Breiman 2001; Fisher, Rudin
/// and Dominici 2019). The cells of the column are permuted among the examples, so that they say nothing.
struct ColumnImportance {
  std::string column = {};
  double error = 0;   // rise of the RMSE of the mean (numbers, counts) or of the NLL (classes)
  double spread = 0;  // mean absolute change of log sd (numbers, counts) or of the entropy (classes)
  /// How much the parts of the answer change (GroupImportance); empty where a part is 0 in all rows.
  std::optional<double> mean = {}, aleatoric = {}, epistemic = {}, width = {};
};

template <class V>
void describe(ColumnImportance& f, V& v) {
  v("column", f.column, "name of the column");
  v("error", f.error, "rise of the RMSE of the mean, or of classes of the NLL in nats");
  v("spread", f.spread, "mean absolute change of log sd, or of classes of the entropy in nats");
  v("mean", f.mean,
    "mean squared change of the mean over its variance between the rows; of classes of the probabilities");
  v("aleatoric", f.aleatoric,
    "mean absolute change of the aleatoric sd over its mean; of classes of the expected entropy");
  v("epistemic", f.epistemic,
    "mean absolute change of the epistemic sd over its mean; of classes of the mutual information");
  v("width", f.width, "mean absolute change of the interval's width over its mean; of numbers and counts");
}

struct ImportanceFact {
  int64_t rows = 0;
  std::vector<ColumnImportance> columns;
  std::string error, spread, says;
};

template <class V>
void describe(ImportanceFact& f, V& v) {
  v("rows", f.rows, "number of rows that were shuffled");
  v("columns", f.columns, "the input columns, the largest rise of the error first");
  v("error", f.error, "what `error` of a column is");
  v("spread", f.spread, "what `spread` of a column is");
  v("says", f.says, "the column that the answers depend on most");
}

/// Standardised residuals of single rows against a column.
struct ResidualPoints {
  std::vector<double> x, z;
};

template <class V>
void describe(ResidualPoints& f, V& v) {
  v("x", f.x, "cells of the column");
  v("z", f.z, "(y - mean) / sd of the same rows");
}

/// The standardised residuals of a group of rows.
struct ResidualPart {
  size_t rows = 0;
  double mean = 0, sd = 0;
  std::optional<double> x = {};
  std::optional<std::string> level = {};
};

template <class V>
void describe(ResidualPart& f, V& v) {
  v("rows", f.rows, "number of rows");
  v("mean", f.mean, "mean of (y - mean) / sd");
  v("sd", f.sd, "sd of (y - mean) / sd");
  v("x", f.x, "mean of the column in this group; of numbers and times");
  v("level", f.level, "level of the column; of categories");
}

/// How the standardised residuals depend on one column.
struct ResidualFact {
  std::string column = {}, kind = {};
  std::optional<ResidualPoints> points = {};
  std::vector<ResidualPart> parts = {};
  std::string says = {};
};

template <class V>
void describe(ResidualFact& f, V& v) {
  v("column", f.column, "name of the column");
  v("kind", f.kind, "kind of the column, such as numeric");
  v("points", f.points, "residuals of at most 500 rows; absent for categories");
  v("parts", f.parts, "about ten groups of equal size, ascending; of categories the 12 most frequent levels");
  v("says", f.says, "the group whose mean is least probable by chance");
}

/// The numeric cell of a row that lies farthest from the training mean.
struct UnusualCell {
  std::string column, value;
  double sds = 0;
};

template <class V>
void describe(UnusualCell& f, V& v) {
  v("column", f.column, "name of the column");
  v("value", f.value, "the cell");
  v("sds", f.sds, "training sds from the training mean");
}

/// What a surprising row has if its target is a number or a count.
struct SurprisingNumber {
  double mean = 0, sd = 0, z = 0, lower = 0, upper = 0;
};

template <class V>
void describe(SurprisingNumber& f, V& v) {
  v("mean", f.mean, "mean of the answer, in the target's units");
  v("sd", f.sd, "sd of the answer, in the target's units");
  v("z", f.z, "(target - mean) / sd");
  v("lower", f.lower, "lower end of the interval");
  v("upper", f.upper, "upper end of the interval");
}

/// What a surprising row has if its target is a class.
struct SurprisingClass {
  std::string answer;
  double probability = 0;
};

template <class V>
void describe(SurprisingClass& f, V& v) {
  v("answer", f.answer, "the most probable class");
  v("probability", f.probability, "the probability of the most probable class");
}

struct SurprisingRow {
  int64_t row = 0;
  double tail = 0;
  std::variant<double, std::string> target = 0.0;  // a number or a class
  std::optional<SurprisingNumber> number = {};
  std::optional<SurprisingClass> of_class = {};
  std::optional<UnusualCell> unusual = {};
};

template <class V>
void describe(SurprisingRow& f, V& v) {
  v("row", f.row, "number of the row in its file, from 1");
  v("tail", f.tail,
    "predicted probability of a target at least as far out; of classes the probability of the true class");
  v("target", f.target, "the target: a number or the name of a class");
  v.part(f.number);
  v.part(f.of_class);
  v("unusual", f.unusual, "the numeric cell farthest from the training mean; absent without such columns");
}

struct SurprisingFact {
  std::vector<SurprisingRow> rows;
  std::string says;
};

template <class V>
void describe(SurprisingFact& f, V& v) {
  v("rows", f.rows, "at most ten rows, the least probable target first");
  v("says", f.says, "how improbable the first of them is");
}

/// The histogram of a score of foreign rows.
struct ScoreHistogram {
  std::vector<double> edges, rows;
  int64_t beyond = 0;
  std::optional<std::vector<double>> outside = {};
};

template <class V>
void describe(ScoreHistogram& f, V& v) {
  v("edges", f.edges, "edges of equal bins from the least value to the 99.5 % quantile");
  v("rows", f.rows, "number of rows in each bin");
  v("beyond", f.beyond, "number of rows above the last edge");
  v("outside", f.outside, "rows of each bin outside the training range; absent where it is unknown");
}

struct OutsideColumn {
  std::string column;
  int64_t rows = 0;
  double farthest = 0;
};

template <class V>
void describe(OutsideColumn& f, V& v) {
  v("column", f.column, "name of the column");
  v("rows", f.rows, "number of rows outside the training range of the column");
  v("farthest", f.farthest, "how far the farthest row lies beyond the range, in half-ranges");
}

struct OutsideFact {
  int64_t rows = 0;
  std::vector<OutsideColumn> columns = {};
};

template <class V>
void describe(OutsideFact& f, V& v) {
  v("rows", f.rows, "number of rows outside the training range of some column");
  v("columns", f.columns, "the columns that are left most");
}

/// The tenth of the rows with the largest distance from the training data, against the others.
struct FarFact {
  int64_t rows = 0;
  double error = 0, sd = 0;
};

template <class V>
void describe(FarFact& f, V& v) {
  v("rows", f.rows, "number of these rows");
  v("error", f.error, "quotient of the RMSEs, or of classes of the rates of wrong answers");
  v("sd", f.sd, "quotient of the mean sds, or of classes of the mean entropies");
}

struct ForeignFact {
  std::map<std::string, ScoreHistogram> scores;
  std::optional<OutsideFact> outside;
  std::optional<FarFact> far;
  std::string says;
};

template <class V>
void describe(ForeignFact& f, V& v) {
  v("scores", f.scores, "histograms of `distance` and of the score that the method has for foreign rows");
  v("outside", f.outside, "rows outside the training range; absent where it is unknown");
  v("far", f.far, "the tenth of the rows farthest from the training data; absent with fewer than 50 rows");
  v("says", f.says, "how far the rows lie from the training data, and what that costs");
}

/// The last forecasts of one series beside what happened.
struct SeriesFact {
  std::string name = {};
  std::vector<double> time = {}, actual = {}, mean = {}, lower = {}, upper = {};
  double inside = 0;
};

template <class V>
void describe(SeriesFact& f, V& v) {
  v("name", f.name, "cells of the group columns, or empty");
  v("time", f.time, "time of each of the last 300 forecasts");
  v("actual", f.actual, "targets");
  v("mean", f.mean, "means of the forecasts");
  v("lower", f.lower, "lower ends of the intervals");
  v("upper", f.upper, "upper ends of the intervals");
  v("inside", f.inside, "share of these targets in their interval");
}

struct ForecastFact {
  bool calendar = false;
  double step = 0;
  int64_t horizon = 0;
  std::vector<SeriesFact> series;
  size_t all_series = 0;
  std::string says;
};

template <class V>
void describe(ForecastFact& f, V& v) {
  v("calendar", f.calendar, "whether times are seconds since 1970");
  v("step", f.step, "time from one row to the next");
  v("horizon", f.horizon, "rows from the last row seen to the row that is predicted");
  v("series", f.series, "at most 4 series, those with most windows first");
  v("all_series", f.all_series, "number of series in the data");
  v("says", f.says, "how many of the forecasts shown lie in their interval");
}

}  // namespace slimbayes
