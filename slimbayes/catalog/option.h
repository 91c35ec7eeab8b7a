#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "slimbayes/catalog/task.h"

namespace slimbayes {

/// Inclusive bounds of a numeric option.
struct Range {
  double low, high;
};

/// The words that a text option accepts.
struct Choices {
  std::vector<std::string> words;
};

/// The values that `fit --tune` tries.
struct Grid {
  std::vector<double> values;
};

/// An option as every front end sees it: command-line flag, JSON key, Python keyword, model file, docs.
/// An options struct is described once, by an overload found through its type:
///   template <class V> void describe(DbkOptions& o, V& v) {
///     v("rank", o.rank, "basis size; raise it if the validation NLL falls", Range{1, 4096}, "N appendix B.2");
///   }
struct OptionDoc {
  std::string name;  // as in JSON: words joined by '_'; the flag joins them by '-'
  std::string type;  // "integer", "number", "boolean", "text" or "list" (of texts)
  std::string doc;
  std::string source;
  nlohmann::json fallback;  // the default
  std::optional<Range> range;
  std::vector<std::string> choices;
  std::vector<double> grid = {};  // of a number that may be tuned; empty: it may not
  std::string section = "";       // heading under which --help lists it; empty: the method's own
};

namespace detail {

/// A value for a message, cut at 80 characters; of a list or an object only what it is and its size.
std::string shown(const nlohmann::json& value);

/// Checks one value against its doc; throws std::invalid_argument naming option, constraint and value.
void check_option(const OptionDoc& doc, const nlohmann::json& value, std::string_view owner);

/// Throws std::invalid_argument when `given` is no object or holds a key that no doc has; names the nearest
/// one.
void check_keys(const nlohmann::json& given, const std::vector<OptionDoc>& docs, std::string_view owner);

template <class T>
const char* option_type() {
  if constexpr (std::is_same_v<T, bool>) return "boolean";
  if constexpr (std::is_integral_v<T>) return "integer";
  if constexpr (std::is_floating_point_v<T>) return "number";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return "list";
  return "text";
}

/// A visitor of describe() that hands each option's doc and field to `body(const OptionDoc&, T& field)`.
template <class Body>
struct OptionVisitor {
  Body body;
  std::string heading = "";

  /// The options that follow stand under this heading.
  void section(std::string name) { heading = std::move(name); }

  template <class T>
  void operator()(std::string name, T& field, std::string doc, Range range, std::string source) {
    hand({std::move(name), option_type<T>(), std::move(doc), std::move(source), field, range, {}}, field);
  }
  template <class T>
  void operator()(std::string name, T& field, std::string doc, Choices choices, std::string source) {
    hand({std::move(name), option_type<T>(), std::move(doc), std::move(source), field, {}, choices.words},
         field);
  }
  void operator()(std::string name, double& field, std::string doc, Range range, std::string source,
                  Grid grid) {
    hand({std::move(name), "number", std::move(doc), std::move(source), field, range, {}, grid.values},
         field);
  }
  /// A boolean, a free text or a list of texts.
  template <class T>
  void operator()(std::string name, T& field, std::string doc, std::string source) {
    hand({std::move(name), option_type<T>(), std::move(doc), std::move(source), field, {}, {}}, field);
  }
  /// A likelihood by its name; "auto" for none.
  void operator()(std::string name, std::optional<LikelihoodKind>& field, std::string doc,
                  std::string source) {
    std::string text(field ? name_of(*field) : "auto");
    std::vector<std::string> words = likelihood_names();
    words.insert(words.begin(), "auto");
    hand({std::move(name), "text", std::move(doc), std::move(source), text, {}, std::move(words)}, text);
    field = text == "auto" ? std::nullopt : std::optional(likelihood_named(text));
  }

 private:
  template <class T>
  void hand(OptionDoc doc, T& field) {
    doc.section = heading;
    body(std::move(doc), field);
  }
};

template <class O, class Body>
void visit_options(O& options, Body body) {
  OptionVisitor<Body> visitor{std::move(body)};
  describe(options, visitor);
}

}  // namespace detail

/// The docs of every option of O, in the order of its describe(), with these values as the defaults.
template <class O>
std::vector<OptionDoc> option_docs(O defaults = {}) {
  std::vector<OptionDoc> docs;
  detail::visit_options(defaults, [&](OptionDoc doc, auto&) { docs.push_back(std::move(doc)); });
  return docs;
}

/// Every option with its value.
template <class O>
nlohmann::json options_to_json(O options) {
  nlohmann::json json = nlohmann::json::object();
  detail::visit_options(options, [&](const OptionDoc& doc, auto& field) { json[doc.name] = field; });
  return json;
}

/// Defaults overwritten by `given`. Throws std::invalid_argument for an unknown key, a wrong type or a value
/// out of range; `owner` (the method's name) stands in the message.
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
