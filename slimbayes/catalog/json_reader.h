#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace slimbayes {

/// Reads the members of a JSON object from an untrusted file and checks each one. A function that reads
/// throws std::invalid_argument("[where] expected ...; received ...") if the member is absent, has the
/// wrong type or is out of bounds.
class JsonReader {
 public:
  /// `object` must outlive the reader. `where` says in error messages what is read. Throws
  /// std::invalid_argument unless `object` is a JSON object.
  JsonReader(const nlohmann::json& object, std::string where);

  bool has(const char* key) const { return object_.contains(key); }

  /// Returns the member `key`, which must be a whole number in [low, high].
  int64_t count(const char* key, int64_t low, int64_t high) const;
  double number(const char* key) const;  // must be finite
  std::string text(const char* key) const;
  std::vector<std::string> texts(const char* key) const;

  /// Returns the member `key`, of any JSON type. Throws std::invalid_argument if it is absent.
  const nlohmann::json& value(const char* key) const;

 private:
  void check_type(bool ok, const char* key, const std::string& expected, const nlohmann::json& value) const;

  const nlohmann::json& object_;
  std::string where_;
};

}  // namespace slimbayes
