#include "slimbayes/serve/answer_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace slimbayes {

namespace {

Column numbers(std::string name, std::vector<double> values) {
  return {std::move(name), ColumnKind::numeric, std::move(values), {}};
}

std::vector<double> roots(std::vector<double> values) {
  for (double& value : values) value = std::sqrt(value);
  return values;
}

}  // namespace

std::vector<Column> columns_of(NumberAnswers a, bool named) {
  std::vector<Column> columns = {numbers("mean", std::move(a.mean))};
  if (!a.median.empty()) columns.push_back(numbers("median", std::move(a.median)));
  columns.push_back(numbers("sd", std::move(a.sd)));
  if (a.aleatoric.empty()) return columns;
  columns.push_back(numbers(named ? "sd_aleatoric" : "sd_noise", std::move(a.aleatoric)));
  columns.push_back(numbers(named ? "sd_epistemic" : "sd_function", std::move(a.epistemic)));
  return columns;
}

std::vector<Column> columns_of(ClassAnswers a, const std::vector<std::string>& classes) {
  std::vector<Column> columns;
  for (size_t c = 0; c < classes.size(); ++c)
    columns.push_back(numbers("p_" + classes[c], std::move(a.probabilities.at(c))));
  columns.push_back(numbers("entropy", std::move(a.entropy)));
  columns.push_back(numbers("mutual_information", std::move(a.mutual_information)));
  columns.push_back({"label", ColumnKind::categorical, std::move(a.label), classes});
  return columns;
}

std::vector<Column> columns_of_counts(std::vector<double> mean, const std::vector<double>& epistemic_var,
                                      std::vector<double> aleatoric_var) {
  if (aleatoric_var.empty()) aleatoric_var = mean;  // Poisson noise adds the mean
  std::vector<double> total = aleatoric_var;
  for (size_t i = 0; i < total.size(); ++i) total[i] += epistemic_var[i];
  return {numbers("mean", std::move(mean)), numbers("sd", roots(std::move(total))),
          numbers("sd_aleatoric", roots(std::move(aleatoric_var))),
          numbers("sd_epistemic", roots(epistemic_var))};
}

std::string level_ending(double level, size_t levels) {
  return levels > 1 ? fmt::format("_{:g}", 100 * level) : "";
}

std::vector<Column> interval_columns(std::vector<double> lower, std::vector<double> upper,
                                     const std::string& ending) {
  return {numbers("lower" + ending, std::move(lower)), numbers("upper" + ending, std::move(upper))};
}

std::string raised_note(const Task& task, double level, const std::vector<double>& lower) {
  constexpr int64_t kOneIn = 100;
  if (task.kind != TaskKind::regression || task.low <= 0 || task.bounds) return "";
  const auto raised = std::ranges::count_if(lower, [](double one) { return one <= 0; });
  const auto all = std::ssize(lower);
  if (raised == 0 || raised * kOneIn < all) return "";
  return fmt::format(
      "{} of {} lower bounds at {:g} % were raised to 0, because no training target was below (the least is "
      "{:.4g})",
      raised, all, 100 * level, task.low);
}

Column set_column(const std::vector<unsigned char>& members, const std::vector<std::string>& classes,
                  const std::string& ending) {
  Column column{"set" + ending, ColumnKind::categorical, {}, {}};
  std::map<std::string, double> places;
  std::vector<std::string> held;
  for (size_t at = 0; at < members.size(); at += classes.size()) {
    held.clear();
    for (size_t c = 0; c < classes.size(); ++c)
      if (members[at + c] != 0) held.push_back(classes[c]);
    const std::string text = fmt::format("{}", fmt::join(held, "|"));
    const auto [place, added] = places.emplace(text, static_cast<double>(column.levels.size()));
    if (added) column.levels.push_back(text);
    column.values.push_back(place->second);
  }
  return column;
}

}  // namespace slimbayes
