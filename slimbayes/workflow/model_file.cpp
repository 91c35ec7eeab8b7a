// The contents of a model file: the method's own tensors, the encoder, the split, and the data that calibrate
// the answers.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "slimbayes/catalog/network/visit_layers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/head.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/registry.h"
#include "slimbayes/storage/model_kind.h"
#include "slimbayes/workflow/model.h"
#include "slimbayes/workflow/tuning.h"

namespace slimbayes {

namespace {

/// Removes the list of rows with this name from `file` and returns it.
std::vector<int64_t> take_row_list(TensorFile& file, const char* name) {
  const at::Tensor rows = stored_tensor(file, name);
  const bool sane = rows.dim() == 1 && rows.scalar_type() == at::kLong && (rows >= 0).all().item<bool>();
  check(sane, "load", fmt::format("a list of rows, from 0, in {}", name), "others",
        "the model file is damaged");
  file.tensors.erase(name);
  return {rows.const_data_ptr<int64_t>(), rows.const_data_ptr<int64_t>() + rows.numel()};
}

/// The names of the split's row lists in the file, beside the method's tensors.
constexpr const char* kSplitNames[] = {"split.train", "split.valid", "split.test"};
constexpr std::vector<int64_t> SplitRows::*kSplitLists[] = {&SplitRows::train, &SplitRows::valid,
                                                            &SplitRows::test};

constexpr const char* kLearned = "learned.rows";  // of a method that can be updated
// Beside them: "cells". Absent in older files, whose hashes are of the encoding alone.
constexpr const char* kLearnedBy = "learned_by";

// Present for a Cox process only: event_probes(), where the integral over the domain looks for peaks.
constexpr const char* kProbes = "events.probes";

// Present for images, except in older files: pixel_mean() of the training images.
constexpr const char* kPixelMean = "images.mean";

// Present in the file of a calibrated model only.
constexpr const char* kCalibrationRows = "split.calibration";
constexpr const char* kCalibrationScores = "calibration.scores";
constexpr const char* kCalibrationGroups = "calibration.groups";  // only if some rows have identical inputs

/// Removes the sorted calibration scores from `file` and returns them; without any, returns scores without
/// groups.
ConformalScores take_calibration(TensorFile& file) {
  if (!file.tensors.contains(kCalibrationScores)) return {};
  at::Tensor scores = stored_tensor(file, kCalibrationScores).to(at::kDouble);
  file.tensors.erase(kCalibrationScores);
  check_shape(scores, {-1}, "load", kCalibrationScores);
  check_finite(scores, "load", kCalibrationScores);
  const bool sane =
      scores.numel() > 0 && at::equal(scores, std::get<0>(scores.sort())) && scores[0].item<double>() >= 0;
  check(sane, "load", "calibration scores from 0 in ascending order", "others", "the model file is damaged");
  if (!file.tensors.contains(kCalibrationGroups)) return {scores};
  const at::Tensor groups = stored_tensor(file, kCalibrationGroups).to(at::kLong);
  file.tensors.erase(kCalibrationGroups);
  return {scores, groups};
}

/// Returns whether every embedding of the network has this many tokens.
bool embeds(const NetworkSpec& spec, int64_t tokens) {
  bool all = true;
  visit_layers(spec, "network", [&](const LayerSpec& layer, const Shape&, const std::string&) {
    const auto* embedding = std::get_if<Embedding>(&layer);
    all = all && (embedding == nullptr || embedding->tokens == tokens);
  });
  return all;
}

/// Throws std::invalid_argument unless every network in the file, also of an ensemble's members, takes the
/// input that the encoder gives and has a head for the encoder's task.
void check_networks(const TensorFile& file, const Schema& schema) {
  const Shape input = schema.input.sizes.empty() ? Shape{{std::ssize(schema.features)}} : schema.input;
  for (const auto& [name, text] : file.metadata) {
    if (name == "head" || name.ends_with(".head"))
      check_head(head_from_json(stored_json(file, name.c_str())), schema.task, "load",
                 "the model file is damaged");
    if (name != "network" && !name.ends_with(".network")) continue;
    const NetworkSpec spec = network_from_json(stored_json(file, name.c_str()));
    check(spec.input == input && embeds(spec, schema.tokens), "load",
          fmt::format("a network for {}, as the encoder gives it", text_of(input)),
          fmt::format("one for {}", text_of(spec.input)), "the model file is damaged");
  }
}

}  // namespace

TensorFile Model::to_file() const {
  TensorFile file = fitted_->save();
  file.metadata["kind"] = "model";
  file.metadata["method"] = method_;
  file.metadata["options"] = options_.dump();
  file.metadata["encoder"] = slimbayes::to_json(*encoder_).dump();
  file.metadata["fit"] = options_to_json(fit_options_).dump();
  file.metadata["seed"] = std::to_string(fit_options_.seed);
  file.metadata["data_hash"] = data_hash_;
  for (size_t i = 0; i < std::size(kSplitNames); ++i) {
    file.tensors[kSplitNames[i]] = to_stored(at::tensor(split_.*kSplitLists[i], at::kLong));
  }
  if (!learned_.empty()) file.tensors[kLearned] = to_stored(at::tensor(learned_, at::kLong));
  if (by_cells_) file.metadata[kLearnedBy] = "cells";
  if (probes_.defined()) file.tensors[kProbes] = to_stored(probes_);
  if (pixel_mean_.defined()) file.tensors[kPixelMean] = to_stored(pixel_mean_.to(at::kFloat));
  if (calibration_.groups > 0) {
    const int64_t rows = calibration_.value.size(0);
    nlohmann::json facts = {{"method", "conformal"}, {"rows", rows}};
    file.tensors[kCalibrationRows] = to_stored(at::tensor(split_.calibration, at::kLong));
    file.tensors[kCalibrationScores] = to_stored(calibration_.value);
    if (calibration_.groups < rows) {
      facts["groups"] = calibration_.groups;
      file.tensors[kCalibrationGroups] = to_stored(calibration_.group);
    }
    file.metadata["calibration"] = facts.dump();
  }
  if (!split_.notes.empty()) file.metadata["split_notes"] = nlohmann::json(split_.notes).dump();
  if (shard_) file.metadata["shard"] = "true";
  if (!tuning_.is_null()) file.metadata["tuning"] = tuning_.dump();
  if (!noise_.empty()) file.metadata["noise"] = slimbayes::to_json(noise_).dump();
  return file;
}

Model Model::from_file(const TensorFile& source, const std::string& name) {
  check_model_kind(source, name);
  TensorFile file = source;
  Model model;
  model.source_ = name;
  read_contents(name, "fit it again", [&] { model.take_from(file); });
  return model;
}

void Model::take_from(TensorFile& file) {
  check(stored_text(file, "kind") == "model", "load", "a model file",
        "a " + stored_text(file, "kind").substr(0, 40));
  check(!file.metadata.contains("module_layer"), "load", "a model without a TorchScript module",
        "one with it", "a module is a program, which this reader does not run");
  method_ = stored_text(file, "method");
  options_ = stored_json(file, "options");
  encoder_ = std::make_shared<const InputEncoder>(input_encoder_from_json(stored_json(file, "encoder")));
  fit_options_ = options_from_json<FitOptions>(stored_json(file, "fit"), "load");
  fit_options_.method = method_;
  fit_options_.options = options_;
  const nlohmann::json seed = stored_json(file, "seed");
  check(seed.is_number_unsigned(), "load", "a seed of at least 0", "another value",
        "the model file is damaged");
  fit_options_.seed = seed.get<uint64_t>();
  data_hash_ = stored_text(file, "data_hash");
  for (size_t i = 0; i < std::size(kSplitNames); ++i)
    split_.*kSplitLists[i] = take_row_list(file, kSplitNames[i]);
  if (file.metadata.contains("split_notes"))
    split_.notes = stored_json(file, "split_notes").get<std::vector<std::string>>();
  calibration_ = take_calibration(file);
  if (file.tensors.contains(kProbes)) {
    probes_ = stored_tensor(file, kProbes).to(at::kDouble);
    check_shape(probes_, {-1, static_cast<int64_t>(schema().features.size())}, "load", kProbes);
    check_finite(probes_, "load", kProbes);
    file.tensors.erase(kProbes);
  }
  if (file.tensors.contains(kPixelMean)) {
    pixel_mean_ = stored_tensor(file, kPixelMean).to(at::kDouble);
    check_shape(pixel_mean_, schema().input.sizes, "load", kPixelMean);
    check_finite(pixel_mean_, "load", kPixelMean);
    file.tensors.erase(kPixelMean);
  }
  by_cells_ = file.metadata.contains(kLearnedBy);
  check(!by_cells_ || stored_text(file, kLearnedBy) == "cells", "load", "rows known by their cells",
        "in another way", "a later version may read this model");
  if (file.tensors.contains(kLearned)) {
    const at::Tensor rows = stored_tensor(file, kLearned);
    check(rows.dim() == 1 && rows.scalar_type() == at::kLong, "load", "a list of hashes of rows", "others",
          "the model file is damaged");
    learned_.assign(rows.const_data_ptr<int64_t>(), rows.const_data_ptr<int64_t>() + rows.numel());
    std::ranges::sort(learned_);
    file.tensors.erase(kLearned);
  }
  if (file.tensors.contains(kCalibrationRows)) split_.calibration = take_row_list(file, kCalibrationRows);
  if (file.metadata.contains("tuning")) {
    tuning_ = stored_json(file, "tuning");
    check_tuning_report(tuning_);
  }
  shard_ = file.metadata.contains("shard");
  if (file.metadata.contains("noise")) noise_ = noise_from_json(stored_json(file, "noise"));
  const auto& row = registry_row(method_);
  // Before a method computes with them, its networks and its inputs are known to fit.
  check_networks(file, schema());
  check(takes(find_method(method_), kind_of(*encoder_), options_), "load",
        fmt::format("a method that takes {}", name_of(kind_of(*encoder_))), method_,
        "the model file is damaged");
  fitted_ = row.load(file);
}

}  // namespace slimbayes
