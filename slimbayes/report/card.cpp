#include "slimbayes/report/card.h"

#include <fmt/format.h>

#include "slimbayes/data/table/cell.h"

namespace slimbayes {
namespace {

using nlohmann::json;

/// Appends the options whose values differ from the defaults.
void add_changed(const std::vector<OptionDoc>& docs, const json& values, std::vector<CardOption>& out) {
  for (const OptionDoc& doc : docs) {
    const auto found = values.find(doc.name);
    if (found == values.end() || *found == doc.fallback || doc.name == "target") continue;
    out.push_back({doc.name, *found, doc.fallback});
  }
}

std::vector<CardColumn> columns_of(const InputEncoder& encoder) {
  std::vector<CardColumn> columns;
  const auto add = [&](const Encoder& rows) {
    for (const Encoder::Feature& feature : rows.columns())
      columns.push_back({feature.name, std::string(kind_name(feature.kind)), name_of(feature.dropped)});
  };
  if (const auto* rows = std::get_if<Encoder>(&encoder)) add(*rows);
  if (const auto* windows = std::get_if<WindowEncoder>(&encoder)) add(windows->rows());
  if (const auto* text = std::get_if<TextEncoder>(&encoder))
    columns.push_back({text->options().column, "text", ""});
  return columns;
}

RowsOfParts rows_of_parts(const Model& model) {
  const SplitRows& split = model.split();
  if (split.train.empty()) return {model.fitted().summary().rows};
  return {train_rows(split), std::ssize(split.valid), std::ssize(split.calibration), std::ssize(split.test)};
}

}  // namespace

ModelCard card_facts(const Model& model) {
  const MethodInfo& info = find_method(model.method());
  const Task& task = model.schema().task;
  std::vector<CardOption> options;
  add_changed(options_of(info, model.options()), model.options(), options);
  add_changed(option_docs<FitOptions>(), options_to_json(model.fit_options()), options);
  const int64_t groups = model.calibration().groups;
  const bool classes = task.kind == TaskKind::classification;
  ModelCard card;
  card.method = model.method();
  card.summary = info.summary;
  card.task = name_of(task.kind);
  card.likelihood = name_of(task.likelihood);
  card.input = name_of(kind_of(model.encoder()));
  card.target = model.target();
  card.rows = rows_of_parts(model);
  card.columns = columns_of(model.encoder());
  card.options = std::move(options);
  if (groups > 0)
    card.calibration = fmt::format("conformal {} from {}", classes ? "sets of classes" : "intervals",
                                   counted(groups, "different calibration input"));
  if (const auto& adaptive = model.parts().adaptive)
    card.calibration = fmt::format("adaptive intervals after {}", counted(adaptive->seen, "target"));
  card.noise = model.noise().notes;
  return card;
}

}  // namespace slimbayes
