#include "cli/method_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

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

// What does not parse stays text: the catalogue's check then names the option and what it expects.
json value_of(const OptionDoc& doc, const std::string& text) {
  int64_t integer = 0;
  double number = 0;
  if (doc.type == "integer" && parse_whole(text, integer)) return integer;
  if ((doc.type == "integer" || doc.type == "number") && parse_whole(text, number)) return number;
  if (doc.type == "boolean" && (text == "true" || text == "false")) return text == "true";
  return text;
}

std::string explained(const OptionDoc& doc) {
  std::string facts =
      "default " + (doc.fallback.is_string() ? doc.fallback.get<std::string>() : doc.fallback.dump());
  if (doc.range) facts += fmt::format(", {:g} to {:g}", doc.range->low, doc.range->high);
  if (!doc.choices.empty()) facts += fmt::format(", one of {}", fmt::join(doc.choices, ", "));
  if (!doc.grid.empty()) facts += fmt::format(", --tune tries {:g}", fmt::join(doc.grid, ", "));
  return fmt::format("{} [{}]", doc.doc, facts);
}

}  // namespace

void MethodFlags::add(CLI::App& command, const std::vector<const MethodInfo*>& methods) {
  for (const MethodInfo* method : methods) {
    for (const OptionDoc& doc : method->options) {
      if (std::ranges::find(flags_, doc.name, &Flag::name) != flags_.end()) continue;
      Flag& flag = flags_.emplace_back(Flag{doc.name, "", nullptr});
      flag.option = command.add_option(flag_name(doc.name), flag.text, explained(doc));
      flag.option->type_name(doc.type == "text"      ? "NAME"
                             : doc.type == "integer" ? "N"
                             : doc.type == "number"  ? "X"
                                                     : "BOOL");
      flag.option->group(methods.size() == 1 ? "Options of " + method->name
                                             : "Options of the methods that have them");
    }
  }
}

nlohmann::json MethodFlags::set_options(const MethodInfo& method) const {
  json options = json::object();
  if (const Flag* flag = given(method.inner)) options[method.inner] = flag->text;
  const std::vector<OptionDoc> docs = options_of(method, options);
  for (const OptionDoc& doc : docs) {
    if (const Flag* flag = given(doc.name)) options[doc.name] = value_of(doc, flag->text);
  }
  const bool in_epochs = std::ranges::find(docs, "epochs", &OptionDoc::name) != docs.end();
  if (in_epochs && given("steps")) {
    if (given("epochs") && options["epochs"] != 0) {
      throw std::invalid_argument(
          "[fit] expected the budget as --steps or as --epochs; received both; leave one of them out");
    }
    options["epochs"] = 0;  // not the preset's
  }
  return options;
}

const MethodFlags::Flag* MethodFlags::given(const std::string& option) const {
  const auto flag = std::ranges::find(flags_, option, &Flag::name);
  return flag != flags_.end() && flag->option->count() > 0 ? &*flag : nullptr;
}

}  // namespace slimbayes::cli
