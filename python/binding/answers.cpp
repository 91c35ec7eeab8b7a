// The answers of a model as arrays, and what is computed from them: quantiles, scores, the report of an
// evaluation.
#include "slimbayes/answers/answers.h"

#include <ATen/ATen.h>
#include <arrow/c/abi.h>
#include <pybind11/stl.h>

#include "binding/binding.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/density/unit.h"
#include "slimbayes/model/answer_table.h"
#include "slimbayes/model/conditional/conditional_report.h"
#include "slimbayes/model/evaluation_report.h"
#include "slimbayes/model/trust_notes.h"
#include "slimbayes/model/uncertainty.h"

namespace slimbayes::python {
namespace {

using Words = std::vector<std::string>;

/// Returns the values [m, ...] of the answered examples as an array [n, ...], with NaN (false) for the
/// others.
py::array in_place(const Answered& a, const at::Tensor& values) {
  if (a.answers.bad.empty()) return to_numpy(values);
  std::vector<int64_t> shape = values.sizes().vec();
  shape[0] = count(*a.examples);
  const at::Tensor rows = at::tensor(a.answers.rows, at::kLong);
  at::Tensor all = values.scalar_type() == at::kBool ? at::zeros(shape, values.options())
                                                     : at::full(shape, kMissing, values.options());
  return to_numpy(all.index_copy_(0, rows, values));
}

py::array part(const Answered& a, const std::string& name) {
  if (const auto* r = std::get_if<Regression>(&a.answers.answer); r != nullptr && name == "mean")
    return in_place(a, r->mean);
  const auto parts = parts_of(a.answers.answer);
  const auto found = parts.find(name);
  if (found == parts.end()) throw py::key_error(name);
  return in_place(a, found->second);
}

/// Quantiles at probabilities nearer to 0 or 1 are refused: the level 1 - 2 p of an interval would round to
/// 1.
constexpr double kLeastProbability = 1e-12;

/// Returns the quantile of every answered example at probability p: that of answer_table(), so of a
/// calibrated model the end of a calibrated interval.
py::array quantile_at(const Answered& a, double p) {
  if (!(p >= kLeastProbability && p <= 1 - kLeastProbability))
    throw std::invalid_argument(
        "predict_quantiles: expected probabilities between 0 and 1, not beyond 1e-12; received " +
        std::to_string(p));
  if (const auto* r = std::get_if<Regression>(&a.answers.answer)) {
    if (a.model->calibration().groups == 0 || p == 0.5) return in_place(a, quantile(*r, normal_quantile(p)));
    check_quantiles(*a.model, {p});
    const Interval ends = a.model->interval(*r, std::abs(1 - 2 * p), a.answers.calibration_group);
    const at::Tensor& end = p < 0.5 ? ends.lower : ends.upper;
    return in_place(a, at::where(end.isfinite(), end, kMissing));
  }
  if (std::holds_alternative<Classes>(a.answers.answer))
    throw std::invalid_argument(
        "predict_quantiles: expected a model of numbers or counts; received classes; predict_proba has their "
        "probabilities");
  // The lower end of the central interval of level 1 - 2 p is the quantile at p.
  if (p == 0.5) p = std::nextafter(0.5, 0.0);
  const Interval ends = *a.model->interval(a.answers.answer, std::abs(1 - 2 * p));
  return in_place(a, p < 0.5 ? ends.lower : ends.upper);
}

py::dict answers_dict(const Answered& a) {
  py::dict out;
  for (const auto& [name, values] : parts_of(a.answers.answer)) out[py::str(name)] = in_place(a, values);
  return out;
}

py::list level_arrays(const Answered& a) {
  py::list out;
  for (const LevelAnswer& at_level : a.answers.levels) {
    if (at_level.set)
      out.append(in_place(a, *at_level.set));
    else if (at_level.interval)
      out.append(
          py::make_tuple(in_place(a, at_level.interval->lower), in_place(a, at_level.interval->upper)));
    else
      out.append(py::none());
  }
  return out;
}

Answered answered(const SharedModel& model, const Rows& examples, const std::vector<double>& levels,
                  const std::string& sets) {
  const py::gil_scoped_release released;
  Answered out{model, examples, model->answers(*examples, {levels, sets == "deterministic"}), {}};
  out.notes = in_python(notes_on(*model, *examples, out.answers, !levels.empty()));
  return out;
}

/// The report of `evaluate`, with the metrics of the uncertainty, and the sentences on what to doubt.
/// `by`: columns of the rows whose groups are scored. `conditional`: whether to estimate the excess risk of
/// the coverage.
std::pair<std::string, Words> evaluated(const Answered& a, double level, const Words& by, bool conditional) {
  const py::gil_scoped_release released;
  const Model& model = *a.model;
  const PositiveExamples weighted = scored_examples(*a.examples, model.fit_options());
  const Examples& examples = weighted.some ? *weighted.some : *a.examples;
  const Answers answers = weighted.some ? take(a.answers, weighted.places) : a.answers;
  const EvaluationReport report{
      .metrics = {model.evaluate(examples, answers), uncertainty_of(model, examples, answers)},
      .method = model.method(),
      .level = level,
      .conditional = conditional_report(model, examples, answers, {by, conditional})};
  const Evaluation& metrics = report.metrics.evaluation;
  Words notes;
  if (const std::string note = scored_weights_note(*a.examples, model.fit_options()); !note.empty())
    notes.push_back(note);
  if (hash_of(*a.examples) != model.data_hash()) {
    const std::string noun = noun_of(*a.examples);
    if (const std::string few = few_scored(metrics.n, noun, ""); !few.empty()) notes.push_back(few);
    std::ranges::move(trust_notes(model, {{metrics, noun + "s", level, /*fresh=*/true}}),
                      std::back_inserter(notes));
  }
  return {to_text(fields_to_json(report)), in_python(notes)};
}

/// Out-of-distribution scores by name, [n] each.
py::dict ood_scores(const Answered& a) {
  Scores scores;
  {
    const py::gil_scoped_release released;
    scores = a.model->ood(*a.examples, a.answers);
  }
  py::dict out;
  for (const auto& [name, values] : scores) out[py::str(name)] = in_place(a, values);
  return out;
}

/// The table that the tool's `predict` writes, as an Arrow stream.
py::capsule answer_stream(const Answered& a, const Words& kept, bool parts,
                          const std::vector<double>& quantiles) {
  return stream_of(answer_table(*a.model, *a.examples, a.answers, {kept, {}, parts, quantiles}).table);
}

}  // namespace

Words notes_on(const Model& model, const Examples& examples, const Answers& answers, bool with_levels) {
  Words notes;
  const InputEncoder& encoder = model.encoder();
  if (!answers.bad.empty()) notes.push_back(bad_examples_text(examples, answers.bad, "left blank"));
  std::ranges::move(notes_for(encoder, examples), std::back_inserter(notes));
  if (const auto far = outside(encoder, examples); far && far->rows > 0)
    notes.push_back(outside_text(*far, std::get<Table>(examples)));
  if (with_levels) std::ranges::move(answer_notes(model, examples, answers), std::back_inserter(notes));
  return notes;
}

py::capsule stream_of(const Table& table) {
  auto* stream = new ArrowArrayStream{};
  py::capsule capsule(stream, "arrow_array_stream", [](PyObject* self) {
    auto* held = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(self, "arrow_array_stream"));
    if (held->release != nullptr) held->release(held);
    delete held;
  });
  write_stream(table, *stream);
  return capsule;
}

/// The numbers of a predictive by name, each [m] or [m, C].
std::map<std::string, at::Tensor> parts_of(const Predictive& p) {
  if (const auto* r = std::get_if<Regression>(&p))
    return {{"mean", r->mean},
            {"median", median(*r).clone()},  // of a Gaussian it is the mean, which a user may change
            {"aleatoric_var", r->aleatoric_var},
            {"epistemic_var", r->epistemic_var}};
  if (const auto* c = std::get_if<Classes>(&p))
    return {{"probabilities", c->probabilities},
            {"entropy", c->predictive_entropy},
            {"expected_entropy", c->expected_entropy},
            {"mutual_information", mutual_information(*c)}};
  const auto* counts = std::get_if<Counts>(&p);
  if (counts)
    return {{"mean", mean(*counts)},
            {"epistemic_var", epistemic_var(*counts)},
            {"aleatoric_var", total_var(*counts) - epistemic_var(*counts)}};
  const LogNormalRate& rate = std::get<Intensity>(p).rate;
  return {
      {"mean", mean(rate)}, {"epistemic_var", var(rate)}, {"aleatoric_var", at::zeros_like(rate.log_mean)}};
}

void bind_answers(py::module_& module) {
  module.def("answers", &answered, py::arg("model"), py::arg("rows"), py::arg("levels"), py::arg("sets"));
  py::class_<Answered>(module, "Answered")
      .def("part", &part)
      .def("parts", &answers_dict)
      .def("levels", &level_arrays)
      .def("quantile", &quantile_at)
      .def("ood", &ood_scores)
      .def("evaluate", &evaluated, py::arg("level"), py::arg("by") = Words{}, py::arg("conditional") = false)
      .def("stream", &answer_stream, py::arg("kept"), py::arg("parts"), py::arg("quantiles"))
      .def_readonly("notes", &Answered::notes);
}

}  // namespace slimbayes::python
