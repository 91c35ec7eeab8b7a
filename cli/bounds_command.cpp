#include <fmt/format.h>

#include <utility>

#include "cli/bounds_report.h"
#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "slimbayes/core/check.h"
#include "slimbayes/model/held_out.h"

namespace slimbayes::cli {
namespace {

/// Reads DATA and returns the rows of the bounds: a part of the data that were fitted on, or all other data.
BoundRows rows_of(const BoundsRequest& r, const Model& model) {
  std::vector<std::string> notes;
  Examples data = read_for(model, r.data, data_source(), /*with_target=*/true, &notes, {},
                           column_changes(r.rename, r.fill));
  for (const std::string& note : notes) log_note(note);
  std::string part = r.split;
  if (part.empty() && hash_of(data) == model.data_hash()) part = "train";
  if (!part.empty()) data = part_of(model, data, part);
  return {dataset_of(model.encoder(), data, /*with_target=*/true), part};
}

BoundFact pac_bayes_of(const BoundsRequest& r, const Model& model, const ModelNetwork& network,
                       const BoundRows& rows) {
  if (!network.plan)
    return without_bound(
        "pac_bayes", network.name,
        model.method() + " has no distribution of the weights; bbb, full-rank, low-rank and rank-1 have one");
  if (!network.file.head.is_classes() && r.clip == 0)
    return without_bound("pac_bayes", network.name,
                         "a loss in [0, 1] is needed: --clip C, the absolute error that counts as a full "
                         "failure, chosen without looking at the data");
  return bound_fact(certificate_of(model, network, rows, {r.delta, r.draws, r.tried, r.clip}), network.name);
}

BoundFact complexity_of_network(const BoundsRequest& r, const ModelNetwork& network, const BoundRows& rows) {
  const NetworkComplexity complexity = complexity_of(network, rows.rows, r.c0);
  if (!complexity.unknown.empty())
    return without_bound("gaussian_complexity", network.name,
                         complexity.unknown +
                             " is neither a matrix nor an activation (--network mlp has "
                             "nothing else)");
  return bound_fact(complexity, r.c0, network.name);
}

}  // namespace

int run_command(const BoundsRequest& r) {
  check_model_first("bounds", r.model, r.data);
  const Model model = load_model("bounds", r.model);
  log_interrupted(model);
  check(!model.schema().task.grid, "bounds", "a model whose examples have one answer", "one of segmentation",
        "its bounds would be those of pixels, which are not independent");
  const std::vector<ModelNetwork> networks = some_networks_of(model, "bounds");
  const BoundRows rows = rows_of(r, model);
  BoundsReport report{model.method(), rows.rows.size()};
  if (!rows.part.empty()) report.split = rows.part;
  for (const ModelNetwork& network : networks) {
    report.bounds.push_back(bound_fact(truncation_of(network, rows.rows, r.ranks)));
    report.bounds.push_back(pac_bayes_of(r, model, network, rows));
    report.bounds.push_back(complexity_of_network(r, network, rows));
  }
  if (r.json) {
    print(fields_to_json(std::move(report)));
    return kDone;
  }
  std::string text = fmt::format("{} {}rows\n", rows.rows.size(), rows.part.empty() ? "" : rows.part + " ");
  for (const BoundFact& bound : report.bounds) text += "\n" + bound_text(bound);
  print(text);
  return kDone;
}

}  // namespace slimbayes::cli
