#include "cli/conditions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes::cli {
namespace {

using Holds = JointCondition::Holds;

constexpr std::string_view kOperators[] = {">=", "<=", "==", ">", "<", "="};  // the longer ones first

/// The start of a condition: which target, which operator, and where the value begins in the text.
struct Start {
  size_t target = 0;
  std::string_view sign;
  size_t value = 0;
};

size_t after_blanks(std::string_view text, size_t at) {
  const size_t next = text.find_first_not_of(' ', at);
  return next == std::string_view::npos ? text.size() : next;
}

/// Returns the condition that starts here, blanks left out: of the targets whose name stands here before an
/// operator that with the longest name.
std::optional<Start> start_at(std::string_view text, size_t at, const std::vector<std::string>& targets) {
  at = after_blanks(text, at);
  std::optional<Start> found;
  for (size_t t = 0; t < targets.size(); ++t) {
    const std::string& name = targets[t];
    if (!text.substr(at).starts_with(name) || (found && name.size() <= targets[found->target].size()))
      continue;
    const size_t end = after_blanks(text, at + name.size());
    for (const std::string_view sign : kOperators)
      if (text.substr(end).starts_with(sign)) {
        found = Start{t, sign, after_blanks(text, end + sign.size())};
        break;
      }
  }
  return found;
}

/// A condition as it was written.
struct Written {
  size_t target = 0;
  std::string_view sign, value;
};

std::vector<Written> written_in(std::string_view text, const std::vector<std::string>& targets) {
  std::vector<Written> all;
  std::optional<Start> start = start_at(text, 0, targets);
  if (!start)
    refuse("predict", "--probability with conditions such as 'a>3,b<=2' on targets of the model",
           in_quotes(text), fmt::format("the targets are {}", fmt::join(targets, ", ")));
  while (start) {
    size_t end = text.find(',', start->value);
    std::optional<Start> next;
    for (; end != std::string_view::npos; end = text.find(',', end + 1)) {
      next = start_at(text, end + 1, targets);
      if (next) break;
    }
    std::string_view value =
        text.substr(start->value, end == std::string_view::npos ? end : end - start->value);
    value = value.substr(0, value.find_last_not_of(' ') + 1);
    all.push_back({start->target, start->sign, value});
    start = next;
  }
  return all;
}

double number_in(std::string_view value, const std::string& target) {
  double x = NAN;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), x);
  if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(x))
    refuse("predict", fmt::format("a number after the operator of {} in --probability", in_quotes(target)),
           in_quotes(value), "conditions have commas between them: 'a>3,b<=2'");
  return x;
}

/// Adds a condition on a number.
void add_bound(const std::string& target, const Written& one, std::vector<JointCondition>& to) {
  if (one.sign.front() == '=')
    refuse("predict", fmt::format("a bound of the number {} in --probability", in_quotes(target)),
           fmt::format("{}{}{}", target, one.sign, one.value), "no row is exactly there: give > or <");
  const Holds holds = one.sign.front() == '>' ? Holds::above : Holds::at_most;
  to.push_back({.target = target, .holds = holds, .value = number_in(one.value, target)});
}

/// Adds the conditions on a whole number that this one means.
void add_whole(const std::string& target, const Written& one, std::vector<JointCondition>& to) {
  const double x = number_in(one.value, target),
               before = std::ceil(x) - 1;  // the largest whole number below x
  const auto add = [&](Holds holds, double value) {
    to.push_back({.target = target, .holds = holds, .value = value});
  };
  if (one.sign == ">") add(Holds::above, x);
  if (one.sign == "<=") add(Holds::at_most, x);
  if (one.sign == "<") add(Holds::at_most, before);
  if (one.sign == ">=" || one.sign.front() == '=') add(Holds::above, before);
  if (one.sign.front() != '=') return;
  if (std::floor(x) != x)
    refuse("predict", fmt::format("a whole number of the counts {} in --probability", in_quotes(target)),
           in_quotes(one.value));
  add(Holds::at_most, x);
}

}  // namespace

std::vector<JointCondition> conditions_of(const std::vector<std::string>& texts, const JointModel& model) {
  const std::vector<std::string> targets = model.targets();
  std::vector<JointCondition> all;
  for (const std::string& text : texts)
    for (const Written& one : written_in(text, targets)) {
      const std::string& target = targets[one.target];
      const TaskKind task = model.models()[one.target].schema().task.kind;
      if (task == TaskKind::regression) {
        add_bound(target, one, all);
      } else if (task == TaskKind::counts) {
        add_whole(target, one, all);
      } else if (one.sign.front() == '=') {
        all.push_back({.target = target, .holds = Holds::is, .label = std::string(one.value)});
      } else {
        refuse("predict", fmt::format("= and a class of the target {} in --probability", in_quotes(target)),
               fmt::format("'{}'", one.sign), "its answers are classes");
      }
    }
  return all;
}

}  // namespace slimbayes::cli
