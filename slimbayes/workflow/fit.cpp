// fit_model: turns a user's examples into a model. It first resolves and checks the options, then splits and
// encodes the examples and passes them to the method.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "slimbayes/catalog/fit_checks.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/catalog/trained_network_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/data/input_scores.h"
#include "slimbayes/data/repeated_inputs.h"
#include "slimbayes/data/row_hash.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/target.h"
#include "slimbayes/families/deep_kernel/event_probes.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/registry.h"
#include "slimbayes/workflow/example_uniforms.h"
#include "slimbayes/workflow/fit_notes.h"
#include "slimbayes/workflow/kept_classes.h"
#include "slimbayes/workflow/model.h"
#include "slimbayes/workflow/noise_folds.h"
#include "slimbayes/workflow/tuning.h"
#include "slimbayes/workflow/update_notes.h"

namespace slimbayes {

namespace {

constexpr const char* kNetworkIsThatOf = "the network is that of";  // how its note begins

constexpr const char* kFunction = "fit";

const Table* table_of(const Examples& examples) {
  if (const auto* windows = std::get_if<WindowTable>(&examples)) return windows->table.get();
  return std::get_if<Table>(&examples);
}

/// Checks that the columns in FitOptions::categorical were read as names. Prediction reads them so (the model
/// file lists them); a training table read otherwise would not match.
void check_names(const Table& table, const FitOptions& fit) {
  for (const std::string& name : fit.categorical) {
    const Column* column = table.find(name);
    check(column != nullptr, kFunction, "columns of the table in FitOptions::categorical", in_quotes(name),
          nearest_hint(name, table.names()));
    check(column->kind == ColumnKind::categorical, kFunction,
          fmt::format("a table that was read with {} as names, as FitOptions::categorical has it",
                      in_quotes(name)),
          fmt::format("a {} column", kind_name(column->kind)),
          "read_table takes the same list as Reading::names; or leave the column out of "
          "FitOptions::categorical");
  }
}

/// Returns the group of each calibration row. Throws before the fit if there are too few groups. Empty
/// without calibration.
std::vector<int64_t> calibration_groups(const Examples& examples, const FitOptions& fit,
                                        const SplitRows& split) {
  if (fit.calibrate == "none") return {};
  check(fit.calibrate == "conformal", kFunction, "a calibration 'conformal' or 'none'", fit.calibrate);
  const std::vector<int64_t> groups = groups_among(groups_of(examples, fit), split.calibration);
  const int64_t count = groups.empty() ? 0 : 1 + *std::ranges::max_element(groups);
  check_conformal_rows(count, fit.level, static_cast<int64_t>(groups.size()));
  return groups;
}

/// Checks that there are enough training rows. A rank (OptionDoc::at_most_rows) that the user set must not
/// exceed their number; the default may.
void check_training(const MethodInfo& info, const nlohmann::json& options, const SplitRows& split) {
  check(split.train.size() > 1, kFunction, "at least two training rows", "one",
        "give more rows, or lower the fractions");
  for (const OptionDoc& doc : options_of(info, options)) {
    if (!doc.at_most_rows || options.at(doc.name) == doc.fallback) continue;
    const auto rank = options.at(doc.name).get<int64_t>();
    check(rank <= static_cast<int64_t>(split.train.size()), kFunction,
          fmt::format("a {} of at most the {} training rows", doc.name, split.train.size()),
          fmt::format("{}", rank), fmt::format("lower --{}, or give more rows", doc.name));
  }
}

/// Returns a note if validation rows have the inputs of training rows. Needed if validation has a table of
/// its own: split_rows sees one table only.
std::vector<std::string> repeated_notes(const Split& parts) {
  const int64_t rows = parts.valid.size();
  const int64_t repeated = repeated_inputs(parts.train.all().inputs.at(0), parts.valid.all().inputs.at(0));
  if (repeated == 0) return {};
  return {
      fmt::format("{} of {} validation rows have the inputs of a training row: their score says nothing of "
                  "new inputs",
                  repeated, rows)};
}

/// Returns what is known of the training of a model's network, for a fit around it.
std::string trained_on(const Model& source, bool same_rows) {
  const Summary& summary = source.fitted().network()->summary;
  if (summary.steps == 0) return ", which did not train it itself";
  const int64_t rows = std::ssize(source.split().train);  // none after an update
  std::string text = fmt::format(", trained there in {} steps", summary.steps);
  if (rows > 0) text += " on " + counted(rows, noun_of(kind_of(source.encoder())));
  if (std::isfinite(summary.best_score))
    text += fmt::format(" ({} {:.4f})", summary.score, summary.best_score);
  return text + (same_rows ? "" : ", of which nothing was measured here");
}

/// Returns "a, b and c".
std::string listed(std::vector<std::string> words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  const std::string last = words.back();
  words.pop_back();
  return fmt::format("{} and {}", fmt::join(words, ", "), last);
}

/// Gives the options of the network and of its training the values in the file of the network at hand, except
/// those that act on it still (MethodInfo::trains_on). Returns the flags that asked for others: "--hidden and
/// --steps".
std::string options_of_source(const Model& source, const MethodInfo& info, const nlohmann::json& given,
                              nlohmann::json& options) {
  std::vector<OptionDoc> docs = option_docs<TrainedNetworkOptions>();
  std::erase_if(docs, [&](const OptionDoc& doc) {
    return std::ranges::find(info.trains_on, doc.name) != info.trains_on.end();
  });
  std::vector<std::string> others;
  for (const OptionDoc& doc : docs) {
    const auto made_with = source.options().find(doc.name);
    if (made_with == source.options().end()) continue;
    if (given.contains(doc.name) && options.at(doc.name) != *made_with) {
      others.push_back("--" + doc.name);
      std::ranges::replace(others.back(), '_', '-');
    }
    options[doc.name] = *made_with;
  }
  return listed(others);
}

/// Returns the split of the data that trained the network at hand. Throws std::invalid_argument if all of
/// them did and some are to calibrate.
SplitRows split_of_source(const Model& source, const FitOptions& fit, bool own_valid) {
  SplitRows split = source.split();
  std::erase_if(split.notes, [](const std::string& note) { return note.starts_with(kNetworkIsThatOf); });
  const auto leave_out = [&](std::vector<int64_t>& rows, const char* part, const char* why) {
    if (rows.empty()) return;
    split.notes.push_back(fmt::format("{} {} of that network's fit are left out: {}",
                                      counted(std::ssize(rows), noun_of(kind_of(source.encoder()))), part,
                                      why));
    rows.clear();
  };
  if (own_valid) leave_out(split.valid, "of the validation", "there are validation data of their own");
  if (fit.calibrate == "none") {
    leave_out(split.calibration, "of the calibration", "--calibrate conformal takes them");
  } else {
    check(!split.calibration.empty(), kFunction,
          "a network whose fit kept rows for calibration, for --calibrate on the data that trained it",
          "one that has seen all of them", "fit that network with --calibrate conformal, or give other data");
  }
  return split;
}

/// Splits the examples so that training has each class. The first notes say so if two numbers are classes,
/// and if the task decides the method.
SplitRows split_by_task(const Examples& examples, const FitOptions& fit) {
  SplitRows split = split_examples(examples, fit);
  split.notes.push_back(keep_classes_in_training(examples, fit, split));
  std::vector<std::string> first;
  if (const Table* table = table_of(examples); table != nullptr && !fit.likelihood && !fit.target.empty())
    first.push_back(two_classes_note(*table, fit.target));
  if (const TaskKind task = task_asked(examples, fit); fit.method.empty() && task != TaskKind::regression)
    first.push_back(
        fmt::format("{} by {}; --method chooses another", name_of(task), default_method(task).name));
  split.notes.insert(split.notes.begin(), first.begin(), first.end());
  std::erase(split.notes, "");
  return split;
}

/// Returns a note on the parts of a split of other data than the network's fit had; "" if no part is held
/// out.
std::string split_anew(const Model& source, const FitOptions& fit, const SplitRows& split) {
  std::vector<std::string> parts;
  if (!split.valid.empty()) parts.emplace_back("validation");
  if (!split.calibration.empty()) parts.emplace_back("calibration");
  if (!split.test.empty()) parts.emplace_back("test");
  if (parts.empty()) return "";
  return fmt::format(
      "split anew: some of the {} {}s may have trained the network; their scores may be too good{}",
      listed(parts), noun_of(kind_of(source.encoder())),
      fit.calibrate == "none" ? "" : ", and the intervals or sets too narrow");
}

/// The note on calibrated windows: those to be predicted come later and may differ from those that
/// calibrated.
constexpr const char* kCalibratedInTime =
    "calibrated on windows before those that will be predicted: the level holds where the future is like "
    "them";

}  // namespace

/// Checks the options that concern the target, and that a table has the target's column.
void check_target(const Examples& examples, const FitOptions& fit) {
  check_columns(fit, kind_asked(examples, fit));
  const Table* table = table_of(examples);
  check(table == nullptr || fit.target.empty() || table->find(fit.target) != nullptr, kFunction,
        fmt::format("a target column '{}'", fit.target), "a table without it",
        table == nullptr ? "" : nearest_hint(fit.target, table->names()));
}

TaskKind task_asked(const Examples& examples, const FitOptions& fit) {
  const Table* table = table_of(examples);
  return table == nullptr ? TaskKind::classification : task_kind(*table, fit.target, fit.likelihood);
}

InputKind kind_asked(const Examples& examples, const FitOptions& fit) {
  return std::holds_alternative<Images>(examples) ? InputKind::images : input_kind(fit);
}

int fit_threads(const MethodInfo& method) { return method.resumable ? 1 : 0; }

const MethodInfo& method_named(const Examples& examples, const FitOptions& fit) {
  check_target(examples, fit);
  return fit.method.empty() ? default_method(task_asked(examples, fit)) : find_method(fit.method);
}

const MethodInfo& method_for(const Examples& examples, const FitOptions& fit) {
  check_fractions(fit);
  const MethodInfo& info = method_named(examples, fit);
  const InputKind kind = kind_asked(examples, fit);
  // On a table, fit_model checks a task that the target's column decides.
  const auto task = kind == InputKind::table ? task_known(fit, kind) : task_asked(examples, fit);
  check_method(info, info.resolve(fit.options), kind, task);
  return info;
}

Model fit_model(const Examples& given, const FitOptions& fit, const Examples* valid_given, Callback* callback,
                CheckpointPolicy checkpoint, NetworkCache* networks) {
  if (input_kind(fit) == InputKind::windows && std::holds_alternative<Table>(given)) {
    check_target(given, fit);
    const Examples windows = examples_of(given, fit);
    return fit_model(windows, fit, valid_given, callback, std::move(checkpoint), networks);
  }
  const Examples& examples = given;
  check_examples(examples, fit);
  const MethodInfo& info = method_for(examples, fit);
  Model model;
  model.method_ = info.name;
  model.options_ = info.resolve(fit.options);
  model.fit_options_ = fit;
  model.fit_options_.method = info.name;
  if (const Table* table = table_of(examples)) check_names(*table, fit);

  std::optional<Model> source;
  std::string other_options;
  if (!fit.network_from.empty()) {
    source = Model::load(fit.network_from);
    other_options = options_of_source(*source, info, fit.options, model.options_);
  }
  const std::unique_ptr<Method> method = registry_row(info.name).make(model.options_);
  FitOptions dealt = fit;
  if (valid_given != nullptr) dealt.valid_fraction = 0;
  const std::string data_hash = hash_of(examples);
  const bool same_rows = source && source->data_hash() == data_hash && !source->split().train.empty();
  model.split_ = same_rows ? split_of_source(*source, fit, valid_given != nullptr)
                 : source  ? split_examples(examples, dealt)
                           : split_by_task(examples, dealt);
  if (source)
    model.split_.notes.push_back(fmt::format(
        "{} {}{}{}", kNetworkIsThatOf, in_quotes(fit.network_from), trained_on(*source, same_rows),
        other_options.empty() ? "" : fmt::format("; {} cannot change it", other_options)));
  if (source && !same_rows) {
    model.split_.notes.push_back(split_anew(*source, fit, model.split_));
    std::ranges::copy(update_notes(*source, examples), std::back_inserter(model.split_.notes));
    std::erase(model.split_.notes, "");
  }
  const std::vector<int64_t> groups = calibration_groups(examples, dealt, model.split_);
  check_training(info, model.options_, model.split_);
  const MethodInfo& inner = inner_method(info, model.options_);
  const std::string scale = fit.scale == "auto" ? inner.input_scale : fit.scale;
  const std::shared_ptr<const InputEncoder> encoder =
      source ? source->encoder_
             : std::make_shared<const InputEncoder>(fit_encoder(examples, model.split_.train, fit, scale));
  model.encoder_ = encoder;
  const Task& task = model.schema().task;
  check_task(task, inner.name);
  check_task(task, info.name);
  check(fit.calibrate == "none" || task.kind == TaskKind::regression || task.kind == TaskKind::classification,
        kFunction, "a regression or classes to calibrate", name_of(task.kind), "leave --calibrate out");
  model.data_hash_ = data_hash;
  const bool events = task.kind == TaskKind::events;
  const bool of_table = kind_of(*encoder) == InputKind::table;
  const Augmentation augmentation{fit.crop, fit.flip};
  const Dataset all = training_dataset(*encoder, examples, augmentation);
  Split parts{all.subset(at::tensor(model.split_.train, at::kLong)), {}};
  if (valid_given != nullptr) {
    const Examples valid = examples_of(*valid_given, *encoder, true);
    if (!events) check_targets(*encoder, valid);
    parts.valid = dataset_of(*encoder, valid, true);
    for (const std::string& note : notes_for(*encoder, valid))
      model.split_.notes.push_back("validation data: " + note);
    if (of_table) std::ranges::copy(repeated_notes(parts), std::back_inserter(model.split_.notes));
  } else {
    parts.valid = all.subset(at::tensor(model.split_.valid, at::kLong));
  }
  if (events) model.probes_ = event_probes(parts.train.all().inputs[0]);
  if (kind_of(*encoder) == InputKind::images)  // rounded as in the file
    model.pixel_mean_ = pixel_mean(parts.train).to(at::kFloat).to(at::kDouble);
  if (const auto* windows = std::get_if<WindowTable>(&examples)) {
    std::vector<std::string>& notes = model.split_.notes;
    notes.insert(notes.begin(), windows->windows->notes.begin(), windows->windows->notes.end());
    if (fit.calibrate != "none") notes.push_back(kCalibratedInTime);
  }
  for (const std::string& note : notes_before_training(*encoder, model.split_)) {
    if (callback) callback->note(note);
  }
  const auto main = [&](const FitContext& context) -> Tuned {
    if (!fit.tune.empty()) return tune(info, model.options_, fit.tune, parts, context);
    return {model.options_, method->fit(parts, context), {}};
  };
  const ThreadScope threads(fit.threads == kThreadsOfMethod ? fit_threads(info) : fit.threads);
  const std::string_view noun = noun_of(kind_of(*encoder));
  const bool grouped = of_table && fit.split != "random" && !groups_of(examples, dealt).singly;
  FitContext context{Stream(fit.seed), callback, std::move(checkpoint), {}, networks};
  if (source) {
    TrainedNetwork start = *source->fitted().network();
    start.summary = {};  // nothing was trained in this fit
    start.summary.valid_rows = parts.valid.size();
    context.start = std::make_shared<const TrainedNetwork>(std::move(start));
    context.valid_unseen = same_rows || valid_given != nullptr;
  }
  CrossFitted fitted = fit_with_noise_folds(info, main, parts,
                                            {fit.noise_folds, grouped, Stream(fit.split_seed).split("noise"),
                                             /*possible=*/of_table && !source, noun, /*splits=*/!source,
                                             source ? source->fitted().network()->summary.valid_rows : 0},
                                            context);
  model.fitted_ = std::move(fitted.main.fitted);
  model.tuning_ = std::move(fitted.main.report);
  model.noise_ = std::move(fitted.noise);
  // A network whose fit cross-fitted the noise keeps that floor under every method around it.
  if (source && source->noise().var > model.noise_.var) model.noise_ = source->noise();
  if (auto raised = model.fitted_->with_noise(model.noise_.var)) model.fitted_ = std::move(raised);
  if (info.updates) {
    // A refit that was stopped before its second training has learned the training rows alone.
    const bool refit = model.options_.value("refit", false) &&
                       model.fitted_->summary().rows == parts.train.size() + parts.valid.size();
    const auto learn = [&](const Examples& from, const std::vector<int64_t>* places, const Dataset& part) {
      std::vector<uint64_t> cells = cell_hashes(*encoder, from), chosen;
      if (places != nullptr)
        for (int64_t place : *places) chosen.push_back(cells[static_cast<size_t>(place)]);
      std::ranges::copy(row_hashes(part, places != nullptr ? chosen : cells),
                        std::back_inserter(model.learned_));
    };
    learn(examples, &model.split_.train, parts.train);
    if (refit && valid_given != nullptr)
      learn(examples_of(*valid_given, *encoder, true), nullptr, parts.valid);
    else if (refit)
      learn(examples, &model.split_.valid, parts.valid);
    std::ranges::sort(model.learned_);
  }
  model.options_ = stored_json(model.fitted_->save(), "options");  // as the training rows resolved them
  if (fit.calibrate != "none")
    model.calibration_ = model.calibrated(take(examples, model.split_.calibration), groups);
  return model;
}

/// Scores answers in the target's units, so that a row's score and its interval are rounded alike.
ConformalScores Model::calibrated(const Examples& held_out, const std::vector<int64_t>& groups) const {
  const Predictive p = answer(held_out);
  const at::Tensor y = target_as_given(*encoder_, held_out);
  if (const auto* regression = std::get_if<Regression>(&p)) return conformal_scores(*regression, y, groups);
  const at::Tensor u = example_uniforms(dataset_of(*encoder_, held_out, false));
  return sorted_scores(set_scores(std::get<Classes>(p), y, u), groups);
}

}  // namespace slimbayes
