// Conditions on the targets of a JointModel, as users write them.
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/model/joint/joint_model.h"

namespace slimbayes {

namespace {

using Holds = JointCondition::Holds;

double bound_in(const std::string& value, const std::string& target) {
  const std::optional<double> x = parse_number(value);
  if (!x || !std::isfinite(*x))
    refuse("probability", fmt::format("a number after the operator of {}", in_quotes(target)),
           in_quotes(value));
  return *x;
}

/// Returns the condition on a number, of which no row is exactly at the bound.
std::vector<JointCondition> on_number(const std::string& target, const std::string& sign,
                                      const std::string& value) {
  if (sign.front() == '=')
    refuse("probability", fmt::format("a bound of the number {}", in_quotes(target)),
           fmt::format("{} {}", sign, value), "no row is exactly there: give > or <");
  const Holds holds = sign.front() == '>' ? Holds::above : Holds::at_most;
  return {{.target = target, .holds = holds, .value = bound_in(value, target)}};
}

/// Returns the conditions on a whole number.
std::vector<JointCondition> on_count(const std::string& target, const std::string& sign,
                                     const std::string& value) {
  const double x = bound_in(value, target), before = std::ceil(x) - 1;  // the largest whole number below x
  const JointCondition above{.target = target, .holds = Holds::above, .value = sign == ">" ? x : before};
  const JointCondition at_most{.target = target, .holds = Holds::at_most, .value = sign == "<" ? before : x};
  if (sign.front() == '>') return {above};
  if (sign.front() == '<') return {at_most};
  if (std::floor(x) != x)
    refuse("probability", fmt::format("a whole number of the counts {}", in_quotes(target)),
           in_quotes(value));
  return {above, at_most};
}

}  // namespace

std::vector<JointCondition> JointModel::conditions(const std::string& target, const std::string& sign,
                                                   const std::string& value) const {
  const TaskKind task = parts_.models[place_of(target)].schema().task.kind;
  if (sign != ">" && sign != ">=" && sign != "<" && sign != "<=" && sign != "=" && sign != "==")
    refuse("probability", "one of the operators > >= < <= =", in_quotes(sign));
  if (task == TaskKind::regression) return on_number(target, sign, value);
  if (task == TaskKind::counts) return on_count(target, sign, value);
  if (sign.front() != '=')
    refuse("probability", fmt::format("= and a class of the target {}", in_quotes(target)), in_quotes(sign),
           "its answers are classes");
  return {{.target = target, .holds = Holds::is, .label = value}};
}

}  // namespace slimbayes
