#include "slimbayes/catalog/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "slimbayes/catalog/dbk_options.h"
#include "slimbayes/catalog/dnn_options.h"
#include "slimbayes/catalog/gp_exact_options.h"
#include "slimbayes/catalog/nearest.h"

namespace slimbayes {
namespace {

// Options and their check go together: both come from the one describe() of O. The owner is the name that
// users type.
template <class O>
MethodInfo with_options(MethodInfo info, nlohmann::json (*resolve)(const nlohmann::json&)) {
  info.options = option_docs<O>();
  info.resolve = resolve;
  return info;
}

MethodInfo dbk() {
  MethodInfo info;
  info.name = "dbk";
  info.summary =
      "Deep basis kernel trained with dPPGP: calibrates the total variance; its split is not "
      "aleatoric/epistemic.";
  info.tasks = {"regression"};
  info.inputs = {"table"};
  info.paper = "N: deep basis kernels, sections 3 and 4, objective N-15";
  info.input_scale = "min-max";
  info.resumable = true;
  return with_options<DbkOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<DbkOptions>(given, "dbk"));
  });
}

MethodInfo dnn() {
  MethodInfo info;
  info.name = "dnn";
  info.aliases = {"map", "deterministic"};
  info.summary =
      "The same backbone trained on squared error, with one noise variance for all rows: the baseline.";
  info.tasks = {"regression"};
  info.inputs = {"table"};
  info.paper = "N: deep basis kernels, appendix B (baseline DNN)";
  info.input_scale = "min-max";
  info.resumable = true;
  return with_options<DnnOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<DnnOptions>(given, "dnn"));
  });
}

MethodInfo gp_exact() {
  MethodInfo info;
  info.name = "gp-exact";
  info.summary =
      "Dense Gaussian process with an ARD RBF kernel: the reference on small tables (time n^3, memory n^2).";
  info.tasks = {"regression"};
  info.inputs = {"table"};
  info.paper = "N: deep basis kernels, section 2 (exact GP regression)";
  info.input_scale = "standard";
  info.seeded = false;
  info.splits_uncertainty = true;
  info.variance_grows_away = true;
  return with_options<GpExactOptions>(std::move(info), [](const nlohmann::json& given) {
    return options_to_json(options_from_json<GpExactOptions>(given, "gp-exact"));
  });
}

}  // namespace

std::span<const MethodInfo> method_catalog() {
  static const std::vector<MethodInfo> catalog = {dbk(), dnn(), gp_exact()};
  return catalog;
}

const MethodInfo& find_method(std::string_view name) {
  std::vector<std::string> known;
  for (const MethodInfo& info : method_catalog()) {
    known.push_back(info.name);
    known.insert(known.end(), info.aliases.begin(), info.aliases.end());
    if (info.name == name || std::ranges::find(info.aliases, name) != info.aliases.end()) return info;
  }
  throw std::invalid_argument(fmt::format("[find_method] expected the name of a method; received '{}'; {}",
                                          name.substr(0, 80), nearest_hint(name, known)));
}

}  // namespace slimbayes
