#include "slimbayes/data/stream/table_text.h"

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace slimbayes {

namespace {

template <class Number>
nlohmann::json binary_of(const std::vector<Number>& numbers) {
  std::vector<uint8_t> bytes(numbers.size() * sizeof(Number));
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return nlohmann::json::binary(std::move(bytes));
}

template <class Number>
std::vector<Number> numbers_of(const nlohmann::json& json) {
  const auto& bytes = json.get_binary();
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

}  // namespace

nlohmann::json as_json(const Table& table) {
  nlohmann::json columns = nlohmann::json::array();
  for (const Column& c : table.columns)
    columns.push_back({{"name", c.name},
                       {"kind", kind_name(c.kind)},
                       {"values", binary_of(c.values)},
                       {"levels", c.levels},
                       {"words", c.words},
                       {"large", c.large},
                       {"large_row", c.large_row},
                       {"offsets", c.offsets},
                       {"with_offset", c.with_offset},
                       {"without_offset", c.without_offset},
                       {"first_without", c.first_without}});
  return {{"rows", table.rows}, {"numbers", binary_of(table.numbers)}, {"columns", std::move(columns)}};
}

Table table_of(const nlohmann::json& json, std::string source) {
  Table table{std::move(source), {}, json.at("rows").get<int64_t>()};
  table.numbers = numbers_of<int64_t>(json.at("numbers"));
  for (const nlohmann::json& one : json.at("columns")) {
    Column c{one.at("name").get<std::string>(), kind_named(one.at("kind").get<std::string>()),
             numbers_of<double>(one.at("values")), one.at("levels").get<std::vector<std::string>>()};
    c.words = one.at("words").get<std::vector<std::string>>();
    c.large = one.at("large").get<std::string>();
    c.large_row = one.at("large_row").get<int64_t>();
    c.offsets = one.at("offsets").get<bool>();
    c.with_offset = one.at("with_offset").get<int64_t>();
    c.without_offset = one.at("without_offset").get<int64_t>();
    c.first_without = one.at("first_without").get<int64_t>();
    table.columns.push_back(std::move(c));
  }
  return table;
}

}  // namespace slimbayes
