#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "slimbayes/catalog/fields.h"

namespace slimbayes {

namespace detail {

template <class T>
T field_from_json(const nlohmann::json& value);

/// Reads the fields of a report from a JSON object.
struct FieldReader {
  const nlohmann::json& from;
  bool complete = true;  // every field that is not optional was there

  void section(const std::string&) {}
  template <class T, class... More>
  void operator()(const char* name, T& field, More&&...) {
    const auto found = from.find(name);
    if constexpr (kIs<T, std::optional>) {
      field.reset();
      if (found != from.end()) field = field_from_json<typename T::value_type>(*found);
    } else if (found != from.end()) {
      field = field_from_json<T>(*found);
    } else {
      complete = false;
    }
  }
  template <class P>
  void part(P& fields) {
    if constexpr (kIs<P, std::optional>) {
      typename P::value_type own{};
      FieldReader reader{from};
      describe(own, reader);
      fields.reset();
      if (reader.complete) fields = std::move(own);
    } else {
      describe(fields, *this);
    }
  }
};

template <class T>
T field_from_json(const nlohmann::json& value) {
  if constexpr (Described<T>) {
    T report{};
    FieldReader reader{value};
    describe(report, reader);
    if (!reader.complete) throw std::logic_error("[fields_from_json] expected every field of the report");
    return report;
  } else if constexpr (kIs<T, std::vector>) {
    T list;
    for (const nlohmann::json& one : value) list.push_back(field_from_json<typename T::value_type>(one));
    return list;
  } else if constexpr (kIs<T, std::map>) {
    T map;
    for (const auto& [key, one] : value.items())
      map.emplace(key, field_from_json<typename T::mapped_type>(one));
    return map;
  } else {
    return value.get<T>();
  }
}

}  // namespace detail

/// Returns the report that fields_to_json() made this JSON of. Use it for a report that another process of
/// the same version has sent. An optional part is there if all fields that it must have are, so it needs one
/// that no other part has. Enums, variants and JSON in the place of a part are not read. Throws
/// std::logic_error if a field is missing, and what the JSON library throws for one of another type.
template <class R>
R fields_from_json(const nlohmann::json& json) {
  return detail::field_from_json<R>(json);
}

}  // namespace slimbayes
