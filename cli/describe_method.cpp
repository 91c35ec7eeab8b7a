#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/describe_text.h"
#include "cli/messages.h"
#include "cli/terminal.h"
#include "slimbayes/catalog/method_facts.h"
#include "slimbayes/storage/error.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

/// Returns one entry of the description: the name in the left column, the value in the right one, wrapped.
std::string named(const std::string& name, const std::string& value) {
  return wrapped(fmt::format("  {:<18} {}", name, value), text_width(), 19) + "\n";
}

}  // namespace

std::string plain(const json& value) {
  return shown(value.is_string() ? without_functions(value.get<std::string>())
                                 : value.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string indented(const std::string& text, size_t by) {
  return wrapped(std::string(by, ' ') + text, text_width()) + "\n";
}

std::string task_text(const MethodInfo& info) {
  std::vector<std::string> taken, others;
  for (TaskKind task : info.tasks) (takes(info, task) ? taken : others).emplace_back(name_of(task));
  if (others.empty()) return fmt::format("{}", fmt::join(taken, ", "));
  return fmt::format("{}; also {} if the method of --{} takes them", fmt::join(taken, ", "),
                     fmt::join(others, ", "), info.inner);
}

std::string method_text(const MethodInfo& info) {
  std::string text = info.name + "\n" + indented(in_flags(info.summary), 2) + "\n";
  const auto row = [&](const char* name, const std::string& value) { text += named(name, value); };
  if (!info.aliases.empty()) row("aliases", fmt::format("{}", fmt::join(info.aliases, ", ")));
  row("tasks", task_text(info));
  row("inputs",
      fmt::format("{}; numbers of a table scaled {}", fmt::join(input_names(info), ", "), info.input_scale));
  row("paper", info.paper);
  row("randomness", info.seeded ? "from --seed" : "none: every seed gives the same bits");
  row("interrupted", info.resumable ? "goes on with --resume" : "starts anew");
  row("computes on", info.device ? "the CPU, or another device with --device" : "the CPU");
  row("uncertainty", in_flags(meaning_of(info.parts)));
  row("far from the data", info.variance_grows_away ? "the variance grows" : "no promise about the variance");
  text += "\noptions of fit\n";
  for (const OptionDoc& doc : info.options) {
    std::string facts = doc.type + ", default " + plain(doc.fallback);
    if (doc.range)
      facts += fmt::format(", {} to {}", number_text(doc.range->low), number_text(doc.range->high));
    if (!doc.choices.empty()) facts += fmt::format(", one of {}", fmt::join(doc.choices, ", "));
    if (!doc.grid.empty()) facts += fmt::format(", --tune tries {:g}", fmt::join(doc.grid, ", "));
    text += wrapped(fmt::format("  {} ({}) [{}]", doc.name, facts, doc.source), text_width(), 2) + "\n" +
            indented(in_flags(doc.doc), 6);
  }
  for (const Preset& preset : info.presets) {
    text += fmt::format("\n--preset {} sets\n", preset.name);
    for (const auto& item : preset.options.items()) text += named(item.key(), plain(item.value()));
    if (!preset.notes.empty()) text += "  the rest of the paper's experiment\n";
    for (const std::string& note : preset.notes) text += indented("- " + in_flags(note), 4);
  }
  if (!info.inner.empty())
    text += indented(fmt::format("and those of the method that --{} names: slimbayes describe {}", info.inner,
                                 inner_method(info, json::object()).name),
                     2);
  return text;
}

}  // namespace slimbayes::cli
