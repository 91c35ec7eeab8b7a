#include "cli/option_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "cli/messages.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

std::string flag_name(std::string name) {
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

template <class T>
bool parse_whole(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Returns the value that the text of a flag stands for, in the type of the option. A text that does not
/// parse stays a text; the check of the option (check_option) then refuses it with the name of the option and
/// the expected value.
json value_of(const OptionDoc& doc, const std::string& text) {
  int64_t integer = 0;
  uint64_t large = 0;
  double number = 0;
  if (doc.type == "integer" && parse_whole(text, integer)) return integer;
  if (doc.type == "integer" && parse_whole(text, large)) return large;
  if ((doc.type == "integer" || doc.type == "number") && parse_whole(text, number)) return number;
  if (doc.type == "boolean" && (text == "true" || text == "false")) return text == "true";
  return text;
}

std::string explained(const OptionDoc& doc) {
  std::string facts;
  const json& fallback = doc.fallback;
  const bool blank = fallback.is_string() && fallback.get_ref<const std::string&>().empty();
  if (!fallback.is_array() && !blank)
    facts = "default " + (fallback.is_string() ? fallback.get<std::string>() : fallback.dump());
  if (doc.range && doc.range->high < 1e15)
    facts += fmt::format("{}{} to {}", facts.empty() ? "" : ", ", number_text(doc.range->low),
                         number_text(doc.range->high));
  if (!doc.choices.empty()) facts += fmt::format(", one of {}", fmt::join(doc.choices, ", "));
  if (!doc.grid.empty()) facts += fmt::format(", --tune tries {:g}", fmt::join(doc.grid, ", "));
  const std::string text = in_flags(doc.doc);
  return facts.empty() ? text : fmt::format("{} [{}]", text, facts);
}

/// Returns whether at least three quarters of all methods have this option. These are mostly options of the
/// training and the network.
bool is_shared(const std::string& option) {
  const auto has = [&](const MethodInfo& info) {
    return std::ranges::find(info.options, option, &OptionDoc::name) != info.options.end();
  };
  return 4 * std::ranges::count_if(method_catalog(), has) >= 3 * std::ssize(method_catalog());
}

/// Returns the placeholder that help shows for the value of an option: N for a whole number, X for another
/// number, CHOICE for one of several words, else the option's own placeholder or TEXT.
std::string value_name(const OptionDoc& doc) {
  if (doc.type == "integer") return "N";
  if (doc.type == "number") return "X";
  if (doc.type == "boolean") return "[true|false]";
  if (!doc.choices.empty()) return "CHOICE";
  const std::string name = doc.value_name.empty() ? "TEXT" : doc.value_name;
  return doc.type == "list" ? name + ",..." : name;
}

}  // namespace

void OptionFlags::add(CLI::App& command, const std::vector<OptionDoc>& docs, const std::string& heading) {
  for (const OptionDoc& doc : docs) {
    if (std::ranges::find(flags_, doc.name, &Flag::name) != flags_.end()) continue;
    Flag& flag =
        flags_.emplace_back(Flag{doc.name, "", {}, nullptr, doc.type == "boolean", doc.section.empty()});
    const std::string name = flag_name(doc.name), help = explained(doc);
    if (doc.type == "list")
      flag.option = command.add_option(name, flag.list, help)->allow_extra_args(false);
    else
      flag.option = command.add_option(name, flag.text, help);
    if (doc.type == "boolean") flag.option->expected(0, 1)->default_str("true");
    flag.option->type_name(value_name(doc));
    flag.option->group(doc.section.empty() ? heading : doc.section);
  }
}

void OptionFlags::add(CLI::App& command, const std::vector<const MethodInfo*>& methods) {
  for (const MethodInfo* method : methods)
    add(command, method->options,
        methods.size() == 1 ? "Options of " + method->name : "Options of the methods that have them");
}

void OptionFlags::show_shared() {
  const MethodInfo& usual = default_method(TaskKind::regression);
  const std::string shown = usual.candidates ? usual.candidates(json::object()).front() : usual.name;
  const auto own = [&](const std::string& name) {
    return std::ranges::find(usual.options, name, &OptionDoc::name) != usual.options.end();
  };
  for (const Flag& flag : flags_) {
    if (!flag.of_method) continue;
    flag.option->group(own(flag.name)         ? "Options of " + usual.name + ", the default method"
                       : is_shared(flag.name) ? "Options of most methods, with the defaults of " + shown
                                              : "");
  }
}

std::vector<std::string> OptionFlags::joined(const std::vector<std::string>& words) const {
  std::vector<std::string> out;
  bool flags = true;  // false after "--", which ends the flags
  for (size_t i = 0; i < words.size(); ++i) {
    out.push_back(words[i]);
    flags = flags && words[i] != "--";
    const auto named = [&](const Flag& flag) { return flag.boolean && words[i] == flag_name(flag.name); };
    if (!flags || std::ranges::none_of(flags_, named)) continue;
    const bool valued = i + 1 < words.size() && (words[i + 1] == "true" || words[i + 1] == "false");
    out.back() += "=" + (valued ? words[++i] : "true");
  }
  return out;
}

json OptionFlags::set_options(const std::vector<OptionDoc>& docs) const {
  json options = json::object();
  for (const OptionDoc& doc : docs) {
    const Flag* flag = find(doc.name);
    if (flag == nullptr) continue;
    if (doc.type == "list")
      options[doc.name] = flag->list;
    else
      options[doc.name] = value_of(doc, doc.type == "boolean" && flag->text.empty() ? "true" : flag->text);
  }
  return options;
}

json OptionFlags::set_options(const MethodInfo& method) const {
  json inner = json::object();
  if (const Flag* flag = find(method.inner)) inner[method.inner] = flag->text;
  const std::vector<OptionDoc> docs = options_of(method, inner);
  json options = set_options(docs);
  const bool in_epochs = std::ranges::find(docs, "epochs", &OptionDoc::name) != docs.end();
  if (in_epochs && given("steps")) {
    if (given("epochs") && options["epochs"] != 0) {
      throw std::invalid_argument(
          "[fit] expected the budget as --steps or as --epochs; received both; leave one of them out");
    }
    options["epochs"] = 0;  // overrides epochs from a preset
  }
  return options;
}

const OptionFlags::Flag* OptionFlags::find(const std::string& option) const {
  const auto flag = std::ranges::find(flags_, option, &Flag::name);
  return flag != flags_.end() && flag->option->count() > 0 ? &*flag : nullptr;
}

}  // namespace slimbayes::cli
