#include "cli/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/describe_text.h"
#include "cli/messages.h"
#include "cli/terminal.h"
#include "slimbayes/catalog/method_facts.h"
#include "slimbayes/storage/model_kind.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

std::string dumped(const json& value) {
  return with_flags(value).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

/// Returns the text without characters that control a terminal. On a terminal, long lines are also wrapped,
/// and continuation lines are indented to the column where values begin.
std::string for_person(const std::string& text) {
  const auto width = terminal_width(STDOUT_FILENO);
  return width ? wrapped(shown_lines(text), *width, 13) : shown_lines(text);
}

bool is_method(const std::string& name) {
  for (const MethodInfo& info : method_catalog()) {
    if (info.name == name || std::ranges::find(info.aliases, name) != info.aliases.end()) return true;
  }
  return false;
}

}  // namespace

std::string list_methods(bool as_json) {
  json list = json::array();
  std::string text;
  for (const MethodInfo& info : method_catalog()) {
    list.push_back(method_facts(info, false));
    const std::string aliases =
        info.aliases.empty() ? "" : fmt::format(" (also {})", fmt::join(info.aliases, ", "));
    text += info.name + aliases + "\n" +
            indented(fmt::format("{} [{}]", in_flags(info.summary), task_text(info)), 4);
  }
  text += "\n" + indented("slimbayes describe METHOD explains one and its options.", 0);
  return as_json ? dumped(list) : text;
}

std::string describe(const std::string& name, bool as_json) {
  if (name.empty()) return list_methods(as_json);
  if (is_method(name)) {
    const MethodInfo& info = find_method(name);
    return as_json ? dumped(method_facts(info, true)) : method_text(info);
  }
  std::error_code ignored;
  const bool looks_like_path = name.find('/') != std::string::npos || name.find('.') != std::string::npos;
  if (!looks_like_path && !std::filesystem::exists(name, ignored))
    find_method(name);  // always throws: suggests the nearest method
  const TensorFile file = read_tensor_file(name);
  if (is_joint(file)) {
    const JointFacts facts = joint_facts(file, name);
    return as_json ? dumped(fields_to_json(facts)) : for_person(joint_text(facts));
  }
  ModelFacts facts = model_facts(file, name);
  if (as_json) return dumped(fields_to_json(facts));
  facts.metadata = with_flags(std::move(facts.metadata));
  return for_person(model_text(facts));
}

}  // namespace slimbayes::cli
