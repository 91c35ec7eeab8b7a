#include "slimbayes/catalog/task.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

using enum TaskKind;
using enum LikelihoodKind;

constexpr std::array<std::pair<TaskKind, std::string_view>, 4> kTasks = {
    {{regression, "regression"}, {classification, "classification"}, {counts, "counts"}, {events, "events"}}};

struct LikelihoodRow {
  LikelihoodKind first;
  std::string_view second;
  TaskKind task;
};

constexpr std::array<LikelihoodRow, 8> kLikelihoods = {
    {{gaussian, "gaussian", regression},
     {bernoulli, "bernoulli", classification},
     {softmax, "softmax", classification},
     {poisson, "poisson", counts},
     {cox, "cox", events},
     {student, "student", regression},
     {negative_binomial, "negative-binomial", counts},
     {zero_inflated_poisson, "zero-inflated-poisson", counts}}};

template <class Rows>
auto named(const Rows& rows, std::string_view name, const char* what) {
  std::vector<std::string> known;
  for (const auto& row : rows) {
    if (row.second == name) return row.first;
    known.emplace_back(row.second);
  }
  throw std::invalid_argument(fmt::format("[target] expected the name of a {}; received '{}'; {}", what,
                                          foreign_text(name.substr(0, 40)), nearest_hint(name, known)));
}

/// Returns the number that an end of the bounds names, `none` for an empty one; NaN for another text.
double end_named(std::string_view text, double none) {
  const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  if (first == std::string_view::npos) return none;
  text = text.substr(first, last - first + 1);
  if (text.front() == '+') text.remove_prefix(1);
  double value = std::nan("");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : std::nan("");
}

}  // namespace

bool TargetBounds::both() const { return std::isfinite(low) && std::isfinite(high); }

bool TargetBounds::holds(double y) const { return low < y && y < high; }

bool TargetBounds::at_end(double y) const { return y == low || y == high; }

std::string TargetBounds::in_words() const {
  if (both()) return fmt::format("above {:g} and below {:g}", low, high);
  return std::isfinite(low) ? fmt::format("above {:g}", low) : fmt::format("below {:g}", high);
}

double TargetBounds::unbounded(double y) const {
  if (both()) return std::log(y - low) - std::log(high - y);
  return std::isfinite(low) ? std::log(y - low) : -std::log(high - y);
}

std::optional<TargetBounds> bounds_named(std::string_view text) {
  if (text.empty()) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kLeast = 1e-140, kMost = 1e140;
  const auto refuse_text = [&](std::string_view expected) {
    refuse("fit", expected, fmt::format("`.bounds={}`", foreign_text(text.substr(0, 60))),
           "for instance 0,1 for shares; 0, (an empty end) for numbers above 0");
  };
  const size_t comma = text.find(',');
  TargetBounds bounds{std::nan(""), std::nan("")};
  if (comma != std::string_view::npos)
    bounds = {end_named(text.substr(0, comma), -kInfinity), end_named(text.substr(comma + 1), kInfinity)};
  if (!(bounds.low < bounds.high)) refuse_text("bounds LOW,HIGH of the target, two numbers, LOW below HIGH");
  if (std::isinf(bounds.low) && std::isinf(bounds.high))
    refuse_text("at least one finite end of the bounds, or no bounds");
  const double width = bounds.high - bounds.low;
  if (bounds.both() && !(width >= kLeast && width <= kMost))
    refuse_text(fmt::format("bounds with a distance from {:g} to {:g}", kLeast, kMost));
  return bounds;
}

TaskKind task_of(LikelihoodKind likelihood) { return kLikelihoods.at(static_cast<size_t>(likelihood)).task; }

std::string_view name_of(TaskKind task) { return kTasks.at(static_cast<size_t>(task)).second; }

std::string_view name_of(LikelihoodKind likelihood) {
  return kLikelihoods.at(static_cast<size_t>(likelihood)).second;
}

std::vector<std::string> likelihood_names() {
  std::vector<std::string> names;
  for (const LikelihoodRow& row : kLikelihoods) names.emplace_back(row.second);
  return names;
}

TaskKind task_named(std::string_view name) { return named(kTasks, name, "task"); }

LikelihoodKind likelihood_named(std::string_view name) { return named(kLikelihoods, name, "likelihood"); }

}  // namespace slimbayes
