#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "slimbayes/export.h"

namespace slimbayes {

// Reports as structs. A report is what a command says of a model or of data: the facts of a page, the scores
// of an evaluation. Like an options struct (catalog/option.h) it has one overload of describe(), which is the
// only place that lists its fields:
//   template <class V> void describe(Importance& f, V& v) {
//     v("rows", f.rows, "number of rows that were shuffled");
//     v("columns", f.columns, "the columns, the largest rise of the error first");
//   }
// The arguments are the key in JSON, the field and a sentence on what the value means, with its unit. Further
// arguments, such as the bounds of an option, are allowed and not used, so that an options struct is a
// report, too. A field may be
//   a boolean, a number, a text, or a JSON value   the same in JSON
//   an enum with name_of()                         its name
//   a struct with describe()                       an object
//   std::vector<T>, std::pair, std::array          an array
//   std::map<std::string, T>                       an object with a key for each entry
//   std::optional<T>                               absent if it is empty
//   std::variant<T...>                             its active alternative
// v.part(f.numbers) describes a struct, or an optional one, whose fields stand beside the others in JSON. A
// JSON object may stand there, too; its keys are not listed.

/// The description of one field of a report.
struct FieldDoc {
  std::string path;       // keys from the top, "quarters.mean[].rows": [] is an entry of a list, * any key
  std::string type;       // "integer", "number", "boolean", "text", "list", "object" or "any"
  std::string doc;        // the sentence of describe()
  bool optional = false;  // may be absent
};

namespace detail {

/// A visitor that does nothing. It tests whether a type has describe().
struct FieldProbe {
  void section(const std::string&) {}
  template <class... A>
  void operator()(A&&...) {}
  template <class P>
  void part(P&) {}
};

template <class T>
concept Described = requires(T& value, FieldProbe& probe) {
  describe(value, probe);
};

template <class T>
concept NamedEnum = std::is_enum_v<T> && requires(T value) {
  std::string_view(name_of(value));
};

template <class T, template <class...> class Of>
inline constexpr bool kIs = false;
template <class... A, template <class...> class Of>
inline constexpr bool kIs<Of<A...>, Of> = true;

template <class T>
nlohmann::json field_json(T& value);

/// Writes the fields of a report into a JSON object.
struct FieldWriter {
  nlohmann::json& out;

  void section(const std::string&) {}
  template <class T, class... More>
  void operator()(const char* name, T& field, More&&...) {
    if constexpr (kIs<T, std::optional>) {
      if (field) out[name] = field_json(*field);
    } else {
      out[name] = field_json(field);
    }
  }
  template <class P>
  void part(P& fields) {
    if constexpr (std::is_same_v<P, nlohmann::json>)
      out.update(fields);
    else if constexpr (!kIs<P, std::optional>)
      describe(fields, *this);
    else if (fields)
      describe(*fields, *this);
  }
};

template <class T>
nlohmann::json field_json(T& value) {
  if constexpr (Described<T>) {
    nlohmann::json out = nlohmann::json::object();
    FieldWriter writer{out};
    describe(value, writer);
    return out;
  } else if constexpr (NamedEnum<T>) {
    return name_of(value);
  } else if constexpr (kIs<T, std::variant>) {
    return std::visit([](auto& one) { return field_json(one); }, value);
  } else if constexpr (kIs<T, std::vector>) {
    nlohmann::json out = nlohmann::json::array();
    for (auto&& one : value) out.push_back(field_json(one));
    return out;
  } else if constexpr (kIs<T, std::map>) {
    nlohmann::json out = nlohmann::json::object();
    for (auto& [key, one] : value) out[key] = field_json(one);
    return out;
  } else {
    return value;
  }
}

/// Collects the numbers of a report.
struct NumberCollector {
  std::map<std::string, double>& out;

  void section(const std::string&) {}
  template <class T, class... More>
  void operator()(const char* name, T& field, More&&...) {
    if constexpr (std::is_same_v<T, double>) out[name] = field;
    if constexpr (std::is_same_v<T, std::optional<double>>)
      if (field) out[name] = *field;
  }
  template <class P>
  void part(P& fields) {
    if constexpr (std::is_same_v<P, nlohmann::json>)
      return;
    else if constexpr (!kIs<P, std::optional>)
      describe(fields, *this);
    else if (fields)
      describe(*fields, *this);
  }
};

/// Returns the name of the type T of a field, as FieldDoc::type has it.
template <class T>
const char* field_type() {
  if constexpr (kIs<T, std::optional>) return field_type<typename T::value_type>();
  if constexpr (std::is_same_v<T, nlohmann::json>) return "any";
  if constexpr (std::is_same_v<T, bool>) return "boolean";
  if constexpr (std::is_integral_v<T>) return "integer";
  if constexpr (std::is_floating_point_v<T>) return "number";
  if constexpr (std::is_convertible_v<T, std::string_view> || NamedEnum<T>) return "text";
  if constexpr (kIs<T, std::vector> || kIs<T, std::pair>) return "list";
  if constexpr (Described<T> || kIs<T, std::map>) return "object";
  return "any";
}

/// Lists the fields of a report. A key that two of its parts have, for different kinds of a model, stands
/// once.
struct FieldLister {
  std::vector<FieldDoc>& out;
  std::string before;         // the path of the object with the fields
  bool all_optional = false;  // the fields may be absent together

  void section(const std::string&) {}
  template <class T, class... More>
  void operator()(const char* name, T&, std::string doc, More&&...) {
    std::string path = before + name;
    for (const FieldDoc& known : out)
      if (known.path == path) return;
    out.push_back({path, field_type<T>(), std::move(doc), all_optional || kIs<T, std::optional>});
    list<T>(path);
  }
  template <class P>
  void part(P&) {
    if constexpr (std::is_same_v<P, nlohmann::json>) {
      return;
    } else if constexpr (kIs<P, std::optional>) {
      typename P::value_type fields{};
      FieldLister lister{out, before, true};
      describe(fields, lister);
    } else {
      P fields{};
      describe(fields, *this);
    }
  }

 private:
  /// Lists the fields of the objects that a value of type T holds.
  template <class T>
  void list(const std::string& path) {
    if constexpr (Described<T>) {
      T fields{};
      FieldLister lister{out, path + "."};
      describe(fields, lister);
    } else if constexpr (kIs<T, std::optional>) {
      list<typename T::value_type>(path);
    } else if constexpr (kIs<T, std::vector>) {
      list<typename T::value_type>(path + "[]");
    } else if constexpr (kIs<T, std::map>) {
      list<typename T::mapped_type>(path + ".*");
    }
  }
};

}  // namespace detail

/// Returns a report as JSON: an object with the keys of its describe(), in which empty optional fields are
/// absent.
template <class R>
nlohmann::json fields_to_json(R report) {
  return detail::field_json(report);
}

/// Returns the floating-point fields of a report by key, those of its parts too, without empty ones and those
/// of nested objects. Use it to list or average the scores of a report whatever they are.
template <class R>
std::map<std::string, double> field_numbers(R report) {
  std::map<std::string, double> numbers;
  detail::NumberCollector collector{numbers};
  describe(report, collector);
  return numbers;
}

/// Returns the descriptions of every field of the report R and of the structs in it, in the order of
/// describe().
template <class R>
std::vector<FieldDoc> field_docs() {
  std::vector<FieldDoc> docs;
  R report{};
  detail::FieldLister lister{docs, ""};
  describe(report, lister);
  return docs;
}

/// Returns the descriptions as a table in Markdown, a line for each field.
SLIMBAYES_EXPORT std::string fields_table(const std::vector<FieldDoc>& docs);

}  // namespace slimbayes
