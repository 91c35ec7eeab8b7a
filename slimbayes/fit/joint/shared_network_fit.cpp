#include "slimbayes/fit/joint/shared_network_fit.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "slimbayes/catalog/trained_network_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/data/rows/row_tensors.h"
#include "slimbayes/fit/fit_data.h"
#include "slimbayes/fit/fit_encoding.h"
#include "slimbayes/fit/fit_split.h"
#include "slimbayes/fit/left_out.h"
#include "slimbayes/train/failure.h"

namespace slimbayes {

namespace {

constexpr std::string_view kShareOption = "share_network";
using RowPlaces = std::vector<int64_t>;

/// The rows that the fit of one target trains on and validates on: of the whole table, the latter of separate
/// validation data if there are any.
struct OwnRows {
  ResolvedFit request;
  RowPlaces train, valid;
};

RowPlaces picked(const RowPlaces& from, const RowPlaces& at) {
  RowPlaces out;
  for (const int64_t i : at) out.push_back(from[static_cast<size_t>(i)]);
  return out;
}

OwnRows own_rows(const Table& table, const Table* valid, TargetFit fit) {
  const FitData data(fit.examples, fit.valid ? &*fit.valid : nullptr);
  const SplitRows dealt = deal_examples(fit.request, data).split;
  const RowPlaces known = known_rows(table, fit.request.fit.target).places;
  OwnRows out{std::move(fit.request), picked(known, dealt.train), picked(known, dealt.valid)};
  if (valid != nullptr) out.valid = own_valid_rows(*valid, out.request.fit);
  return out;
}

/// Returns the rows that at least one target has in this part, ascending.
RowPlaces rows_of_any(const std::vector<OwnRows>& targets, RowPlaces OwnRows::*part) {
  RowPlaces all;
  for (const OwnRows& one : targets) all.insert(all.end(), (one.*part).begin(), (one.*part).end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Encodes these rows of a table; `weights` [n] are those of all its rows, or undefined.
Dataset encoded_rows(const Table& table, const std::vector<OwnRows>& targets, RowPlaces OwnRows::*part,
                     const std::vector<std::shared_ptr<const InputEncoder>>& encoders,
                     const at::Tensor& weights) {
  const RowPlaces any = rows_of_any(targets, part);
  if (any.empty()) return {};
  const Dataset inputs = dataset_of(*encoders.front(), take_rows(table, any), false);
  Batch all = inputs.all();
  all.target =
      at::full({std::ssize(any), std::ssize(targets)}, std::numeric_limits<double>::quiet_NaN(), at::kDouble);
  for (size_t t = 0; t < targets.size(); ++t) {
    const RowPlaces& own = targets[t].*part;
    const Examples rows = take_rows(table, own);
    check_targets(*encoders[t], rows);
    RowPlaces at;
    for (const int64_t row : own) at.push_back(std::ranges::lower_bound(any, row) - any.begin());
    const at::Tensor y =
        target_tensor(std::get<Table>(rows), target_of(*encoders[t]), schema_of(*encoders[t]).task);
    all.target.select(1, static_cast<int64_t>(t)).index_copy_(0, at::tensor(at, at::kLong), y);
  }
  Dataset out = dataset_of(inputs.schema, std::move(all));
  return weights.defined() ? weighted(out, weights.index_select(0, at::tensor(any, at::kLong))) : out;
}

/// Returns the names of the options that decide the training of the network.
std::vector<std::string> network_options(const MethodInfo& method) {
  std::vector<std::string> names;
  for (const OptionDoc& doc : option_docs<TrainedNetworkOptions>())
    if (std::ranges::find(method.trains_on, doc.name) == method.trains_on.end()) names.push_back(doc.name);
  return names;
}

}  // namespace

void check_shares_network(const ResolvedFit& request, TaskKind task) {
  const MethodInfo& method = *request.method;
  if (!method.takes_network)
    refuse(kShareOption, "a method that starts from a trained network", method.name,
           methods_that(&MethodInfo::takes_network) + " take one (`.method`)");
  check(task == TaskKind::regression, kShareOption, "a number as a target of a shared network", name_of(task),
        "leave `.share_network` out, or fit this target by itself");
  check(!request.options.value("refit", false), kShareOption, "a network that is trained once",
        "`.refit`, which trains it again", "leave one of the two out, or give `.refit=false` with a preset");
  check(request.fit.target_scale == "standard", kShareOption, "standardised targets, whose errors are alike",
        "`.target_scale=centred`", "leave one of the two out");
  for (const std::string& name : network_options(method))
    if (std::ranges::find(request.fit.tune, name) != request.fit.tune.end())
      refuse(kShareOption, "no option of the network among those that are tuned", fmt::format("`.{}`", name),
             "the network is trained once, before the tuning; give the option a value");
}

SharedRows shared_rows(const Table& table, const Table* valid, size_t targets,
                       const std::function<TargetFit(size_t)>& target) {
  std::vector<OwnRows> own;
  for (size_t t = 0; t < targets; ++t) {
    TargetFit fit = target(t);
    const std::string name = fit.request.fit.target;
    own.push_back(in_target(name, [&] { return own_rows(table, valid, std::move(fit)); }));
  }
  const FitOptions& fit = own.front().request.fit;
  const RowPlaces train = rows_of_any(own, &OwnRows::train);
  const Examples examples = table;
  const WeightsOfFit weights = weights_of_fit(examples, train, fit);
  SharedRows out;
  for (const OwnRows& one : own) {
    out.encoders.push_back(std::make_shared<const InputEncoder>(
        fit_encoder(examples, one.train, one.request.fit, one.request.scale, nullptr,
                    weights_that_differ(weights.of_examples, train), &train)));
    out.valid_rows.push_back(std::ssize(one.valid));
    internal_check(schema_of(*out.encoders.back()).features == schema_of(*out.encoders.front()).features,
                   "shared_rows", "the same inputs for every target");
  }
  out.parts.train = encoded_rows(table, own, &OwnRows::train, out.encoders, weights.of_examples);
  at::Tensor of_valid = weights.of_examples;
  if (valid != nullptr) {
    of_valid = row_weights(Examples(*valid), fit);
    if (of_valid.defined()) of_valid = of_valid / weights.scale;
  }
  out.parts.valid =
      encoded_rows(valid != nullptr ? *valid : table, own, &OwnRows::valid, out.encoders, of_valid);
  return out;
}

SharedNetwork train_on_rows(const SharedRows& rows, const ResolvedFit& first,
                            const CheckpointPolicy& checkpoint, Callback& callback) {
  nlohmann::json given = nlohmann::json::object();
  for (const OptionDoc& doc : option_docs<TrainedNetworkOptions>())
    if (first.options.contains(doc.name)) given[doc.name] = first.options.at(doc.name);
  auto options = options_from_json<TrainedNetworkOptions>(given, first.method->name);
  // The limit of a target is its share of the half that all targets have (target_fit).
  options.training.time_limit *= static_cast<double>(rows.encoders.size());
  const ThreadScope threads(first.threads);
  const FitContext context{
      .stream = Stream(first.fit.seed),
      .callback = &callback,
      .checkpoint = checkpoint,
      .device = first.device_of_method(),
      .execution = first.fit.engine == "libtorch" ? Execution::libtorch : Execution::engine};
  return with_memory_of(context.device, "fit", [&] {
    return train_shared_network(options, rows.parts, context, first.method->name);
  });
}

std::shared_ptr<const GivenNetwork> given_network(const SharedRows& rows, const SharedNetwork& network,
                                                  size_t target) {
  TrainedNetwork own = network_of_target(network, static_cast<int64_t>(target));
  own.summary.valid_rows = rows.valid_rows[target];
  return std::make_shared<const GivenNetwork>(
      GivenNetwork{rows.encoders[target], std::make_shared<const TrainedNetwork>(std::move(own)),
                   fmt::format("the network is shared by {} targets (`.share_network`), trained in {} steps "
                               "on {} rows",
                               rows.encoders.size(), network.summary.steps, network.summary.rows)});
}

void give(ResolvedFit& request, std::shared_ptr<const GivenNetwork> given) {
  SplitRows dealt = *request.dealt;
  dealt.network_note = given->note;
  request.dealt = std::make_shared<const SplitRows>(std::move(dealt));
  request.given = std::move(given);
}

}  // namespace slimbayes
