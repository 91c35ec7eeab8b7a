#include "slimbayes/methods/table_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/answers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/conformal.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/data/outside.h"
#include "slimbayes/data/repeated_inputs.h"
#include "slimbayes/data/table_cell.h"
#include "slimbayes/data/target.h"
#include "slimbayes/methods/events.h"
#include "slimbayes/methods/fit_notes.h"
#include "slimbayes/methods/registry.h"
#include "slimbayes/methods/tabular.h"
#include "slimbayes/methods/tuning.h"

namespace slimbayes {

namespace {

at::Tensor indices(const std::vector<int64_t>& rows) {
  return at::tensor(rows, at::TensorOptions().dtype(at::kLong));
}

/// The rows that a file lists under this name, which it then holds no more.
std::vector<int64_t> take_row_list(TensorFile& file, const char* name) {
  const at::Tensor rows = stored_tensor(file, name);
  const bool sane = rows.dim() == 1 && rows.scalar_type() == at::kLong && (rows >= 0).all().item<bool>();
  check(sane, "load", fmt::format("a list of rows, from 0, in {}", name), "others",
        "the model file is damaged");
  file.tensors.erase(name);
  return {rows.const_data_ptr<int64_t>(), rows.const_data_ptr<int64_t>() + rows.numel()};
}

/// A split's row lists lie in the file as `split.train`, ... beside the method's tensors.
constexpr const char* kSplitNames[] = {"split.train", "split.valid", "split.test"};
constexpr std::vector<int64_t> SplitRows::*kSplitLists[] = {&SplitRows::train, &SplitRows::valid,
                                                            &SplitRows::test};

// Only a Cox process has these: the integral over its domain begins there.
constexpr const char* kProbes = "events.probes";

// Only a calibrated model's file has these.
constexpr const char* kCalibrationRows = "split.calibration";
constexpr const char* kCalibrationScores = "calibration.scores";
constexpr const char* kCalibrationGroups = "calibration.groups";  // where rows have identical inputs

/// A target for rows, a domain for events.
void check_target(const Table& table, const TableFit& fit) {
  const bool events = fit.likelihood == LikelihoodKind::cox;
  check(events == fit.target.empty(), "fit_table", events ? "no target for events" : "a target column",
        events ? in_quotes(fit.target) : "none",
        events ? "leave --target out" : "name it by --target; only --likelihood cox has none");
  check(!events || !fit.domain.empty(), "fit_table", "the domain of the events", "none",
        "for instance --domain 0:1,0:2");
  check(!events || (fit.scale.empty() && fit.scale_on == "train"), "fit_table",
        "no scale for events, which are scaled from their domain",
        fmt::format("'{}' on the rows '{}'", fit.scale, fit.scale_on), "leave --scale and --scale-on out");
  check(events || table.find(fit.target) != nullptr, "fit_table",
        fmt::format("a target column '{}'", fit.target), "a table without it",
        nearest_hint(fit.target, table.names()));
}

/// The model's file says that these columns are names, and its own table would be read otherwise.
void check_names(const Table& table, const TableFit& fit) {
  for (const std::string& name : fit.names) {
    const Column* column = table.find(name);
    check(column != nullptr, "fit_table", "columns of the table in TableFit::names", in_quotes(name),
          nearest_hint(name, table.names()));
    check(column->kind == ColumnKind::categorical, "fit_table",
          fmt::format("a table that was read with {} as names, as TableFit::names has it", in_quotes(name)),
          fmt::format("a {} column", kind_name(column->kind)),
          "read_table takes the same list as Reading::names; or leave the column out of TableFit::names");
  }
}

/// The groups that the calibration rows were dealt in, refused before the fit where they are too few. Empty without
/// calibration.
std::vector<int64_t> calibration_groups(const Table& table, const TableFit& fit, const SplitOptions& options,
                                        const SplitRows& split) {
  if (fit.calibrate.empty()) return {};
  check(fit.calibrate == "conformal", "fit_table", "a calibration 'conformal'", fit.calibrate);
  const std::vector<int64_t> groups = groups_among(row_groups(table, options), split.calibration);
  const int64_t count = groups.empty() ? 0 : 1 + *std::ranges::max_element(groups);
  check_conformal_rows(count, fit.level, static_cast<int64_t>(groups.size()));
  return groups;
}

/// A default may exceed a small table's rows; who asks for a rank expects it to be of use.
void check_training(const MethodInfo& info, const nlohmann::json& options, const SplitRows& split) {
  check(split.train.size() > 1, "fit_table", "at least two training rows", "one",
        "give more rows, or lower the fractions");
  for (const OptionDoc& doc : options_of(info, options)) {
    if (doc.name != "rank") continue;
    const auto rank = options.at("rank").get<int64_t>();
    check(rank <= static_cast<int64_t>(split.train.size()) || options.at("rank") == doc.fallback, "fit_table",
          fmt::format("a rank of at most the {} training rows", split.train.size()), fmt::format("{}", rank),
          "lower --rank, or give more rows");
  }
}

/// A validation table of its own may hold what was trained on; split_rows knows of one table.
std::vector<std::string> repeated_notes(const Split& parts) {
  const int64_t rows = parts.valid.size();
  const int64_t repeated = repeated_inputs(parts.train.all().inputs.at(0), parts.valid.all().inputs.at(0));
  if (repeated == 0) return {};
  return {
      fmt::format("{} of {} validation rows have the inputs of a training row: their score says nothing of "
                  "new inputs",
                  repeated, rows)};
}

/// The target's own numbers, not those that standardising and its inverse round. [n]
at::Tensor target_as_given(const Encoder& encoder, const Table& table) {
  Task task = encoder.schema().task;
  task.y_shift = 0;
  task.y_scale = 1;
  return target_values(table, encoder.target_name(), task);
}

/// The sorted scores of the file; no groups without any.
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

}  // namespace

int fit_threads(const MethodInfo& method) { return method.resumable ? 1 : 0; }

TableModel fit_table(const Table& table, const TableFit& fit, const Table* valid, Callback* callback,
                     CheckpointPolicy checkpoint) {
  const MethodInfo& info = find_method(fit.method);
  const Row& row = registry_row(fit.method);
  TableModel model;
  model.method_ = info.name;
  model.options_ = info.resolve(fit.options);
  std::unique_ptr<Method> method = row.make(model.options_);

  check_target(table, fit);
  check_names(table, fit);
  std::vector<std::string> not_inputs = fit.ignore;
  const bool events = fit.likelihood == LikelihoodKind::cox;
  if (!events) not_inputs.push_back(fit.target);
  const std::vector<Axis> domain = fit.domain.empty() ? std::vector<Axis>{} : parse_domain(fit.domain);
  SplitOptions split{valid ? 0.0 : fit.valid_fraction, fit.test_fraction, fit.split, not_inputs,
                     fit.calibrate.empty() ? 0.0 : fit.calibration_fraction};
  model.split_ = split_rows(table, split, Stream(fit.split_seed).split("split"));
  const std::vector<int64_t> groups = calibration_groups(table, fit, split, model.split_);
  check_training(info, model.options_, model.split_);
  const std::string scale = fit.scale.empty() ? inner_method(info, model.options_).input_scale : fit.scale;
  model.encoder_ = std::make_shared<const Encoder>(
      Encoder::fit(table, model.split_.train,
                   {fit.target, scale, fit.ignore, fit.scale_on, fit.likelihood, domain, fit.names}));
  const Task& task = model.encoder_->schema().task;
  check_task(task, inner_method(info, model.options_).name);
  check_task(task, info.name);
  check(fit.calibrate.empty() || task.kind == TaskKind::regression || task.kind == TaskKind::classification,
        "fit_table", "a regression or classes to calibrate", name_of(task.kind), "leave --calibrate out");
  model.table_hash_ = table_hash(table);
  if (valid && !events) check_standardised(*valid, fit.target, task);
  Dataset all = model.encoder_->dataset(table, true);
  Split parts{all.subset(indices(model.split_.train)),
              valid ? model.encoder_->dataset(*valid, true) : all.subset(indices(model.split_.valid))};
  if (events) model.probes_ = event_probes(parts.train.all().inputs[0]);
  if (valid) std::ranges::copy(repeated_notes(parts), std::back_inserter(model.split_.notes));
  for (const std::string& note : notes_before_training(*model.encoder_, model.split_)) {
    if (callback) callback->note(note);
  }
  const auto main = [&](const FitContext& context) -> Tuned {
    if (!fit.tune.empty()) return tune(info, model.options_, fit.tune, parts, context);
    return {model.options_, method->fit(parts, context), {}};
  };
  const ThreadScope threads(fit.threads == kThreadsOfMethod ? fit_threads(info) : fit.threads);
  const bool grouped = fit.split != "random" && !row_groups(table, split).singly;
  CrossFitted fitted = fit_with_noise_folds(info, main, parts,
                                            {fit.noise_folds, grouped, Stream(fit.split_seed).split("noise")},
                                            {Stream(fit.seed), callback, std::move(checkpoint)});
  model.fitted_ = std::move(fitted.main.fitted);
  model.tuning_ = std::move(fitted.main.report);
  model.noise_ = std::move(fitted.noise);
  model.options_ =
      stored_json(model.fitted_->save(), "options");  // as they were resolved by the rows at hand
  if (!fit.calibrate.empty())
    model.calibration_ = model.calibrated(take_rows(table, model.split_.calibration), groups);
  return model;
}

/// Of answers as they are given: a row's score and its interval round alike.
ConformalScores TableModel::calibrated(const Table& held_out, const std::vector<int64_t>& groups) const {
  const Predictive p = answer(held_out);
  const at::Tensor y = target_as_given(*encoder_, held_out);
  if (const auto* regression = std::get_if<Regression>(&p)) return conformal_scores(*regression, y, groups);
  const at::Tensor u = row_uniforms(encoder_->inputs(held_out));
  return sorted_scores(set_scores(std::get<Classes>(p), y, u), groups);
}

bool TableModel::interrupted() const {
  return noise_.interrupted || Tuned{{}, fitted_, tuning_}.interrupted();
}

Interval TableModel::interval(const Regression& p, double level) const {
  return calibration_.groups > 0 ? conformal_interval(p, calibration_, level) : gaussian_interval(p, level);
}

/// In the target's units; not finite where it overflows.
Predictive TableModel::answer_to(const Dataset& data, const PredictOptions& options) const {
  const Task& task = encoder_->schema().task;
  Predictive answer = fitted_->predict(data, options);
  check(is_answer_to(answer, task), "predict", fmt::format("answers to the encoder's {}", name_of(task.kind)),
        "those to another task", "the model file is damaged");
  if (auto* p = std::get_if<Regression>(&answer))
    p->aleatoric_var = at::maximum(p->aleatoric_var, at::full({}, noise_.var, at::kDouble));
  return in_units(answer, task.y_shift, task.y_scale);
}

Regression TableModel::predict(const Table& table, const PredictOptions& options) const {
  Predictive p = answer(table, options);
  check(std::holds_alternative<Regression>(p), "predict", "a model of a regression",
        name_of(encoder_->schema().task.kind), "ask for answer()");
  return std::get<Regression>(std::move(p));
}

nlohmann::json TableModel::evaluate(const Table& table, double level, std::vector<BadRow>* bad) const {
  check_standardised(table, encoder_->target_name(), encoder_->schema().task);
  Answers a = answers(table, level);
  if (!a.bad.empty()) {
    if (bad == nullptr || a.rows.empty()) throw_bad_cell(table, a.bad.front().row, a.bad.front().reason);
    *bad = std::move(a.bad);
    nlohmann::json rest = evaluate(take_rows(table, a.rows), level);
    rest["left_out"] = bad->size();
    return rest;
  }
  const Task& task = encoder_->schema().task;
  if (const auto* p = std::get_if<Intensity>(&a.answer))
    return events_report(*fitted_, *encoder_, probes_, *p);
  return report(a.answer, target_as_given(*encoder_, table), {level, task.y_scale, a.interval, task.levels, a.set});
}

Scores TableModel::ood(const Table& table) const {
  Scores all = scores(answer(table), ood_score(find_method(method_), options_));
  if (const auto far = outside(*encoder_, table)) {
    all["outside"] = at::tensor(far->beyond, at::kDouble);
    all["distance"] = at::tensor(far->distance, at::kDouble);
  }
  return all;
}

TensorFile TableModel::to_file() const {
  TensorFile file = fitted_->save();
  file.metadata["kind"] = "model";
  file.metadata["method"] = method_;
  file.metadata["options"] = options_.dump();
  file.metadata["encoder"] = encoder_->to_json().dump();
  file.metadata["table_hash"] = table_hash_;
  for (size_t i = 0; i < std::size(kSplitNames); ++i) {
    file.tensors[kSplitNames[i]] = to_stored(indices(split_.*kSplitLists[i]));
  }
  if (probes_.defined()) file.tensors[kProbes] = to_stored(probes_);
  if (calibration_.groups > 0) {
    const int64_t rows = calibration_.value.size(0);
    nlohmann::json facts = {{"method", "conformal"}, {"rows", rows}};
    file.tensors[kCalibrationRows] = to_stored(indices(split_.calibration));
    file.tensors[kCalibrationScores] = to_stored(calibration_.value);
    if (calibration_.groups < rows) {
      facts["groups"] = calibration_.groups;
      file.tensors[kCalibrationGroups] = to_stored(calibration_.group);
    }
    file.metadata["calibration"] = facts.dump();
  }
  if (!split_.notes.empty()) file.metadata["split_notes"] = nlohmann::json(split_.notes).dump();
  if (!tuning_.is_null()) file.metadata["tuning"] = tuning_.dump();
  if (!noise_.empty()) file.metadata["noise"] = to_json(noise_).dump();
  return file;
}

TableModel TableModel::from_file(const TensorFile& source, const std::string& name) {
  TensorFile file = source;
  TableModel model;
  model.source_ = name;
  read_contents(name, "fit it again", [&] { model.take_from(file); });
  return model;
}

void TableModel::take_from(TensorFile& file) {
  check(stored_text(file, "kind") == "model", "load", "a model file",
        "a " + stored_text(file, "kind").substr(0, 40));
  method_ = stored_text(file, "method");
  options_ = stored_json(file, "options");
  encoder_ = std::make_shared<const Encoder>(Encoder::from_json(stored_json(file, "encoder")));
  table_hash_ = stored_text(file, "table_hash");
  for (size_t i = 0; i < std::size(kSplitNames); ++i)
    split_.*kSplitLists[i] = take_row_list(file, kSplitNames[i]);
  if (file.metadata.contains("split_notes"))
    split_.notes = stored_json(file, "split_notes").get<std::vector<std::string>>();
  calibration_ = take_calibration(file);
  if (file.tensors.contains(kProbes)) {
    probes_ = stored_tensor(file, kProbes).to(at::kDouble);
    check_shape(probes_, {-1, static_cast<int64_t>(encoder_->schema().features.size())}, "load", kProbes);
    check_finite(probes_, "load", kProbes);
    file.tensors.erase(kProbes);
  }
  if (file.tensors.contains(kCalibrationRows)) split_.calibration = take_row_list(file, kCalibrationRows);
  if (file.metadata.contains("tuning")) {
    tuning_ = stored_json(file, "tuning");
    check_tuning_report(tuning_);
  }
  if (file.metadata.contains("noise")) noise_ = noise_from_json(stored_json(file, "noise"));
  fitted_ = registry_row(method_).load(file);
}

TableModel TableModel::load(const std::filesystem::path& path) {
  return from_file(read_tensor_file(path), path.string());
}

void TableModel::save(const std::filesystem::path& path) const { write_tensor_file(path, to_file()); }

}  // namespace slimbayes
