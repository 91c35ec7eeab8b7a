#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "slimbayes/catalog/task.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// Bounds of a numeric option. They are inclusive, except those that are said to be left out.
struct Range {
  double low, high;
  bool without_low = false, without_high = false;
};

/// The words that a text option accepts.
struct Choices {
  std::vector<std::string> words;
};

/// The placeholder, such as COLUMN or FILE, that help shows for the value of an option that is a free text,
/// or for one entry of a list.
struct ValueName {
  std::string word;
};

/// The values of an option that `fit --tune` tries.
struct Grid {
  std::vector<double> values;
};

/// Properties of a numeric option that the code around a fit needs, beside its bounds.
struct OptionFacts {
  Grid grid = {};
  bool at_most_rows =
      false;  // a value above the number of training rows is refused, unless it is the default
  bool gaussian_only = false;  // without Gaussian noise every value gives the same fit
};

/// The description of one option, from which all front ends derive it: the command-line flag, the JSON key,
/// the Python keyword, the entry in the model file, the documentation. Each options struct has an overload of
/// describe(), which is the only place that lists its options:
///   template <class V> void describe(DbkOptions& o, V& v) {
///     v("beta", o.beta, "weight of the KL term; raise it on small tables", Range{0, 1e6}, "N-15");
///   }
/// The arguments are the name, the field, the help text, what limits the value (Range, Choices, ValueName or
/// nothing), the source and, for numbers, OptionFacts or a Grid.
struct OptionDoc {
  std::string name;         // as in JSON, with '_' between words; the command-line flag has '-' instead
  std::string type;         // "integer", "number", "boolean", "text" or "list" (of texts)
  std::string doc;          // help text
  std::string source;       // where the option or its default comes from, such as a paper
  nlohmann::json fallback;  // the default value
  std::optional<Range> range = {};        // bounds of a number other than the default; empty: none
  std::vector<std::string> choices = {};  // allowed texts; empty: any
  std::vector<double> grid = {};          // values that --tune tries; empty: the option cannot be tuned
  /// As in OptionFacts: refuse a value above the number of training rows; no effect without Gaussian noise.
  bool at_most_rows = false, gaussian_only = false;
  std::string value_name = "";  // placeholder in help; empty: chosen by the type
  std::string section = "";     // heading in --help; empty: that of the method's own options
};

/// Formats a bound for messages and help: whole numbers below 1e15 in full (16777216), others with six digits
/// (0.1, 1e-12).
SLIMBAYES_EXPORT std::string number_text(double x);

/// Returns the bounds in words: "from 0 to 1", "above 0 and below 1". `whole` bounds are those of integers,
/// which end at 2^64 - 1.
SLIMBAYES_EXPORT std::string range_text(const Range& range, bool whole);

/// Returns whether x lies within the bounds; false for NaN.
SLIMBAYES_EXPORT bool contains(const Range& range, double x);

/// Splits a list at its commas. Returns the parts without the blanks around them.
SLIMBAYES_EXPORT std::vector<std::string> split_list(std::string_view list);

namespace detail {

/// Formats a value for a message, cut at 80 characters. For a list or an object, gives only its type and
/// size.
SLIMBAYES_EXPORT std::string shown(const nlohmann::json& value);

/// Checks that the value has the option's type and lies within its range or choices. The default is always
/// allowed. Throws std::invalid_argument with `owner`, the option's name, the constraint and the value in the
/// message.
SLIMBAYES_EXPORT void check_option(const OptionDoc& doc, const nlohmann::json& value, std::string_view owner);

/// Throws std::invalid_argument if `given` is not an object or has a key that is not the name of an option in
/// `docs`. The message begins with `owner` and suggests the nearest known name.
SLIMBAYES_EXPORT void check_keys(const nlohmann::json& given, const std::vector<OptionDoc>& docs,
                                 std::string_view owner);

/// Returns the name of the C++ type T as OptionDoc::type has it, such as "integer".
template <class T>
const char* option_type() {
  if constexpr (std::is_same_v<T, bool>) return "boolean";
  if constexpr (std::is_integral_v<T>) return "integer";
  if constexpr (std::is_floating_point_v<T>) return "number";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return "list";
  return "text";
}

/// The object that describe() calls once per option. It builds the OptionDoc from the arguments and calls
/// `body(const OptionDoc&, T& field)`.
template <class Body>
struct OptionVisitor {
  Body body;
  std::string heading = "";

  /// Sets the heading of the options that follow.
  void section(std::string name) { heading = std::move(name); }

  /// Visits a number.
  template <class T>
  void operator()(std::string name, T& field, std::string doc, Range range, std::string source,
                  OptionFacts facts = {}) {
    OptionDoc full = basic(std::move(name), field, std::move(doc), std::move(source));
    full.range = range;
    full.grid = std::move(facts.grid.values);
    full.at_most_rows = facts.at_most_rows;
    full.gaussian_only = facts.gaussian_only;
    hand(std::move(full), field);
  }
  template <class T>
  void operator()(std::string name, T& field, std::string doc, Range range, std::string source, Grid grid) {
    (*this)(std::move(name), field, std::move(doc), range, std::move(source),
            OptionFacts{.grid = std::move(grid)});
  }
  /// Visits a text that is one of several words.
  void operator()(std::string name, std::string& field, std::string doc, Choices choices,
                  std::string source) {
    OptionDoc full = basic(std::move(name), field, std::move(doc), std::move(source));
    full.choices = std::move(choices.words);
    hand(std::move(full), field);
  }
  /// Visits a free text or a list of texts.
  template <class T>
  void operator()(std::string name, T& field, std::string doc, ValueName value, std::string source) {
    OptionDoc full = basic(std::move(name), field, std::move(doc), std::move(source));
    full.value_name = std::move(value.word);
    hand(std::move(full), field);
  }
  /// Visits a boolean, a free text or a list of texts.
  template <class T>
  void operator()(std::string name, T& field, std::string doc, std::string source) {
    hand(basic(std::move(name), field, std::move(doc), std::move(source)), field);
  }
  /// Visits a likelihood as a text: its name, or "auto" for an empty field.
  void operator()(std::string name, std::optional<LikelihoodKind>& field, std::string doc,
                  std::string source) {
    std::string text(field ? name_of(*field) : "auto");
    std::vector<std::string> words = likelihood_names();
    words.insert(words.begin(), "auto");
    (*this)(std::move(name), text, std::move(doc), Choices{std::move(words)}, std::move(source));
    field = text == "auto" ? std::nullopt : std::optional(likelihood_named(text));
  }

 private:
  template <class T>
  static OptionDoc basic(std::string name, const T& field, std::string doc, std::string source) {
    return {std::move(name), option_type<T>(), std::move(doc), std::move(source), field};
  }

  template <class T>
  void hand(OptionDoc doc, T& field) {
    doc.section = heading;
    body(std::move(doc), field);
  }
};

/// Calls `body` for each option of `options`, in the order of describe().
template <class O, class Body>
void visit_options(O& options, Body body) {
  OptionVisitor<Body> visitor{std::move(body)};
  describe(options, visitor);
}

}  // namespace detail

/// A visitor that passes every option on to `visitor` except those named in `left_out`. Use it in describe()
/// for a struct that contains another one of some of whose options it has no use.
template <class V>
struct WithoutOptions {
  V& visitor;
  std::vector<std::string> left_out;

  void section(std::string name) { visitor.section(std::move(name)); }
  template <class T, class... More>
  void operator()(std::string name, T& field, More... more) {
    if (std::ranges::find(left_out, name) == left_out.end())
      visitor(std::move(name), field, std::move(more)...);
  }
};

/// Returns the descriptions of every option of the struct O, in the order of its describe(). The field values
/// of `defaults` become OptionDoc::fallback.
template <class O>
std::vector<OptionDoc> option_docs(O defaults = {}) {
  std::vector<OptionDoc> docs;
  detail::visit_options(defaults, [&](OptionDoc doc, auto&) { docs.push_back(std::move(doc)); });
  return docs;
}

/// Returns the description of one option of the struct O. Throws std::logic_error for an unknown name.
template <class O>
OptionDoc option_doc(std::string_view name) {
  for (OptionDoc& doc : option_docs<O>())
    if (doc.name == name) return std::move(doc);
  throw std::logic_error("[option_doc] expected the name of an option; received " + std::string(name));
}

/// Throws std::invalid_argument if an option has a value that its description does not allow. The message
/// begins with `owner`. Call it where a C++ program hands over a struct whose fields it has set.
template <class O>
void check_options(O options, std::string_view owner) {
  const std::vector<OptionDoc> docs =
      option_docs<O>();  // with the defaults of O, not the values of `options`
  auto doc = docs.begin();
  detail::visit_options(options,
                        [&](const OptionDoc&, auto& field) { detail::check_option(*doc++, field, owner); });
}

/// Returns a JSON object with the name and the value of every option.
template <class O>
nlohmann::json options_to_json(O options) {
  nlohmann::json json = nlohmann::json::object();
  detail::visit_options(options, [&](const OptionDoc& doc, auto& field) { json[doc.name] = field; });
  return json;
}

/// Returns an options struct with the defaults of O, overwritten by the values in `given`. Throws
/// std::invalid_argument for an unknown key, a wrong type or a value out of range. The message begins with
/// `owner`, a name that the user knows, such as the method's.
template <class O>
O options_from_json(const nlohmann::json& given, std::string_view owner) {
  detail::check_keys(given, option_docs<O>(), owner);
  O options;
  detail::visit_options(options, [&](const OptionDoc& doc, auto& field) {
    auto found = given.find(doc.name);
    if (found == given.end()) return;
    detail::check_option(doc, *found, owner);
    field = found->template get<std::remove_reference_t<decltype(field)>>();
  });
  return options;
}

}  // namespace slimbayes
