#include "cli/conditions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string_view>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes::cli {
namespace {

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

/// Refuses what follows an operator of a number or count and is no number, such as a condition on a name that
/// the model has not.
void check_number(const Written& one, const std::string& target) {
  if (!parse_number(one.value))
    refuse("predict", fmt::format("a number after the operator of {} in --probability", in_quotes(target)),
           in_quotes(one.value), "conditions have commas between them: 'a>3,b<=2'");
}

}  // namespace

std::vector<JointCondition> conditions_of(const std::vector<std::string>& texts, const JointModel& model) {
  const std::vector<std::string> targets = model.targets();
  std::vector<JointCondition> all;
  for (const std::string& text : texts)
    for (const Written& one : written_in(text, targets)) {
      const std::string& target = targets[one.target];
      if (model.models()[one.target].schema().task.kind != TaskKind::classification)
        check_number(one, target);
      for (JointCondition& part : model.conditions(target, std::string(one.sign), std::string(one.value)))
        all.push_back(std::move(part));
    }
  return all;
}

}  // namespace slimbayes::cli
