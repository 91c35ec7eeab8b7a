#include "slimbayes/fit/fit_encoding.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/data/input_scores.h"
#include "slimbayes/data/rows/repeated_inputs.h"
#include "slimbayes/data/stream/streamed_rows.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/fit/joint/shared_network_fit.h"
#include "slimbayes/fit/left_out.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/methods/deep_kernel/event_probes.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

/// Returns a note if validation rows have the same inputs as training rows, else an empty list. Call it for
/// separate validation data only: if the validation rows are a part of the training table, split_rows adds
/// such notes.
std::vector<std::string> repeated_notes(const Split& parts) {
  const int64_t rows = parts.valid.size();
  const int64_t repeated = repeated_inputs(parts.train.all().inputs.at(0), parts.valid.all().inputs.at(0));
  if (repeated == 0) return {};
  return {
      fmt::format("{} of {} validation rows have the inputs of a training row: their score says nothing of "
                  "new inputs",
                  repeated, rows)};
}

/// Returns the note on a calibration by examples that lie before those of a prediction, which may be unlike
/// them. The fit says so once; predict and evaluate do not repeat it for later rows, which are what the model
/// is for.
std::string calibrated_in_time(std::string_view examples) {
  return fmt::format(
      "calibrated on {} before those that will be predicted: the level holds where the future is like them",
      examples);
}

/// Throws std::invalid_argument if the method, or the method that it wraps (ensemble), cannot do the task
/// that the encoder found in the target's column. Also throws if calibration is requested for a task that
/// cannot be calibrated.
void check_task_asked(const Task& task, const ResolvedFit& request) {
  check_task(task, request.inner->name);
  check_task(task, request.method->name);
  if (task.bounds != bounds_named(request.fit.bounds))
    refuse(
        "fit",
        fmt::format("the bounds of the target with which the network was trained (`.network_from`), {}",
                    task.bounds ? task.bounds->in_words() : "none"),
        request.fit.bounds.empty() ? "none" : fmt::format("`.bounds={}`", foreign_text(request.fit.bounds)),
        "a network of another transform of the target does not fit");
  const bool calibrates = task.kind == TaskKind::regression || task.kind == TaskKind::classification;
  if (request.fit.calibrate != "none" && !calibrates)
    refuse("fit", "a regression or classes to calibrate", name_of(task.kind), "leave `.calibrate` out");
  if (request.fit.calibrate == "adaptive" && task.kind != TaskKind::regression)
    refuse("fit", "a target of numbers for `.calibrate=adaptive`", name_of(task.kind),
           "take `.calibrate=conformal`");
}

/// Returns the encoded examples at `encoded`, with the weights at `places`.
Dataset weighted_part(const Dataset& all, const std::vector<int64_t>& encoded, const at::Tensor& weights,
                      const std::vector<int64_t>& places) {
  const Dataset part = all.subset(at::tensor(encoded, at::kLong));
  return weights.defined() ? weighted(part, weights.index_select(0, at::tensor(places, at::kLong))) : part;
}

/// Returns the examples in the parts without those of the test part. These stay with their wrong cells, which
/// may be too far from training to encode, and score the model later, one by one.
PartExamples examples_to_encode(const Examples& examples, SplitRows split) {
  split.test.clear();
  return examples_in_parts(examples, split);
}

/// Throws DataError, before any training, for a test row whose target cannot be scored, such as a class that
/// is not in training.
void check_test_targets(const InputEncoder& encoder, const Examples& examples, const SplitRows& split) {
  const Task& task = schema_of(encoder).task;
  if (split.test.empty() || task.kind == TaskKind::events || !std::holds_alternative<Table>(examples)) return;
  target_values(std::get<Table>(take(examples, split.test)), target_of(encoder), task);
}

/// Returns a note on what the training rows count for; "" without weights. Of weights of importance it tells
/// the effective number of rows, (sum w)^2 / sum w^2 (Kish 1965): so many equal rows have means with the
/// variance of these.
std::string weights_note(const Dataset& train, const ResolvedFit& request) {
  const at::Tensor weights = train.weights();
  const FitOptions& fit = request.fit;
  if (fit.weights.empty()) return "";
  const std::string rows = counted(train.size(), noun_of(request.kind)), name = in_quotes(fit.weights);
  if (!weights.defined())
    return fmt::format("the weights in {} are all equal: each {} counts once", name, noun_of(request.kind));
  const double sum = weights.sum().item<double>();
  if (fit.weights_are == "counts")
    return fmt::format("{} in training, weighted by {}, count as {:g} (`.weights_are=counts`)", rows, name,
                       sum);
  return fmt::format(
      "{} in training, weighted by {}: means over them are as sure as those over {:.3g} equal ones", rows,
      name, sum * sum / weights.square().sum().item<double>());
}

/// Encodes validation data that come from a file of their own, and adds notes on what looks odd in them.
/// Throws DataError for targets that are too far from those of training or for classes that were not in
/// training.
Dataset encoded_validation(const InputEncoder& encoder, const Examples& given, const FitOptions& fit,
                           double scale, std::vector<std::string>& notes) {
  const Examples valid = validation_examples(given, encoder, fit);
  if (schema_of(encoder).task.kind != TaskKind::events) check_targets(encoder, valid);
  Dataset encoded = dataset_of(encoder, valid, true);
  for (const std::string& note : notes_for(encoder, valid)) notes.push_back("validation data: " + note);
  const at::Tensor weights = row_weights(valid, fit);
  return weights.defined() ? weighted(encoded, weights / scale) : encoded;
}

/// Inserts the notes on the windows before all other notes. If the model will be calibrated, adds
/// calibrated_in_time() at the end.
void add_notes_on_windows(const WindowTable& windows, const FitOptions& fit,
                          std::vector<std::string>& notes) {
  notes.insert(notes.begin(), windows.windows->notes.begin(), windows.windows->notes.end());
  if (fit.calibrate != "none") notes.push_back(calibrated_in_time("windows"));
}

/// Encodes the training rows of a streamed table to disk. Ranks that share the rows of a fit have a part of
/// them each; ranks that share its jobs have all of them.
std::shared_ptr<const Source> rows_on_disk(const ResolvedFit& request, const InputEncoder& encoder,
                                           const std::function<void(double)>& progress,
                                           std::vector<std::string>& notes) {
  const StreamedRows& streamed = *request.streamed;
  const Collective* ranks = request.ranks.get();
  const bool in_parts = streamed.in_parts() && shared_by_ranks(request) == Parallel::rows &&
                        request.method->shares_batches && request.inner->shares_batches;
  std::unique_ptr<RowCache> rows;
  together(ranks, [&] { rows = streamed.encoded(encoder, !in_parts, progress, &notes); });
  if (!in_parts) return rows->source(streamed.window());
  std::vector<int64_t> rows_of(static_cast<size_t>(ranks->size()));
  const at::Tensor sizes = ranks->gather(at::tensor({rows->size()}, at::kLong)).flatten();
  std::copy_n(sizes.const_data_ptr<int64_t>(), rows_of.size(), rows_of.begin());
  internal_check(sizes.sum().item<int64_t>() == streamed.table().split.streamed, "fit",
                 "another number of training rows than in the first pass");
  return rows->source(streamed.window(), rows_of, ranks->rank());
}

}  // namespace

WeightsOfFit weights_of_fit(const Examples& examples, const std::vector<int64_t>& train,
                            const FitOptions& fit) {
  const at::Tensor weights = row_weights(examples, fit);
  if (!weights.defined()) return {};
  const double scale = weight_scale(weights.index_select(0, at::tensor(train, at::kLong)), fit);
  return {weights / scale, scale};
}

std::vector<double> weights_that_differ(const at::Tensor& weights, const std::vector<int64_t>& train) {
  if (!weights.defined()) return {};
  const auto* weight = weights.const_data_ptr<double>();
  if (std::ranges::all_of(train, [&](int64_t i) { return weight[i] == 1; })) return {};
  return {weight, weight + weights.numel()};
}

Examples validation_examples(const Examples& given, const InputEncoder& encoder, const FitOptions& fit) {
  Examples valid = examples_of(given, encoder, true);
  PositiveExamples positive = positive_validation(valid, fit);
  return positive.some ? *std::move(positive.some) : std::move(valid);
}

EncodedExamples encode_examples(const ResolvedFit& request, const FitData& data, SplitRows split,
                                const std::function<void(double)>& progress) {
  const FitOptions& fit = request.fit;
  EncodedExamples out;
  out.split = std::move(split);
  const PartExamples in_parts = examples_in_parts(data.examples, out.split);
  const Examples& examples = in_parts.some ? *in_parts.some : data.examples;
  const WeightsOfFit weights = weights_of_fit(examples, in_parts.split.train, fit);
  out.encoder = request.network ? request.network->parts().encoder
                : request.given ? request.given->encoder
                                : std::make_shared<const InputEncoder>(fit_encoder(
                                      examples, in_parts.split.train, fit, request.scale,
                                      request.streamed ? &request.streamed->table().all : nullptr,
                                      weights_that_differ(weights.of_examples, in_parts.split.train)));
  const TaskKind task = schema_of(*out.encoder).task.kind;
  check_task_asked(schema_of(*out.encoder).task, request);
  check_test_targets(*out.encoder, examples, in_parts.split);
  const PartExamples used = examples_to_encode(examples, in_parts.split);
  const Dataset all = training_dataset(*out.encoder, used.some ? *used.some : examples, {fit.crop, fit.flip});
  out.parts.train = request.streamed
                        ? Dataset{all.schema, rows_on_disk(request, *out.encoder, progress, out.split.notes)}
                        : weighted_part(all, used.split.train, weights.of_examples, in_parts.split.train);
  out.split.notes.push_back(weights_note(out.parts.train, request));
  std::erase(out.split.notes, "");
  if (data.valid == nullptr) {
    out.parts.valid = weighted_part(all, used.split.valid, weights.of_examples, in_parts.split.valid);
  } else {
    out.parts.valid = encoded_validation(*out.encoder, *data.valid, fit, weights.scale, out.split.notes);
    if (request.kind == InputKind::table && !request.streamed)
      std::ranges::copy(repeated_notes(out.parts), std::back_inserter(out.split.notes));
  }
  if (task == TaskKind::events) out.probes = event_probes(out.parts.train.all().inputs[0]);
  if (request.kind == InputKind::images)  // rounded as the model file stores it
    out.pixel_mean = pixel_mean(out.parts.train).to(at::kFloat).to(at::kDouble);
  if (const auto* windows = std::get_if<WindowTable>(&data.examples))
    add_notes_on_windows(*windows, fit, out.split.notes);
  else if (fit.split == "time" && fit.calibrate != "none")
    out.split.notes.push_back(calibrated_in_time("rows"));
  return out;
}

}  // namespace slimbayes
