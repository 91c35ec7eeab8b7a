#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace slimbayes {

/// The members of a JSON object of a file, none of which is believed before it is checked. What is absent, of
/// another type or out of bounds throws std::invalid_argument("[where] expected ...; received ...").
class JsonReader {
 public:
  /// Throws unless `object` is one; it must outlive the reader.
  JsonReader(const nlohmann::json& object, std::string where);

  bool has(const char* key) const { return object_.contains(key); }

  /// A whole number in [low, high].
  int64_t count(const char* key, int64_t low, int64_t high) const;
  double number(const char* key) const;  // finite
  std::string text(const char* key) const;
  std::vector<std::string> texts(const char* key) const;

  /// Any value. Throws where there is none.
  const nlohmann::json& value(const char* key) const;

 private:
  void check_type(bool ok, const char* key, const std::string& expected, const nlohmann::json& value) const;

  const nlohmann::json& object_;
  std::string where_;
};

}  // namespace slimbayes
