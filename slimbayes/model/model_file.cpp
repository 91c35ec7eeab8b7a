// The contents of a model file: the method's own tensors, the encoder, the split, and the calibration scores.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/catalog/network/visit_layers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/density/conformal_rank.h"
#include "slimbayes/engine/spec/row_spec_file.h"
#include "slimbayes/method/head.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/model/answer_table.h"
#include "slimbayes/model/calibration/group_calibration_file.h"
#include "slimbayes/model/model.h"
#include "slimbayes/model/noise_estimate.h"
#include "slimbayes/model/series/adaptive_state.h"
#include "slimbayes/model/tuning_report.h"
#include "slimbayes/serve/serve_file.h"
#include "slimbayes/storage/model_kind.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

/// Removes the list of row indices with this name from `file` and returns it. Throws std::invalid_argument
/// unless the tensor is such a list.
std::vector<int64_t> take_row_list(TensorFile& file, const char* name) {
  const at::Tensor rows = stored_tensor(file, name);
  const bool sane = rows.dim() == 1 && rows.scalar_type() == at::kLong && (rows >= 0).all().item<bool>();
  if (!sane)
    refuse("load", fmt::format("a list of rows, from 0, in {}", name), "others", "the model file is damaged");
  file.tensors.erase(name);
  return {rows.const_data_ptr<int64_t>(), rows.const_data_ptr<int64_t>() + rows.numel()};
}

/// The names of the tensors that hold the row indices of each part of the split, and the members of SplitRows
/// that they are read into, in the same order.
constexpr const char* kSplitNames[] = {"split.train", "split.valid", "split.test"};
constexpr std::vector<int64_t> SplitRows::*kSplitLists[] = {&SplitRows::train, &SplitRows::valid,
                                                            &SplitRows::test};

constexpr const char* kLearned = "learned.rows";  // learned rows; only for a method with updates

constexpr const char* kStreamedRows = "streamed_rows";  // SplitRows::streamed; only if it is not 0

// In the file for a Cox process only: event_probes(), where the integral over the domain looks for peaks.
constexpr const char* kProbes = "events.probes";

// In the file for images only: pixel_mean() of the training images, for out-of-distribution scores.
constexpr const char* kPixelMean = "images.mean";

// In the file for a calibrated model only.
constexpr const char* kCalibrationRows = "split.calibration";
constexpr const char* kCalibrationScores = "calibration.scores";
constexpr const char* kCalibrationGroups = "calibration.groups";    // only if some rows have identical inputs
constexpr const char* kCalibrationWeights = "calibration.weights";  // only if the rows have weights

/// Removes the sorted calibration scores and their groups from `file` and returns them. If there are none,
/// the result has 0 groups, which stands for a model without calibration.
ConformalScores take_calibration(TensorFile& file) {
  if (!file.tensors.contains(kCalibrationScores)) return {};
  at::Tensor scores = stored_tensor(file, kCalibrationScores).to(at::kDouble);
  file.tensors.erase(kCalibrationScores);
  check_shape(scores, {-1}, "load", kCalibrationScores);
  check_finite(scores, "load", kCalibrationScores);
  const bool sane =
      scores.numel() > 0 && at::equal(scores, std::get<0>(scores.sort())) && scores[0].item<double>() >= 0;
  check(sane, "load", "calibration scores from 0 in ascending order", "others", "the model file is damaged");
  ConformalScores out(scores);
  if (file.tensors.contains(kCalibrationGroups)) {
    out = {scores, stored_tensor(file, kCalibrationGroups).to(at::kLong)};
    file.tensors.erase(kCalibrationGroups);
  }
  if (!file.tensors.contains(kCalibrationWeights)) return out;
  out.weight = stored_tensor(file, kCalibrationWeights).to(at::kDouble).contiguous();
  file.tensors.erase(kCalibrationWeights);
  check_shape(out.weight, {scores.numel()}, "load", kCalibrationWeights);
  check_finite(out.weight, "load", kCalibrationWeights);
  check((out.weight > 0).all().item<bool>(), "load", "calibration weights above 0", "others",
        "the model file is damaged");
  check_calibration_weight({out.weight.const_data_ptr<double>(), static_cast<size_t>(out.weight.numel())},
                           "load", "the model file is damaged");
  return out;
}

/// Returns whether every embedding layer of the network has a vocabulary of `tokens` tokens. A network
/// without embedding layers passes.
bool embeds(const NetworkSpec& spec, int64_t tokens) {
  bool all = true;
  visit_layers(spec, "network", [&](const LayerSpec& layer, const Shape&, const std::string&) {
    const auto* embedding = std::get_if<Embedding>(&layer);
    all = all && (embedding == nullptr || embedding->tokens == tokens);
  });
  return all;
}

/// Throws std::invalid_argument unless every network in the file, including those of an ensemble's members,
/// fits the encoder: it must take the encoder's input and have a head for the encoder's task.
void check_networks(const TensorFile& file, const Schema& schema) {
  const Shape input = schema.input.sizes.empty() ? Shape{{std::ssize(schema.features)}} : schema.input;
  for (const auto& [name, text] : file.metadata) {
    if (name == "head" || name.ends_with(".head"))
      check_head(head_from_json(stored_json(file, name.c_str())), schema.task, "load",
                 "the model file is damaged");
    if (name != "network" && !name.ends_with(".network")) continue;
    const NetworkSpec spec = network_from_json(stored_json(file, name.c_str()));
    if (spec.input != input || !embeds(spec, schema.tokens))
      refuse("load", fmt::format("a network for {}, as the encoder gives it", text_of(input)),
             fmt::format("one for {}", text_of(spec.input)), "the model file is damaged");
    const Shape out = output(spec);
    const auto& grid = schema.task.grid;
    if (!(grid ? out.is_image() && PixelGrid{out.sizes[1], out.sizes[2]} == *grid : !out.is_image()))
      refuse("load", grid ? "a network that answers for each pixel" : "a network that answers for each row",
             text_of(out), "the model file is damaged");
  }
}

/// Removes a tensor of finite numbers from `file` and returns it in float64; undefined if there is none.
at::Tensor take_numbers(TensorFile& file, const char* name, const std::vector<int64_t>& shape) {
  if (!file.tensors.contains(name)) return {};
  const at::Tensor numbers = stored_tensor(file, name).to(at::kDouble);
  check_shape(numbers, shape, "load", name);
  check_finite(numbers, "load", name);
  file.tensors.erase(name);
  return numbers;
}

/// Reads how the model was fitted: method, options, encoder, seed.
void read_recipe(const TensorFile& file, ModelParts& parts) {
  parts.method = stored_text(file, "method");
  parts.options = stored_json(file, "options");
  parts.encoder = std::make_shared<const InputEncoder>(input_encoder_from_json(stored_json(file, "encoder")));
  parts.fit = options_from_json<FitOptions>(stored_json(file, "fit"), "load");
  parts.fit.method = parts.method;
  parts.fit.options = parts.options;
  const nlohmann::json seed = stored_json(file, "seed");
  check(seed.is_number_unsigned(), "load", "a seed of at least 0", "another value",
        "the model file is damaged");
  parts.fit.seed = seed.get<uint64_t>();
}

/// Moves the hashes of the learned rows, which Model::without needs, from `file` to `parts`. Does nothing if
/// the file has none.
void take_learned(TensorFile& file, ModelParts& parts) {
  if (!file.tensors.contains(kLearned)) return;
  const at::Tensor rows = stored_tensor(file, kLearned);
  check(rows.dim() == 1 && rows.scalar_type() == at::kLong, "load", "a list of hashes of rows", "others",
        "the model file is damaged");
  parts.learned.assign(rows.const_data_ptr<int64_t>(), rows.const_data_ptr<int64_t>() + rows.numel());
  std::ranges::sort(parts.learned);
  file.tensors.erase(kLearned);
}

/// Moves what the file says about the data of the fit to `parts`: the hash and the split of the examples, the
/// calibration scores, the probes, the pixel mean and the learned rows; and the reports on tuning and noise.
void take_data_of_fit(TensorFile& file, ModelParts& parts) {
  parts.data_hash = stored_text(file, "data_hash");
  for (size_t i = 0; i < std::size(kSplitNames); ++i)
    parts.split.*kSplitLists[i] = take_row_list(file, kSplitNames[i]);
  if (file.metadata.contains(kStreamedRows)) {
    const nlohmann::json rows = stored_json(file, kStreamedRows);
    check(rows.is_number_unsigned() && rows <= std::numeric_limits<int64_t>::max(), "load",
          "a number of streamed rows", "another value", "the model file is damaged");
    parts.split.streamed = rows.get<int64_t>();
  }
  if (file.metadata.contains("split_notes"))
    parts.split.notes = stored_json(file, "split_notes").get<std::vector<std::string>>();
  if (file.metadata.contains("network_note")) parts.split.network_note = stored_text(file, "network_note");
  // Older files have it among the notes on the split.
  for (std::string& note : parts.split.notes)
    if (note.starts_with("the network is that of ")) parts.split.network_note = std::exchange(note, "");
  std::erase(parts.split.notes, "");
  parts.calibration = take_calibration(file);
  parts.adaptive = take_adaptive(file);
  take_groups(file, parts);
  const Schema& schema = schema_of(*parts.encoder);
  parts.probes = take_numbers(file, kProbes, {-1, std::ssize(schema.features)});
  parts.pixel_mean = take_numbers(file, kPixelMean, schema.input.sizes);
  check(parts.pixel_mean.defined() == (kind_of(*parts.encoder) == InputKind::images), "load",
        "the mean of the training images for a model of images alone", "otherwise",
        "the model file is damaged");
  take_learned(file, parts);
  if (file.tensors.contains(kCalibrationRows))
    parts.split.calibration = take_row_list(file, kCalibrationRows);
  if (file.metadata.contains("tuning")) {
    parts.tuning = tuning_from_json(stored_json(file, "tuning"));
  }
  parts.shard = file.metadata.contains("shard");
  if (file.metadata.contains("noise")) parts.noise = noise_from_json(stored_json(file, "noise"));
}

/// Checks that the networks in the file fit the encoder and that the method takes the model's kind of input.
/// Then reads the fitted method. The checks come first because loading may compute with the networks.
std::shared_ptr<const Fitted> read_fitted(const TensorFile& file, const ModelParts& parts) {
  const auto& row = registry_row(parts.method);
  const Schema& schema = schema_of(*parts.encoder);
  const InputKind kind = kind_of(*parts.encoder);
  check_networks(file, schema);
  if (!takes(find_method(parts.method), kind, parts.options))
    refuse("load", fmt::format("a method that takes {}", name_of(kind)), parts.method,
           "the model file is damaged");
  return row.load(file);
}

}  // namespace

TensorFile Model::to_file() const {
  TensorFile file = parts_.fitted->save();
  file.metadata["kind"] = "model";
  file.metadata["method"] = parts_.method;
  file.metadata["options"] = parts_.options.dump();
  file.metadata["encoder"] = slimbayes::to_json(*parts_.encoder).dump();
  nlohmann::json fit = options_to_json(parts_.fit);
  if (parts_.fit.calibrate_by.empty()) fit.erase("calibrate_by");  // as in files before this option
  if (parts_.fit.bounds.empty()) fit.erase("bounds");  // as the files without bounds have always been
  file.metadata["fit"] = fit.dump();
  file.metadata["seed"] = std::to_string(parts_.fit.seed);
  file.metadata["data_hash"] = parts_.data_hash;
  // Of a streamed table the lists count the rows in memory, which no file has.
  const bool listed = parts_.split.streamed == 0;
  for (size_t i = 0; i < std::size(kSplitNames); ++i) {
    const std::vector<int64_t> none, &rows = listed ? parts_.split.*kSplitLists[i] : none;
    file.tensors[kSplitNames[i]] = to_stored(at::tensor(rows, at::kLong));
  }
  if (!parts_.learned.empty()) file.tensors[kLearned] = to_stored(at::tensor(parts_.learned, at::kLong));
  if (parts_.probes.defined()) file.tensors[kProbes] = to_stored(parts_.probes);
  if (parts_.pixel_mean.defined()) file.tensors[kPixelMean] = to_stored(parts_.pixel_mean.to(at::kFloat));
  if (parts_.calibration.groups > 0) {
    const int64_t rows = parts_.calibration.value.size(0);
    nlohmann::json facts = {{"method", "conformal"}, {"rows", rows}};
    file.tensors[kCalibrationRows] =
        to_stored(at::tensor(listed ? parts_.split.calibration : std::vector<int64_t>(), at::kLong));
    file.tensors[kCalibrationScores] = to_stored(parts_.calibration.value);
    if (parts_.calibration.groups < rows) {
      facts["groups"] = parts_.calibration.groups;
      file.tensors[kCalibrationGroups] = to_stored(parts_.calibration.group);
    }
    if (parts_.calibration.weight.defined())
      file.tensors[kCalibrationWeights] = to_stored(parts_.calibration.weight);
    if (parts_.adaptive) store_adaptive(*parts_.adaptive, facts, file);
    store_groups(parts_, file, facts);
    file.metadata["calibration"] = facts.dump();
  }
  if (!listed) file.metadata[kStreamedRows] = std::to_string(parts_.split.streamed);
  if (!parts_.split.notes.empty()) file.metadata["split_notes"] = nlohmann::json(parts_.split.notes).dump();
  if (!parts_.split.network_note.empty()) file.metadata["network_note"] = parts_.split.network_note;
  if (parts_.shard) file.metadata["shard"] = "true";
  if (parts_.tuning) file.metadata["tuning"] = fields_to_json(*parts_.tuning).dump();
  if (!parts_.noise.empty()) file.metadata["noise"] = slimbayes::to_json(parts_.noise).dump();
  // Serving knows no state that changes from answer to answer, and no groups of a calibration.
  if (!std::holds_alternative<ImageEncoder>(*parts_.encoder) && !parts_.adaptive && parts_.by_group.empty())
    if (auto rows = parts_.fitted->answer_spec(); rows && engine::storable(*rows)) {
      ServedFile served;
      served.rows = std::move(*rows);
      served.least_noise = parts_.noise.var;
      served.epistemic = ood_score(find_method(parts_.method), parts_.options) == "epistemic_sd";
      served.interrupted = interrupted();
      served.parts_note = parts_note(*this);
      store_served(served, file);
    }
  return file;
}

Model Model::from_file(const TensorFile& source, const std::string& name) {
  check_model_kind(source, name);
  TensorFile file = source;
  drop_served(file);
  ModelParts parts;
  parts.source = name;
  read_contents(name, "fit it again", [&] {
    if (stored_text(file, "kind") != "model")
      refuse("load", "a model file", "a " + foreign_text(stored_text(file, "kind").substr(0, 40)));
    check(!file.metadata.contains("module_layer"), "load", "a model without a TorchScript module",
          "one with it", "a module is a program, which this reader does not run");
    read_recipe(file, parts);
    take_data_of_fit(file, parts);
    parts.fitted = read_fitted(file, parts);
  });
  return Model(std::move(parts));
}

}  // namespace slimbayes
