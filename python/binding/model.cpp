// Models: reading examples, answers, scores, updates and files.
#include <ATen/ATen.h>
#include <arrow/c/abi.h>
#include <pybind11/stl.h>

#include "binding/binding.h"
#include "slimbayes/core/answers.h"
#include "slimbayes/core/density.h"
#include "slimbayes/report/facts.h"
#include "slimbayes/report/page.h"
#include "slimbayes/version.h"
#include "slimbayes/workflow/answer_table.h"
#include "slimbayes/workflow/data_file.h"
#include "slimbayes/workflow/held_out.h"
#include "slimbayes/workflow/separation.h"
#include "slimbayes/workflow/trust_notes.h"
#include "slimbayes/workflow/uncertainty.h"
#include "slimbayes/workflow/update_notes.h"

namespace slimbayes::python {
namespace {

using Words = std::vector<std::string>;
using nlohmann::json;
using SharedModel = std::shared_ptr<const Model>;

/// The answers of a model to n examples, and the model that gave them.
struct Answered {
  SharedModel model;
  Rows examples;
  Answers answers;
};

/// Returns the values [m, ...] of the answered examples as an array [n, ...], with NaN (false) for the others.
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

/// Returns the quantile of every answered example at probability p.
py::array quantile_at(const Answered& a, double p) {
  if (!(p > 0 && p < 1))
    throw std::invalid_argument("predict_quantiles: expected probabilities between 0 and 1; received " +
                                std::to_string(p));
  if (const auto* r = std::get_if<Regression>(&a.answers.answer))
    return in_place(a, quantile(*r, normal_quantile(p)));
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

/// Returns the examples of a frame as the model reads them, with notes on what was left out. Empties the frame.
std::pair<Rows, Words> read_table_for(const SharedModel& model, Frame& frame, bool with_target,
                                      const Words& kept) {
  Words notes;
  const py::gil_scoped_release released;
  if (are_images(kind_of(model->encoder())))
    throw std::invalid_argument(
        "expected images (an array of uint8), as the model was fitted on; received a table; give an array "
        "[n, height, width] or [n, channels, height, width]");
  Reading reading = model->reading(with_target);
  reading.kept = kept;
  Table table = read_frame(std::move(frame), reading);
  return {{std::make_shared<const Examples>(examples_for(*model, std::move(table), with_target, &notes))},
          notes};
}

std::pair<Rows, Words> read_images_for(const SharedModel& model, const Images& images, bool with_target) {
  const py::gil_scoped_release released;
  return {{std::make_shared<const Examples>(model->examples(images, with_target))}, {}};
}

Answered answered(const SharedModel& model, const Rows& examples, const std::vector<double>& levels,
                  const std::string& sets) {
  const py::gil_scoped_release released;
  return {model, examples, model->answers(*examples, {levels, sets == "deterministic"})};
}

/// The report of `evaluate`, with the metrics of the uncertainty, and the sentences on what to doubt.
std::pair<std::string, Words> evaluated(const Answered& a, double level) {
  const py::gil_scoped_release released;
  const Model& model = *a.model;
  json report = model.evaluate(*a.examples, a.answers);
  report.update(uncertainty_of(model, *a.examples, a.answers));
  report["level"] = level;
  report["method"] = model.method();
  Words notes = notes_for(model.encoder(), *a.examples);
  if (hash_of(*a.examples) != model.data_hash()) {
    const std::string noun = noun_of(*a.examples);
    if (const std::string few = few_scored(report, noun, ""); !few.empty()) notes.push_back(few);
    std::ranges::move(trust_notes(model, {{report, noun + "s", level, /*fresh=*/true}}),
                      std::back_inserter(notes));
  }
  return {to_text(report), notes};
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

/// The facts of the report on these examples (report/facts.h), as JSON, and its page, which is HTML.
std::pair<std::string, std::string> reported(const Model& model, const Rows& rows, double level,
                                             const std::string& part) {
  const py::gil_scoped_release released;
  const json facts = report_facts(model, *rows, {level, part, {}, version()});
  return {to_text(facts), report_page(facts)};
}

/// The table that the tool's `predict` writes, as an Arrow stream.
py::capsule answer_stream(const Answered& a, const Words& kept, bool parts) {
  auto* stream = new ArrowArrayStream{};
  py::capsule capsule(stream, "arrow_array_stream", [](PyObject* self) {
    auto* held = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(self, "arrow_array_stream"));
    if (held->release != nullptr) held->release(held);
    delete held;
  });
  write_stream(answer_table(*a.model, *a.examples, a.answers, {kept, {}, parts}).table, *stream);
  return capsule;
}

/// The kind of the target's column in training, such as "numeric"; "" for events and images.
std::string target_kind(const Model& model) {
  const Reading reading = model.reading(/*with_target=*/true);
  const auto found = reading.kinds.find(model.target());
  if (std::ranges::find(reading.names, model.target()) != reading.names.end()) return "categorical";
  return found == reading.kinds.end() ? "" : std::string(kind_name(found->second));
}

json facts(const Model& model) {
  const Schema& schema = model.schema();
  const SplitRows& split = model.split();
  json columns = json::array();
  const Reading reading = model.reading(false);
  for (const auto& [name, kind] : reading.kinds) columns.push_back(name);
  for (const std::string& name : reading.names) columns.push_back(name);
  return {{"method", model.method()},
          {"options", model.options()},
          {"fit", options_to_json(model.fit_options())},
          {"seed", model.fit_options().seed},
          {"task", name_of(schema.task.kind)},
          {"likelihood", name_of(schema.task.likelihood)},
          {"classes", schema.task.levels},
          {"kind", name_of(kind_of(model.encoder()))},
          {"target", model.target()},
          {"columns", columns},
          {"target_kind", target_kind(model)},
          {"level", model.fit_options().level},
          {"calibrated", model.calibration().groups > 0},
          {"updates", model.fitted().exact_posterior() != nullptr},
          {"ood_score", ood_score(find_method(model.method()), model.options())},
          {"interrupted", model.interrupted()},
          {"rows",
           {{"train", split.train.size()},
            {"valid", split.valid.size()},
            {"calibration", split.calibration.size()},
            {"test", split.test.size()}}},
          {"summary", to_json(model.fitted().summary())}};
}

py::bytes bytes_of(const Model& model) {
  std::vector<std::byte> bytes;
  {
    const py::gil_scoped_release released;
    bytes = slimbayes::to_bytes(model.to_file());
  }
  return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// Reads the bytes of a model file.
Model model_of(const py::bytes& given) {
  const std::string bytes = given;
  const py::gil_scoped_release released;
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return Model::from_file(parse_tensor_file({first, bytes.size()}, "the bytes"), "the bytes");
}

}  // namespace

/// The numbers of a predictive by name, each [m] or [m, C].
std::map<std::string, at::Tensor> parts_of(const Predictive& p) {
  if (const auto* r = std::get_if<Regression>(&p))
    return {{"mean", r->mean},
            {"median", median(*r)},
            {"aleatoric_var", r->aleatoric_var},
            {"epistemic_var", r->epistemic_var}};
  if (const auto* c = std::get_if<Classes>(&p))
    return {{"probabilities", c->probabilities},
            {"entropy", c->predictive_entropy},
            {"expected_entropy", c->expected_entropy},
            {"mutual_information", mutual_information(*c)}};
  const auto* counts = std::get_if<Counts>(&p);
  const Rate& rate = counts ? counts->rate : std::get<Intensity>(p).rate;
  std::map<std::string, at::Tensor> parts = {{"mean", mean(rate)}, {"epistemic_var", var(rate)}};
  parts["aleatoric_var"] =
      counts ? total_var(*counts) - parts["epistemic_var"] : at::zeros_like(parts["mean"]);
  return parts;
}

void bind_model(py::module_& module) {
  using Released = py::call_guard<py::gil_scoped_release>;
  py::class_<Answered>(module, "Answered")
      .def("part", &part)
      .def("parts", &answers_dict)
      .def("levels", &level_arrays)
      .def("quantile", &quantile_at)
      .def("ood", &ood_scores)
      .def("evaluate", &evaluated, py::arg("level"))
      .def("stream", &answer_stream, py::arg("kept"), py::arg("parts"))
      .def("notes", [](const Answered& a) { return answer_notes(*a.model, *a.examples, a.answers); })
      .def("examples", [](const Answered& a) { return a.examples; })
      .def("bad", [](const Answered& a) {
        return a.answers.bad.empty() ? ""
                                     : in_python(bad_examples_text(*a.examples, a.answers.bad, "left blank"));
      });
  py::class_<Model, std::shared_ptr<Model>>(module, "Model")
      .def_static(
          "load", [](const std::string& path) { return Model::load(path); }, Released())
      .def_static("from_bytes", &model_of)
      .def(
          "save", [](const Model& model, const std::string& path) { model.save(path); }, Released())
      .def("to_bytes", &bytes_of)
      .def(py::pickle(&bytes_of, &model_of))
      .def("report", &reported, py::arg("rows"), py::arg("level"), py::arg("part"))
      .def("facts", [](const Model& model) { return to_text(facts(model)); })
      .def("read", &read_table_for, py::arg("frame"), py::arg("with_target"), py::arg("kept") = Words{})
      .def("read", &read_images_for, py::arg("images"), py::arg("with_target"))
      .def("answers", &answered, py::arg("examples"), py::arg("levels") = std::vector<double>{},
           py::arg("sets") = "randomised")
      .def(
          "update", [](const Model& model, const Rows& more) { return model.with(*more); }, Released())
      .def(
          "forget", [](const Model& model, const Rows& gone) { return model.without(*gone); }, Released())
      .def(
          "shard", [](const Model& model, const Rows& own) { return model.shard(*own); }, Released())
      .def(
          "merge", [](const Model& model, const Model& other) { return model.merged(other); }, Released())
      .def(
          "update_notes", [](const Model& model, const Rows& more) { return update_notes(model, *more); },
          Released())
      .def(
          "part",
          [](const Model& model, const Rows& all, const std::string& name) {
            return Rows{std::make_shared<const Examples>(part_of(model, *all, name))};
          },
          Released());
}

}  // namespace slimbayes::python
