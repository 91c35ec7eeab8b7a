#include "slimbayes/catalog/method_facts.h"

#include "slimbayes/catalog/input_kind.h"

namespace slimbayes {

using nlohmann::json;

json option_facts(const OptionDoc& doc) {
  json facts = {{"name", doc.name},
                {"type", doc.type},
                {"default", doc.fallback},
                {"doc", doc.doc},
                {"source", doc.source}};
  if (doc.range) facts["range"] = {doc.range->low, doc.range->high};
  if (!doc.choices.empty()) facts["choices"] = doc.choices;
  if (!doc.grid.empty()) facts["grid"] = doc.grid;
  return facts;
}

namespace {

std::vector<std::string> task_names(const MethodInfo& info) {
  std::vector<std::string> names;
  for (TaskKind task : info.tasks) names.emplace_back(name_of(task));
  return names;
}

}  // namespace

std::vector<std::string> input_names(const MethodInfo& info) {
  std::vector<std::string> names;
  for (InputKind kind : info.inputs) names.emplace_back(name_of(kind));
  return names;
}

json method_facts(const MethodInfo& info, bool options) {
  json facts = {{"name", info.name},
                {"aliases", info.aliases},
                {"summary", info.summary},
                {"tasks", task_names(info)},
                {"inputs", input_names(info)},
                {"paper", info.paper},
                {"input_scale", info.input_scale},
                {"seeded", info.seeded},
                {"resumable", info.resumable},
                {"updates", info.updates},
                {"device", info.device},
                {"splits_uncertainty", info.parts == SdParts::calibrated},
                {"parts", meaning_of(info.parts)},
                {"variance_grows_away", info.variance_grows_away},
                {"inner", info.inner.empty() ? json() : json(info.inner)}};
  if (!options) return facts;
  facts["options"] = json::array();
  for (const OptionDoc& doc : info.options) facts["options"].push_back(option_facts(doc));
  facts["presets"] = json::object();
  facts["preset_notes"] = json::object();
  for (const Preset& preset : info.presets) {
    facts["presets"][preset.name] = preset.options;
    facts["preset_notes"][preset.name] = {{"notes", preset.notes}};
  }
  return facts;
}

}  // namespace slimbayes
