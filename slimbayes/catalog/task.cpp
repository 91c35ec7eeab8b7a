#include "slimbayes/catalog/task.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/catalog/nearest.h"
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

}  // namespace

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
