#include "slimbayes/serve/description.h"

#include <array>
#include <nlohmann/json.hpp>

namespace slimbayes::serve {

namespace {

using nlohmann::json;

ColumnType type_of(ColumnKind kind, bool text) {
  if (text) return ColumnType::text;
  switch (kind) {
    case ColumnKind::boolean:
      return ColumnType::boolean;
    case ColumnKind::categorical:
      return ColumnType::category;
    case ColumnKind::datetime:
      return ColumnType::time;
    default:
      return ColumnType::number;
  }
}

const char* name_of(ColumnType type) {
  constexpr std::array names = {"number", "boolean", "category", "time", "text"};
  return names[static_cast<size_t>(type)];
}

/// What the description has beside the columns: of windows, and of texts.
json facts_of(const ServedEncoder& encoder) {
  if (const auto* windows = std::get_if<WindowEncoder>(&encoder)) {
    const WindowOptions& o = windows->options();
    return {{"window",
             {{"rows", o.window},
              {"horizon", o.horizon},
              {"step", windows->step()},
              {"time", o.time},
              {"group", o.group},
              {"fill_gaps", o.fill_gaps}}}};
  }
  if (const auto* texts = std::get_if<TextEncoder>(&encoder))
    return {{"text", {{"longest", texts->options().longest}, {"tokens", texts->tokens()}}}};
  return json::object();
}

}  // namespace

std::vector<ColumnInfo> columns_in(const ServedEncoder& encoder, const InputCells& cells) {
  const bool text = std::holds_alternative<TextEncoder>(encoder);
  std::vector<ColumnInfo> columns;
  for (const Encoder::Feature& feature : columns_of(cells))
    columns.push_back({feature.name, type_of(feature.kind, text), feature.levels});
  return columns;
}

std::string description_of(const ServedFile& parts, const std::vector<ColumnInfo>& of_row) {
  const Task& task = schema_of(parts.encoder).task;
  json columns = json::array();
  for (const ColumnInfo& column : of_row) {
    json& one = columns.emplace_back(json{{"name", column.name}, {"type", name_of(column.type)}});
    if (column.type == ColumnType::category) one["levels"] = column.levels;
  }
  json all = {{"method", parts.method},
              {"task", slimbayes::name_of(task.kind)},
              {"target", target_of(parts.encoder)},
              {"calibrated", parts.calibration.groups > 0},
              {"columns", columns}};
  if (parts.notation.decimal != ".") all["decimal"] = parts.notation.decimal;
  all.update(facts_of(parts.encoder));
  if (task.kind == TaskKind::classification) {
    all["classes"] = task.levels;
    return all.dump();
  }
  if (task.bounds)
    all["bounds"] = bounds_json(task);
  else
    all.update({{"target_mean", task.y_shift}, {"target_sd", task.y_scale}});
  const bool apart = parts.epistemic || task.kind == TaskKind::counts;
  all["sd_parts"] = apart ? "aleatoric and epistemic" : "noise and function";
  return all.dump();
}

}  // namespace slimbayes::serve
