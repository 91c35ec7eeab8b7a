#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/catalog/fields.h"

namespace slimbayes {

// What `explain` says of a model: structs of catalog/fields.h.

/// A number that was computed once for each permutation.
struct Repeated {
  double value = 0;               // mean over the permutations
  std::optional<double> se = {};  // standard error of this mean; absent for one permutation
};

template <class V>
void describe(Repeated& f, V& v) {
  v("value", f.value, "mean over the permutations");
  v("se", f.se, "standard error of the mean; absent for one permutation");
}

/// How much the answers of a model depend on input columns: permutation importance (Breiman 2001; Fisher,
/// Rudin and Dominici 2019), of the error and of the parts of the answer. A number is absent where it is not
/// defined: errors without targets, a relative change of a part that is 0 in all rows.
struct GroupImportance {
  std::string group = {};
  std::vector<std::string> columns = {};
  std::optional<Repeated> nll = {}, rmse = {}, accuracy = {};
  std::optional<Repeated> mean = {}, aleatoric = {}, epistemic = {}, width = {}, spread = {};
};

template <class V>
void describe(GroupImportance& f, V& v) {
  v("group", f.group, "names of the columns, joined by +");
  v("columns", f.columns, "the columns that are permuted together");
  v("nll", f.nll, "rise of the NLL in nats; absent without targets");
  v("rmse", f.rmse, "rise of the RMSE of the mean; of numbers and counts");
  v("accuracy", f.accuracy, "fall of the accuracy; of classes");
  v("mean", f.mean,
    "mean squared change of the mean over its variance between the rows; of classes of the probabilities");
  v("aleatoric", f.aleatoric,
    "mean absolute change of the aleatoric sd over its mean; of classes of the expected entropy");
  v("epistemic", f.epistemic,
    "mean absolute change of the epistemic sd over its mean; of classes of the mutual information");
  v("width", f.width, "mean absolute change of the interval's width over its mean; of numbers and counts");
  v("spread", f.spread, "mean absolute change of log sd; of classes of the entropy in nats");
}

/// The mean answer to numbers or counts, at a value of a column.
struct PartialNumbers {
  double mean = 0, sd_aleatoric = 0, sd_epistemic = 0, width = 0;
};

template <class V>
void describe(PartialNumbers& f, V& v) {
  v("mean", f.mean, "mean over the rows of the answers' means");
  v("sd_aleatoric", f.sd_aleatoric, "root of the mean aleatoric variance");
  v("sd_epistemic", f.sd_epistemic, "root of the mean epistemic variance");
  v("width", f.width, "mean width of the intervals");
}

/// The mean answer to classes, at a value of a column.
struct PartialClasses {
  std::map<std::string, double> probabilities;
  double entropy = 0, mutual_information = 0;
};

template <class V>
void describe(PartialClasses& f, V& v) {
  v("probabilities", f.probabilities, "mean probability of each class");
  v("entropy", f.entropy, "mean entropy of the answers, in nats");
  v("mutual_information", f.mutual_information, "mean mutual information, in nats");
}

/// The mean answer over the rows if a column has this value in all of them.
struct PartialPoint {
  std::variant<double, std::string> value = 0.0;
  int64_t rows = 0;
  std::optional<PartialNumbers> numbers = {};
  std::optional<PartialClasses> classes = {};
};

template <class V>
void describe(PartialPoint& f, V& v) {
  v("value", f.value, "value of the column: a number, or the text of a category, a boolean or a time");
  v("rows", f.rows, "number of rows with an answer");
  v.part(f.numbers);
  v.part(f.classes);
}

/// The partial dependence of the answers on a column (Friedman 2001).
struct PartialDependence {
  std::string column = {}, kind = {};
  std::vector<PartialPoint> points = {};
  std::vector<std::string> notes = {};
};

template <class V>
void describe(PartialDependence& f, V& v) {
  v("column", f.column, "name of the column");
  v("kind", f.kind, "kind of the column, such as numeric");
  v("points", f.points, "values of the column: of numbers ascending, of categories the most frequent first");
  v("notes", f.notes, "sentences on combinations that the data do not have");
}

struct ExplainReport {
  std::string method = {};
  int64_t rows = 0, repeats = 0;
  double level = 0.95;
  bool targets = false;
  std::vector<GroupImportance> importance = {};
  std::optional<std::vector<PartialDependence>> partial_dependence = {};
  std::vector<std::string> notes = {};
};

template <class V>
void describe(ExplainReport& f, V& v) {
  v("method", f.method, "method of the model");
  v("rows", f.rows, "number of rows or windows that were permuted");
  v("repeats", f.repeats, "number of permutations of each group");
  v("level", f.level, "level of the intervals");
  v("targets", f.targets, "whether the data have targets, without which there are no errors");
  v("importance", f.importance, "importance of each group of columns, the largest first");
  v("partial_dependence", f.partial_dependence, "of each column that was asked for; absent without one");
  v("notes", f.notes, "sentences on the data and the numbers");
}

}  // namespace slimbayes
