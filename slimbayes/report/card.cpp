#include "slimbayes/report/card.h"

#include <fmt/format.h>

#include "slimbayes/data/table/cell.h"

namespace slimbayes {
namespace {

using nlohmann::json;

/// Appends the options whose values differ from the defaults.
void add_changed(const std::vector<OptionDoc>& docs, const json& values, json& out) {
  for (const OptionDoc& doc : docs) {
    const auto found = values.find(doc.name);
    if (found == values.end() || *found == doc.fallback || doc.name == "target") continue;
    out.push_back({{"name", doc.name}, {"value", *found}, {"fallback", doc.fallback}});
  }
}

json columns_of(const InputEncoder& encoder) {
  json columns = json::array();
  const auto add = [&](const Encoder& rows) {
    for (const Encoder::Feature& feature : rows.columns())
      columns.push_back(
          {{"name", feature.name}, {"kind", kind_name(feature.kind)}, {"dropped", name_of(feature.dropped)}});
  };
  if (const auto* rows = std::get_if<Encoder>(&encoder)) add(*rows);
  if (const auto* windows = std::get_if<WindowEncoder>(&encoder)) add(windows->rows());
  if (const auto* text = std::get_if<TextEncoder>(&encoder))
    columns.push_back({{"name", text->options().column}, {"kind", "text"}, {"dropped", ""}});
  return columns;
}

json rows_of_parts(const Model& model) {
  const SplitRows& split = model.split();
  if (split.train.empty()) return {{"training", model.fitted().summary().rows}};
  return {{"training", split.train.size()},
          {"validation", split.valid.size()},
          {"calibration", split.calibration.size()},
          {"test", split.test.size()}};
}

}  // namespace

json card_facts(const Model& model) {
  const MethodInfo& info = find_method(model.method());
  const Task& task = model.schema().task;
  json options = json::array();
  add_changed(options_of(info, model.options()), model.options(), options);
  add_changed(option_docs<FitOptions>(), options_to_json(model.fit_options()), options);
  const int64_t groups = model.calibration().groups;
  const bool classes = task.kind == TaskKind::classification;
  return {{"method", model.method()},
          {"summary", info.summary},
          {"task", name_of(task.kind)},
          {"likelihood", name_of(task.likelihood)},
          {"input", name_of(kind_of(model.encoder()))},
          {"target", model.target()},
          {"rows", rows_of_parts(model)},
          {"columns", columns_of(model.encoder())},
          {"options", options},
          {"calibration", groups == 0
                              ? ""
                              : fmt::format("conformal {} from {}", classes ? "sets of classes" : "intervals",
                                            counted(groups, "different calibration input"))},
          {"noise", model.noise().notes}};
}

}  // namespace slimbayes
