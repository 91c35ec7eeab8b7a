#include "slimbayes/serve/input_cells.h"

#include <string_view>
#include <utility>

#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/density/conformal_rank.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

ServedEncoder served_encoder(const nlohmann::json& json) {
  check(json.is_object(), "serve", "an encoder", "another value", "the model file is damaged");
  if (!json.contains("kind")) return Encoder::from_json(json);
  const std::string kind = JsonReader(json, "serve").text("kind");
  if (kind == "windows") return WindowEncoder::from_json(json);
  if (kind == "text") return TextEncoder::from_json(json);
  refuse("serve", "a model of rows, windows or texts", "one of " + foreign_text(kind.substr(0, 40)),
         "`slimbayes predict` answers every model");
}

const Schema& schema_of(const ServedEncoder& encoder) {
  return std::visit([](const auto& one) -> const Schema& { return one.schema(); }, encoder);
}

const std::string& target_of(const ServedEncoder& encoder) {
  return std::visit([](const auto& one) -> const std::string& { return one.target_name(); }, encoder);
}

InputCells input_cells(const ServedEncoder& encoder, std::vector<std::string> missing,
                       const Notation& notation) {
  if (const auto* windows = std::get_if<WindowEncoder>(&encoder))
    return SingleWindowEncoder(*windows, std::move(missing), notation);
  if (const auto* texts = std::get_if<TextEncoder>(&encoder))
    return SingleTextEncoder(*texts, std::move(missing), notation);
  return RowEncoder(std::get<Encoder>(encoder), std::move(missing), notation);
}

const std::vector<Encoder::Feature>& columns_of(const InputCells& cells) {
  return std::visit(
      [](const auto& one) -> const auto& { return one.columns(); }, cells);
}

size_t cells_of(const InputCells& cells) {
  return std::visit([](const auto& one) { return one.cells(); }, cells);
}

size_t numbers_of(const InputCells& cells) {
  return std::visit([](const auto& one) { return one.numbers(); }, cells);
}

int64_t width_of(const InputCells& cells) {
  return std::visit([](const auto& one) { return one.width(); }, cells);
}

double uniform_of(const InputCells& cells, std::span<const float> x) {
  if (!std::holds_alternative<SingleTextEncoder>(cells)) return row_uniform(x);
  thread_local std::vector<int64_t> tokens;
  tokens.clear();
  for (const float one : x)
    if (one != static_cast<float>(kPadding)) tokens.push_back(static_cast<int64_t>(one));
  return row_uniform(
      std::string_view(reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(int64_t)));
}

}  // namespace slimbayes
