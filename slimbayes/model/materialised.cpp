#include "slimbayes/model/materialised.h"

#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/check.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/last_layer/dnn_options.h"

namespace slimbayes {

namespace {

constexpr const char* kDnn = "dnn";

/// Returns the options of dnn, with the values of those that `given` has.
nlohmann::json options_of_dnn(const nlohmann::json& given) {
  nlohmann::json options = options_to_json(DnnOptions{});
  for (const auto& item : options.items())
    if (given.contains(item.key())) item.value() = given.at(item.key());
  return options;
}

}  // namespace

Model materialised(const Model& model, int64_t draw) {
  check_options(ExportOptions{draw}, "export");
  const std::shared_ptr<const TrainedNetwork> network = model.fitted().network_of(draw);
  if (network == nullptr)
    refuse("export", "a model with random weights", model.method(),
           "fit one of bbb, full-rank, rank-1, low-rank, fid-gp or their relatives");
  const TaskKind task = model.schema().task.kind;
  if (std::ranges::find(find_method(kDnn).tasks, task) == find_method(kDnn).tasks.end())
    refuse("export", "a model of a task that dnn takes", std::string(name_of(task)));
  ModelParts parts = model.parts();
  parts.method = parts.fit.method = kDnn;
  parts.options = parts.fit.options = options_of_dnn(model.options());
  parts.calibration = {};
  parts.adaptive.reset();
  parts.by_group = {};
  parts.fit.calibrate_by = "";
  parts.tuning.reset();
  Summary summary = network->summary;
  summary.notes = {draw == 0 ? fmt::format("the weights are the centre of those of a {}", model.method())
                             : fmt::format("the weights are draw {} of those of a {}", draw, model.method())};
  parts.fitted = registry_row(kDnn).load(to_file(
      NetworkFile{parts.options, network->head, network->spec, network->weights, std::move(summary)}));
  return Model(std::move(parts));
}

}  // namespace slimbayes
