// The weights of examples: read from the user's column, checked, and brought to the scale of a fit.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/data/fit_examples.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/target_cells.h"

namespace slimbayes {

namespace {

constexpr const char* kWeights = "weights";

/// Returns whether the options name a column of weights that the examples have.
bool have_weights(const Examples& examples, const FitOptions& options) {
  const Table* table = table_of(examples);
  return !options.weights.empty() && table != nullptr && table->find(options.weights) != nullptr;
}

/// Returns the row of the table that has the weight of each example: for windows the row that is predicted.
std::vector<int64_t> rows_with_weights(const Examples& examples) {
  std::vector<int64_t> rows;
  if (const auto* w = std::get_if<WindowTable>(&examples)) {
    for (const int64_t i : w->selected) {
      const int64_t place = w->windows->target[static_cast<size_t>(i)];
      check(place >= 0, kWeights, "windows whose target lies in the table", "one beyond its end");
      rows.push_back(w->windows->order[static_cast<size_t>(place)]);
    }
    return rows;
  }
  for (int64_t row = 0; row < count(examples); ++row) rows.push_back(row);
  return rows;
}

double weight_in(const Table& table, const Column& column, int64_t row) {
  const double value = column.values[static_cast<size_t>(row)];
  if (value >= 0 && value <= kLargestWeight) return value;
  if (std::isfinite(value) && value > 0)
    throw_bad_cell(
        table, row,
        fmt::format(
            "expected a weight up to {:g} in the column {}; received {:g}; sums of larger ones overflow: "
            "divide all weights by one number (only their proportions count, unless "
            "`.weights_are=counts`)",
            kLargestWeight, in_quotes(column.name), value));
  throw_bad_cell(table, row,
                 fmt::format("expected a weight, a finite number from 0 on, in the column {}; received {}; "
                             "correct the cell, or remove the row",
                             in_quotes(column.name),
                             std::isnan(value) ? std::string("a missing cell") : fmt::format("{}", value)));
}

}  // namespace

void check_weights_column(const Table& table, const FitOptions& options) {
  if (options.weights.empty()) return;
  const Column* column = table.find(options.weights);
  if (column == nullptr)
    refuse(kWeights, fmt::format("a column {} of weights", in_quotes(options.weights)), "a table without it",
           nearest_hint(options.weights, table.names()));
  if (!of_numbers(*column))
    refuse(kWeights, fmt::format("numbers in the column {} of weights", in_quotes(options.weights)),
           fmt::format("a {} column", kind_name(column->kind)), "name another column by `.weights`");
}

void add_weights(Reading& reading, const FitOptions& options) {
  if (!options.weights.empty()) reading.kinds[options.weights] = ColumnKind::numeric;
}

at::Tensor row_weights(const Examples& examples, const FitOptions& options) {
  if (options.weights.empty()) return {};
  const Table* table = table_of(examples);
  check(table != nullptr, kWeights, "rows of a table for `.weights`", "images", "leave it out");
  check_weights_column(*table, options);
  const Column& column = *table->find(options.weights);
  std::vector<double> weights;
  bool some = false;
  for (const int64_t row : rows_with_weights(examples)) {
    weights.push_back(weight_in(*table, column, row));
    some = some || weights.back() > 0;
  }
  if (!some && !weights.empty())
    refuse(kWeights, fmt::format("some weights above 0 in the column {}", in_quotes(options.weights)),
           "none: no row would count", "leave `.weights` out, or name another column");
  return at::tensor(weights, at::kDouble);
}

double weight_scale(const at::Tensor& weights, const FitOptions& options) {
  if (options.weights_are == "counts" || weights.numel() == 0) return 1;
  const double first = weights[0].item<double>();
  return (weights == first).all().item<bool>() ? first : weights.mean().item<double>();  // exact if all equal
}

at::Tensor scored_weights(const Examples& examples, const FitOptions& options) {
  if (!have_weights(examples, options)) return {};
  const at::Tensor weights = row_weights(examples, options);
  return (weights == 1).all().item<bool>() ? at::Tensor() : weights;
}

PositiveExamples positive_examples(const Examples& examples, const FitOptions& options) {
  PositiveExamples out;
  const at::Tensor weights = row_weights(examples, options);
  if (!weights.defined() || !(weights == 0).any().item<bool>()) return out;
  const auto* weight = weights.const_data_ptr<double>();
  for (int64_t i = 0; i < weights.size(0); ++i)
    if (weight[i] > 0) out.places.push_back(i);
  out.some = take(examples, out.places);
  return out;
}

PositiveExamples scored_examples(const Examples& examples, const FitOptions& options) {
  return have_weights(examples, options) ? positive_examples(examples, options) : PositiveExamples{};
}

std::string scored_weights_note(const Examples& examples, const FitOptions& options) {
  if (options.weights.empty()) return "";
  const std::string name = in_quotes(options.weights);
  if (!have_weights(examples, options))
    return fmt::format("the data have no column {} of weights: each {} counts once", name, noun_of(examples));
  const at::Tensor weights = row_weights(examples, options);
  const int64_t none = (weights == 0).sum().item<int64_t>();
  return fmt::format("the {}s are weighted by {}{}", noun_of(examples), name,
                     none > 0 ? fmt::format("; {} of weight 0 {} left out", counted(none, noun_of(examples)),
                                            none == 1 ? "is" : "are")
                              : "");
}

}  // namespace slimbayes
