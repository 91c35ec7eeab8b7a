#include "slimbayes/model/model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/calibration/adaptive_conformal.h"
#include "slimbayes/answers/calibration/group_calibration.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/data/answer_to.h"
#include "slimbayes/data/input_scores.h"
#include "slimbayes/data/table/spelling.h"
#include "slimbayes/model/events.h"
#include "slimbayes/model/model_weights.h"
#include "slimbayes/model/persistence.h"
#include "slimbayes/model/segmentation.h"
#include "slimbayes/model/series/adaptive_state.h"
#include "slimbayes/model/trust_notes.h"
#include "slimbayes/model/tuning_report.h"
#include "slimbayes/train/failure.h"

namespace slimbayes {

Reading Model::reading(bool with_target) const {
  Reading reading = reading_of(*parts_.encoder, with_target);
  reading.missing = marks_of(parts_.fit);
  reading.notation = notation_of(parts_.fit);
  if (with_target) add_weights(reading, parts_.fit);
  if (!parts_.by_group.empty()) reading.kinds.emplace(parts_.fit.calibrate_by, parts_.by_kind);
  return reading;
}

Examples Model::examples(Examples given, bool with_target) const {
  return examples_of(std::move(given), *parts_.encoder, with_target);
}

Model Model::on(std::string_view device) const {
  ModelParts parts = parts_;
  parts.device = device_of(device);
  return Model(std::move(parts));
}

bool Model::interrupted() const {
  return parts_.noise.interrupted || parts_.fitted->summary().stopped == Stopped::interrupted ||
         tuning_interrupted(parts_.tuning);
}

Interval Model::interval(const Regression& p, double level, const std::vector<int64_t>& group) const {
  if (parts_.adaptive) return adaptive_interval(p, *parts_.adaptive, level);
  if (!parts_.by_group.empty()) {
    if (std::ssize(group) != p.mean.size(0))
      refuse("interval", "the calibration group of each row, of a model with `.calibrate_by`",
             group.empty() ? "none" : "another number", "Model::answers gives intervals and groups");
    return group_interval(p, group, parts_.calibration, parts_.by_group, level);
  }
  return parts_.calibration.groups > 0 ? conformal_interval(p, parts_.calibration, level)
                                       : slimbayes::interval(p, level);
}

/// Returns the answers in the target's units. An aleatoric variance below the cross-fitted noise
/// (ModelParts::noise) is raised to it. An answer that overflows is not finite; the callers check for this.
Predictive Model::answer_to(const Dataset& data, const PredictOptions& options) const {
  const Task& task = schema().task;
  PredictOptions own = options;
  if (own.device.is_cpu()) own.device = parts_.device;
  if (!own.device.is_cpu() && !inner_method(find_method(parts_.method), parts_.options).device)
    own.device = at::kCPU;
  const ReproducibleDevice reproducible(own.device, {});
  Predictive answer =
      with_memory_of(own.device, "predict", [&] { return parts_.fitted->predict(data, own); });
  if (!is_answer_to(answer, task))
    refuse("predict", fmt::format("answers to the encoder's {}", name_of(task.kind)), "those to another task",
           "the model file is damaged");
  check(!task.grid || row_count(answer) == data.size() * rows_per_example(task), "predict",
        "an answer for each pixel", "another number of answers", "the model file is damaged");
  if (auto* p = std::get_if<Regression>(&answer); p != nullptr && p->density.empty())
    p->aleatoric_var = at::maximum(p->aleatoric_var, at::full({}, parts_.noise.var, at::kDouble));
  answer = in_units(answer, task.y_shift, task.y_scale);
  if (task.bounds) return bounded(std::get<Regression>(answer), *task.bounds);
  // A target that was never negative in training is taken to be positive by nature.
  if (auto* p = std::get_if<Regression>(&answer); p != nullptr && task.low >= 0) {
    p->least = 0;
    // As the ends of the intervals: Gaussian parts of a mixture know no bound. The density keeps its own
    // means.
    if (!p->density.empty()) p->mean = p->mean.clamp_min(0);
  }
  return answer;
}

Regression Model::predict(const Examples& examples, const PredictOptions& options) const {
  Predictive p = answer(examples, options);
  if (!std::holds_alternative<Regression>(p))
    refuse("predict", "a model of a regression", name_of(schema().task.kind), "ask for answer()");
  return std::get<Regression>(std::move(p));
}

Evaluation Model::evaluate(const Examples& given, double level, std::vector<BadRow>* bad) const {
  if (kind_of(*parts_.encoder) == InputKind::windows && std::holds_alternative<Table>(given))
    return evaluate(examples(given, true), level, bad);
  if (schema().task.grid) return segmentation_report(*this, given, {}, bad);
  check_targets(*parts_.encoder, given);
  const Answers a = answers(given, {{level}});
  if (!a.bad.empty() && bad == nullptr) throw_bad_example(given, a.bad.front());
  if (!a.bad.empty()) *bad = a.bad;
  return evaluate(given, a);
}

Evaluation Model::evaluate(const Examples& given, const Answers& a) const {
  check_same(given, a);
  check(!a.levels.empty(), "evaluate", "answers with a level", "answers without");
  if (const PositiveExamples scored = scored_examples(given, parts_.fit); scored.some)
    return evaluate(*scored.some, take(a, scored.places));
  const LevelAnswer& at = a.levels.front();
  if (!a.bad.empty() && a.rows.empty()) throw_bad_example(given, a.bad.front());
  check_targets(*parts_.encoder, given);
  const Task& task = schema().task;
  if (task.grid) return segmentation_report(*this, given, a);
  const at::Tensor weight = answered_weights(*this, given, a);
  Evaluation out;
  if (const auto* p = std::get_if<Intensity>(&a.answer)) {
    out = events_report(*parts_.fitted, std::get<Encoder>(*parts_.encoder), parts_.probes, *p);
  } else {
    const at::Tensor y = a.bad.empty() ? target_as_given(*parts_.encoder, given)
                                       : target_as_given(*parts_.encoder, take(given, a.rows));
    out = report(a.answer, y, {at.level, target_sd(task), at.interval, task.levels, at.set}, weight);
    out.inputs = inputs_report(*this, given, a, y, weight);
  }
  if (std::holds_alternative<WindowTable>(given)) {
    const Examples answered = take(given, a.rows);
    add_persistence(*parts_.encoder, std::get<WindowTable>(answered), a.answer, out, weight);
    out.coverage_online = coverage_online(*this, answered, a.answer, at.level);
  }
  if (!a.bad.empty()) out.left_out = a.bad.size();
  return out;
}

Scores Model::ood(const Examples& given) const {
  if (kind_of(*parts_.encoder) == InputKind::windows && std::holds_alternative<Table>(given))
    return ood(examples(given));
  check(!schema().task.grid, "ood", "a model whose examples have one answer", "one of segmentation",
        "its summaries of images (segmentation_table) hold their mean entropy and mutual information");
  const Answers a = answers(given);
  if (!a.bad.empty()) throw_bad_example(given, a.bad.front());
  return ood(given, a);
}

Scores Model::ood(const Examples& given, const Answers& a) const {
  check_same(given, a);
  Scores all = scores(a.answer, ood_score(find_method(parts_.method), parts_.options));
  const at::Tensor rows = at::tensor(a.rows, at::kLong);
  std::vector<BadRow> bad;  // not used: `a.bad` lists them already
  const Dataset data = dataset_of(*parts_.encoder, given, false, &bad);
  PredictOptions options;
  options.device = parts_.device;
  all.merge(parts_.fitted->ood(a.bad.empty() ? data : data.subset(rows), options));
  for (const auto& [name, score] : input_scores(*parts_.encoder, given, parts_.pixel_mean))
    all[name] = score.index_select(0, rows);
  return all;
}

Model Model::load(const std::filesystem::path& path) {
  return from_file(read_tensor_file(path), path.string());
}

void Model::save(const std::filesystem::path& path) const { write_tensor_file(path, to_file()); }

}  // namespace slimbayes
