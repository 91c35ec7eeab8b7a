// fit_model: turns a user's examples into a model. The stages, in order, and their files:
//
//   resolve_fit      makes every choice that the options leave open, and checks the request   (resolved_fit)
//   deal_examples    divides the examples into training, validation, calibration and test     (fit_split)
//   encode_examples  fits the encoder; encodes training and validation examples               (fit_encoding)
//   fitted_method    fits the method, tunes it if requested; estimates the noise variance     (here)
//                    by cross-fitting if the validation rows do not determine it reliably
//   parts_of_model   collects the parts of the model                                          (here)
//   calibrated       scores the calibration examples with the model                           (here)
//
// A fit can take the trained network of an earlier model (--network-from) instead of training one. It runs
// the same stages; network_at_hand.h gives them what they take from the earlier model.
#include "slimbayes/fit/fit_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>

#include "slimbayes/answers/calibration/group_calibration.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/data/calibration_cells.h"
#include "slimbayes/data/rows/row_hash.h"
#include "slimbayes/data/stream/streamed_rows.h"
#include "slimbayes/fit/fit_encoding.h"
#include "slimbayes/fit/fit_notes.h"
#include "slimbayes/fit/fit_resolved.h"
#include "slimbayes/fit/fit_split.h"
#include "slimbayes/fit/left_out.h"
#include "slimbayes/fit/network_at_hand.h"
#include "slimbayes/fit/noise_folds.h"
#include "slimbayes/fit/parallel.h"
#include "slimbayes/fit/stream_training.h"
#include "slimbayes/fit/tuning.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/model/example_uniforms.h"
#include "slimbayes/model/model_weights.h"
#include "slimbayes/model/series/adaptive_state.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/failure.h"
#include "slimbayes/train/job_ranks.h"

namespace slimbayes {

namespace {

/// A fitted method, the report of its tuning (empty if it was not tuned), and the estimate of its noise.
struct FittedMethod {
  std::shared_ptr<const Fitted> fitted;
  std::optional<TuningReport> tuning;
  NoiseEstimate noise;
};

/// Fits the method. If the request asks for tuning, fits every combination of the tuned options and keeps the
/// best fit. If the validation rows do not determine the noise variance reliably, estimates it by
/// cross-fitting; the method's noise variance is then at least this estimate. A fit that takes the network of
/// an earlier model also uses at least the noise variance that was cross-fitted for that model. `grouped` is
/// DealtExamples::grouped.
FittedMethod fitted_method(const ResolvedFit& request, const Method& method, const FitData& data,
                           const EncodedExamples& encoded, bool grouped, FitContext context) {
  const FitOptions& fit = request.fit;
  const NetworkStart start = network_start(request, data, encoded.parts.valid.size());
  context.start = start.network;
  context.valid_unseen = start.valid_unseen;
  const auto main = [&](const FitContext& own) -> Tuned {
    if (!fit.tune.empty()) return tune(*request.method, request.options, fit.tune, encoded.parts, own);
    return {request.options, method.fit(encoded.parts, own), {}};
  };
  // A method that scores its own held-out rows has calibrated its answers with them.
  if (request.method->most_fold_rows > 0) {
    Tuned made = main(context);
    return {std::move(made.fitted), std::move(made.report), {}};
  }
  const bool around = start.network != nullptr;
  const NoiseFolds folds{.folds = fit.noise_folds,
                         .grouped = grouped,
                         .deal = Stream(fit.split_seed).split("noise"),
                         .possible = request.kind == InputKind::table && !around,
                         .noun = noun_of(request.kind),
                         .splits = !around,
                         .known = start.noise_rows,
                         .options = fit.tune.empty() ? request.options : nlohmann::json()};
  CrossFitted made = fit_with_noise_folds(*request.method, main, encoded.parts, folds, context);
  FittedMethod out{std::move(made.main.fitted), std::move(made.main.report), std::move(made.noise)};
  if (start.noise.var > out.noise.var) out.noise = start.noise;
  if (auto raised = out.fitted->with_noise(out.noise.var)) out.fitted = std::move(raised);
  return out;
}

/// Returns one hash per row of `part` (row_hashes), which covers both the row's cells as the user gave them
/// and its encoding. `part` holds the encodings of the examples with the indices `places`; nullptr: of all
/// examples.
std::vector<int64_t> hashes_by_cells(const InputEncoder& encoder, const Examples& examples,
                                     const std::vector<int64_t>* places, const Dataset& part) {
  std::vector<uint64_t> cells = cell_hashes(encoder, examples);
  if (places == nullptr) return row_hashes(part, cells);
  std::vector<uint64_t> of_part;
  for (int64_t place : *places) of_part.push_back(cells[static_cast<size_t>(place)]);
  return row_hashes(part, of_part);
}

/// Returns one hash for each row that the posterior contains, sorted (ModelParts::learned). Model::without
/// needs them to check that the model has learned the rows it is to forget. Call it only for a method that
/// can be updated (MethodInfo::updates).
std::vector<int64_t> learned_rows(const ResolvedFit& request, const FitData& data,
                                  const EncodedExamples& encoded, const Fitted& fitted) {
  const Split& parts = encoded.parts;
  const SplitRows& split = encoded.split;
  std::vector<int64_t> learned = hashes_by_cells(*encoded.encoder, data.examples, &split.train, parts.train);
  // With the option `refit`, the method trains a second time on the training and validation rows together. If
  // it stopped before that, it has learned the training rows only.
  const bool refit = request.options.value("refit", false) &&
                     fitted.summary().rows == parts.train.size() + parts.valid.size();
  if (refit) {
    const std::vector<int64_t> more =
        data.valid != nullptr
            ? hashes_by_cells(*encoded.encoder,
                              validation_examples(*data.valid, *encoded.encoder, request.fit), nullptr,
                              parts.valid)
            : hashes_by_cells(*encoded.encoder, data.examples, &split.valid, parts.valid);
    std::ranges::copy(more, std::back_inserter(learned));
  }
  std::ranges::sort(learned);
  return learned;
}

/// Collects the parts of the model. Its calibration stays empty; calibrated() adds it.
ModelParts parts_of_model(const ResolvedFit& request, const FitData& data, EncodedExamples encoded,
                          FittedMethod made) {
  ModelParts parts;
  if (request.method->updates && !request.streamed)
    parts.learned = learned_rows(request, data, encoded, *made.fitted);
  parts.method = request.method->name;
  parts.options = stored_json(made.fitted->save(), "options");  // all of them, with values set from the rows
  parts.fit = request.fit;
  parts.encoder = std::move(encoded.encoder);
  parts.fitted = std::move(made.fitted);
  parts.split = std::move(encoded.split);
  parts.data_hash = request.streamed ? request.streamed->table().hash : data.hash;
  parts.probes = encoded.probes;
  parts.pixel_mean = encoded.pixel_mean;
  parts.tuning = std::move(made.tuning);
  parts.noise = std::move(made.noise);
  parts.device = request.device;
  return parts;
}

/// Adds the conformal scores of the calibration examples `held_out` to the parts of `model`, and their groups
/// by FitOptions::calibrate_by. inputs[i] is the same number for examples with identical inputs. The scores
/// are computed from answers in the target's units, as intervals are later, so that both have the same
/// rounding errors. `grouped`: see conformal_weight_of().
void add_calibration(const Model& model, const Examples& held_out, const std::vector<int64_t>& inputs,
                     bool grouped, ModelParts& parts) {
  const FitOptions& fit = model.fit_options();
  const Predictive p = model.answer(held_out);
  const at::Tensor y = target_as_given(model.encoder(), held_out);
  const at::Tensor given = scored_weights(held_out, fit);
  const ConformalWeight kind = conformal_weight_of(fit, grouped);
  const auto* regression = std::get_if<Regression>(&p);
  const at::Tensor u =
      regression != nullptr ? at::Tensor() : example_uniforms(dataset_of(model.encoder(), held_out, false));
  const auto scores = [&](const std::vector<int64_t>& groups, const at::Tensor& weight) {
    return regression != nullptr ? conformal_scores(*regression, y, groups, weight)
                                 : sorted_scores(set_scores(std::get<Classes>(p), y, u), groups, weight);
  };
  parts.calibration = scores(inputs, given.defined() ? conformal_weights(given, inputs, kind) : given);
  if (fit.calibrate_by.empty()) return;
  std::vector<int64_t> rows(inputs.size());
  std::iota(rows.begin(), rows.end(), 0);
  // Groups of one row each are numbered as the rows are: this is the row of each score, in their order.
  const at::Tensor order = scores(rows, {}).group;
  parts.by_group = group_calibration(calibration_cells(held_out, fit), order, inputs, given, kind);
  parts.by_kind = calibration_kind(held_out, fit);
}

/// Returns the model made of these parts. With FitOptions::calibrate, first computes the conformal scores of
/// the calibration examples, whose groups are `groups`, and adds them to the parts; with "adaptive" also the
/// state that has gone through them in the order of time.
Model calibrated(ModelParts parts, const Examples& examples, const std::vector<int64_t>& groups,
                 bool grouped) {
  if (parts.fit.calibrate == "none") return Model(std::move(parts));
  const Examples held_out = take(examples, parts.split.calibration);
  add_calibration(Model(parts), held_out, groups, grouped, parts);
  if (parts.fit.calibrate == "adaptive")
    parts.adaptive = advanced({}, scores_in_time(Model(parts), held_out));
  return Model(std::move(parts));
}

/// Returns what tells the callback (may be nullptr) the share of the files that is encoded, from time to
/// time.
std::function<void(double)> told_to(Callback* callback) {
  if (callback == nullptr) return {};
  return [callback, told = -1.0](double share) mutable {
    if (callback->stop()) throw Interrupted("interrupted while the rows were encoded");
    if (share < told + 0.05) return;
    told = share;
    callback->stage(fmt::format("{:.0f} % of the rows encoded", 100 * share));
  };
}

/// Makes the fit, as fit_resolved() does, of data whose examples all have a weight above 0.
Model fit_weighted(const ResolvedFit& request, const FitData& given, Callback* callback,
                   CheckpointPolicy checkpoint, NetworkCache* networks) {
  const bool as_jobs = request.ranks != nullptr && shared_by_ranks(request) == Parallel::jobs;
  const std::unique_ptr<Method> method = registry_row(request.method->name).make(request.options);
  DealtExamples dealt = deal_examples(request, given);
  FitData data = given;
  std::optional<Examples> valid;
  PositiveExamples own;
  // Windows are found first (validation_examples): the others may see a row of weight 0.
  if (data.valid != nullptr && request.kind != InputKind::windows)
    own = positive_validation(*data.valid, request.fit);
  if (own.some) data.valid = &*own.some;
  if (data.valid != nullptr && request.kind == InputKind::table && request.fit.wild_cells == "leave-out")
    valid = without_wild_rows(*data.valid, request.fit, dealt.split.notes);
  if (valid) data.valid = &*valid;
  if (request.streamed) check_streams(request);
  EncodedExamples encoded = encode_examples(request, data, std::move(dealt.split), told_to(callback));
  for (const std::string& note : notes_before_training(*encoded.encoder, encoded.split)) {
    if (callback) callback->note(note);
  }
  const ThreadScope threads(request.threads);
  std::optional<JobRanks> job_ranks;
  if (as_jobs) job_ranks.emplace(*request.ranks);
  if (as_jobs && job_ranks->is_worker()) checkpoint = {};  // rank 0 keeps the files
  if (as_jobs && callback != nullptr)
    callback->note(fmt::format("{} processes share the fits (`.parallel=jobs`)", job_ranks->size()));
  FitContext context{
      .stream = Stream(request.fit.seed),
      .callback = callback,
      .checkpoint = std::move(checkpoint),
      .networks = networks,
      .ranks = as_jobs ? nullptr : request.ranks.get(),
      .job_ranks = as_jobs ? &*job_ranks : nullptr,
      .workers = request.streamed ? 1 : request.workers,  // they would share one window of rows
      .device = request.device_of_method(),
      .execution = request.fit.engine == "libtorch" ? Execution::libtorch : Execution::engine,
      .wild_share = dealt.wild_share};
  if (const double limit = request.options.value("time_limit", 0.0); limit > 0)
    context.until = request.began + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                        std::chrono::duration<double>(limit));
  // Beside the training also what follows it on the device: features and sums of a posterior.
  const ReproducibleDevice reproducible(context.device, [callback](const std::string& note) {
    if (callback != nullptr) callback->note(note);
  });
  FittedMethod made = fitted_method(request, *method, data, encoded, dealt.grouped, std::move(context));
  const std::vector<int64_t> wild = made.fitted->wild_rows();
  ModelParts parts = parts_of_model(request, data, std::move(encoded), std::move(made));
  if (const auto* table = std::get_if<Table>(&data.examples); table != nullptr && !wild.empty()) {
    std::vector<int64_t> rows;
    for (const int64_t i : wild) rows.push_back(parts.split.train[static_cast<size_t>(i)]);
    parts.split.notes.push_back(wild_rows_note(*table, request.fit.target, rows));
  }
  const std::vector<int64_t>& groups = dealt.calibration_groups;
  const bool repeated = std::set<int64_t>(groups.begin(), groups.end()).size() < groups.size();
  return calibrated(std::move(parts), data.examples, groups, dealt.grouped || repeated);
}

}  // namespace

Model fit_resolved(const ResolvedFit& request, const FitData& given, Callback* callback,
                   CheckpointPolicy checkpoint, NetworkCache* networks) {
  check_device_of_ranks(request.device, request.ranks != nullptr);
  if (const std::string note = device_note(request); callback != nullptr && !note.empty())
    callback->note(note);
  const auto fit = [&](const FitData& data) {
    return with_memory_of(request.device_of_method(), "fit", [&] {
      return fit_weighted(request, data, callback, std::move(checkpoint), networks);
    });
  };
  PositiveExamples positive = positive_examples(given.examples, request.fit);
  if (!positive.some) return fit(given);
  const FitData data(given, *positive.some, positive.places);
  ModelParts parts = fit(data).parts();
  parts.split = among_all(std::move(parts.split), data.places);
  return Model(std::move(parts));
}

Model fit_model(const Examples& given, const FitOptions& fit, const Examples* valid, Callback* callback,
                CheckpointPolicy checkpoint, NetworkCache* networks) {
  const ResolvedFit request = resolve_fit(given, fit);
  if (request.kind == InputKind::windows && std::holds_alternative<Table>(given)) {
    const Examples windows = examples_of(given, fit);
    return fit_resolved(request, {windows, valid}, callback, std::move(checkpoint), networks);
  }
  return fit_resolved(request, {given, valid}, callback, std::move(checkpoint), networks);
}

}  // namespace slimbayes
