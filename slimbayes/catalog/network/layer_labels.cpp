#include "slimbayes/catalog/network/layer_labels.h"

#include <fmt/format.h>

#include <variant>

namespace slimbayes {

namespace {

using Labels = std::map<std::string, std::string>;

/// Returns what a person calls a layer of this kind; "" for a layer without matrices.
std::string spoken(const LayerSpec& layer) {
  if (std::holds_alternative<Conv2d>(layer)) return "conv";
  for (const char* kind : {Linear::kind, Embedding::kind, Lstm::kind, Attention::kind})
    if (kind_of(layer) == kind) return kind;
  return "";
}

/// Labels the layers of a chain whose layers are named NAME.0, NAME.1, ... `before` precedes each label.
void label_chain(const std::vector<LayerSpec>& layers, const std::string& name, const std::string& before,
                 Labels& labels) {
  std::map<std::string, int> count;
  int stage = 0, block = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string own = fmt::format("{}.{}", name, i);
    if (const auto* residual = std::get_if<Residual>(&layers[i])) {
      const bool begins = stage == 0 || !residual->shortcut.empty();
      stage += begins ? 1 : 0;
      block = begins ? 0 : block + 1;
      const std::string inside = fmt::format("{}layer{}.{}.", before, stage, block);
      label_chain(residual->body, own, inside, labels);
      int shortcuts = 0;
      for (size_t j = 0; j < residual->shortcut.size(); ++j)
        if (!spoken(residual->shortcut[j]).empty())
          labels[fmt::format("{}.shortcut.{}", own, j)] = fmt::format("{}downsample{}", inside, ++shortcuts);
      continue;
    }
    const std::string kind = spoken(layers[i]);
    if (!kind.empty()) labels[own] = fmt::format("{}{}{}", before, kind, ++count[kind]);
  }
}

}  // namespace

Labels layer_labels(const NetworkSpec& spec, const std::string& prefix) {
  Labels labels;
  label_chain(spec.layers, prefix, "", labels);
  if (!spec.layers.empty() && !spoken(spec.layers.back()).empty())
    labels[fmt::format("{}.{}", prefix, spec.layers.size() - 1)] = "output";
  return labels;
}

}  // namespace slimbayes
