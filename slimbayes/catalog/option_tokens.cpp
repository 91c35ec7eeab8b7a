// A token is found by a scan of the bytes, without a grammar of sentences: a single backtick, a dot, a known
// name, perhaps `=` and a value, a backtick. Backticks around anything else, as in `slimbayes describe m`,
// are text.
#include "slimbayes/catalog/option_tokens.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/catalog/methods.h"

namespace slimbayes {
namespace {

using nlohmann::json;
using Names = std::map<std::string, std::string, std::less<>>;

/// Options that belong to no struct with a describe(): those of a fit as a whole, of other calls and of
/// commands.
const Names& names_of_calls() {
  static const Names names = {{"method", "text"},
                              {"preset", "text"},
                              {"tune", "boolean"},
                              {"model", "text"},
                              {"resume", "boolean"},
                              {"parallel", "text"},
                              {"cache", "text"},
                              {"shuffle_rows", "integer"},
                              {"valid", "text"},
                              {"rename", "list"},
                              {"fill", "list"},
                              {"max_table_memory", "text"},
                              {"cross_validate", "integer"},
                              {"keep", "list"},
                              {"groups", "list"},
                              {"column", "list"},
                              {"parts", "boolean"},
                              {"quantiles", "list"},
                              {"maps", "text"},
                              {"ood", "text"},
                              {"by", "list"},
                              {"conditional", "boolean"},
                              {"json", "boolean"},
                              {"on_unknown", "text"},
                              {"shard", "boolean"},
                              {"ranks_tried", "integer"},
                              {"draw", "integer"},
                              {"rows", "integer"},
                              {"amplitude", "number"}};
  return names;
}

bool is_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Returns a value of an option of this type as Python writes it. A word in capitals stands for a value.
std::string python_value(const std::string& value, const std::string& type) {
  const bool stands_for = std::ranges::all_of(value, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (stands_for) return value;
  if (type == "boolean") return value == "true" ? "True" : value == "false" ? "False" : value;
  if (type == "list") {
    const std::vector<std::string> words = split_list(value);
    return words.size() == 1 ? fmt::format("'{}'", value) : fmt::format("['{}']", fmt::join(words, "', '"));
  }
  if (is_number(value)) return value;
  return value.find('\'') == value.npos ? fmt::format("'{}'", value) : fmt::format("\"{}\"", value);
}

/// Returns the value of a flag. A sign alone, such as a comma, stands in quotes.
std::string flag_value(const std::string& value) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c >= 0x80; };
  if (std::ranges::any_of(value, is_word)) return value;
  return value.find('\'') == value.npos ? fmt::format("'{}'", value) : fmt::format("\"{}\"", value);
}

/// Options on tables in files. Python's data frames have none of them; what pandas has in their place.
struct TextOption {
  std::string_view name, keyword, function;  // `function`: that has the keyword; "" if that is one itself
};
constexpr std::array kTextOptions = {TextOption{"rename", "DataFrame.rename", ""},
                                     TextOption{"fill", "DataFrame.assign", ""},
                                     TextOption{"thousands", "thousands", "pandas.read_csv"},
                                     TextOption{"decimal", "decimal", "pandas.read_csv"},
                                     TextOption{"separator", "sep", "pandas.read_csv"},
                                     TextOption{"date_format", "format", "pandas.to_datetime"}};

/// Puts the function of pandas that has this option before it, in the place of "in a text file, fit", with
/// which a sentence begins to advise it.
void name_function(const TextOption& option, std::string& before) {
  if (option.function.empty()) return;
  for (const std::string_view begin : {"in a text file, fit ", "fit "}) {
    if (!before.ends_with(begin)) continue;
    before.resize(before.size() - begin.size());
    before += fmt::format("{} with ", option.function);
    return;
  }
}

struct Option {
  std::string name, value;  // `value` is empty if the token has none
};

std::string spelled(const Option& option, OptionStyle style) {
  if (style == OptionStyle::flags) {
    std::string flag = "--" + option.name;
    std::ranges::replace(flag, '_', '-');
    return option.value.empty() ? flag : flag + " " + flag_value(option.value);
  }
  const auto of_text = std::ranges::find(kTextOptions, option.name, &TextOption::name);
  if (option.value.empty())
    return of_text == kTextOptions.end() ? option.name : std::string(of_text->keyword);
  // Python has no file for validation rows, but the rows themselves.
  if (option.name == "valid") return "valid=(X, y)";
  const std::string name = of_text == kTextOptions.end() ? option.name : std::string(of_text->keyword);
  return name + "=" + python_value(option.value, option_names().find(option.name)->second);
}

/// Returns the length of the token at the beginning of `text`, which begins with a backtick, and sets
/// `option`; 0 if there is none.
size_t token_at(std::string_view text, Option& option) {
  if (text.size() < 2 || text[1] != '.') return 0;
  const size_t end = text.find('`', 1);
  if (end == text.npos) return 0;
  const std::string_view inner = text.substr(2, end - 2), name = inner.substr(0, inner.find('='));
  if (name.size() + 1 == inner.size() || !option_names().contains(name)) return 0;
  option.name = name;
  option.value = name.size() == inner.size() ? "" : inner.substr(name.size() + 1);
  return end + 1;
}

using Render = std::function<std::string(const std::string&)>;

/// Renders a text, or each text of a list. Other values stay as they are.
void render_texts(json& value, const Render& render) {
  if (value.is_string()) value = render(value.get_ref<const std::string&>());
  if (!value.is_array()) return;
  for (json& one : value)
    if (one.is_string()) one = render(one.get_ref<const std::string&>());
}

void render_within(json& report, const Render& render) {
  constexpr std::array kSentences = {"notes",   "facts", "warnings", "noise",   "note",    "doc",
                                     "summary", "parts", "failed",   "failure", "left_out"};
  for (auto item = report.begin(); item != report.end(); ++item) {
    if (item->is_structured()) render_within(*item, render);
    if (report.is_object() && std::ranges::find(kSentences, item.key()) != kSentences.end())
      render_texts(*item, render);
  }
}

}  // namespace

const Names& option_names() {
  static const Names names = [] {
    Names all;
    const auto add = [&](const std::vector<OptionDoc>& docs) {
      for (const OptionDoc& doc : docs) all.emplace(doc.name, doc.type);
    };
    add(option_docs<FitOptions>());
    add(option_docs<RunOptions>());
    add(option_docs<ComparisonPlan>());
    add(option_docs<CertificateOptions>());
    for (const MethodInfo& info : method_catalog()) add(info.options);
    all.insert(names_of_calls().begin(), names_of_calls().end());
    return all;
  }();
  return names;
}

std::vector<MessagePart> message_parts(std::string_view message, OptionStyle style) {
  std::vector<MessagePart> parts;
  std::string text;
  for (size_t at = 0; at < message.size();) {
    const size_t tick = std::min(message.find('`', at), message.size());
    text += message.substr(at, tick - at);
    const size_t end = std::min(message.find_first_not_of('`', tick), message.size()), run = end - tick;
    at = end;
    if (run == 0) break;
    Option option;
    const size_t length = run == 1 ? token_at(message.substr(tick), option) : 0;
    if (length == 0) {
      const bool escaped = run > 1 && end < message.size() && message[end] == '.';
      text.append(escaped ? run - 1 : run, '`');
      continue;
    }
    const auto of_text = std::ranges::find(kTextOptions, option.name, &TextOption::name);
    if (style == OptionStyle::keywords && of_text != kTextOptions.end()) name_function(*of_text, text);
    if (!text.empty()) parts.push_back({std::exchange(text, "")});
    parts.push_back({spelled(option, style), true});
    at = tick + length;
  }
  if (!text.empty()) parts.push_back({text});
  return parts;
}

std::string render_options(std::string_view message, OptionStyle style) {
  std::string out;
  for (const MessagePart& part : message_parts(message, style)) out += part.text;
  return out;
}

json map_sentences(json report, const Render& render) {
  if (report.is_structured()) render_within(report, render);
  return report;
}

}  // namespace slimbayes
