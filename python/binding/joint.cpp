// Models of several targets: reading rows, answers together, files, facts. The answers to one target alone
// are those of its model (answers.cpp).
#include <ATen/ATen.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "binding/binding.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/data/fit_examples.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/model/answer_table.h"
#include "slimbayes/model/data_file.h"
#include "slimbayes/model/trust_notes.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::python {
namespace {

using Words = std::vector<std::string>;
using nlohmann::json;
using SharedJoint = std::shared_ptr<const JointModel>;

/// The answers of all models to n rows.
struct JointAnswered {
  SharedJoint model;
  Rows rows;
  JointAnswers answers;
  Words notes;  // on the rows and on the answers
};

/// A condition as Python gives it: the target, the operator, and the text of the number or the class.
using Condition = std::tuple<std::string, std::string, std::string>;

/// Returns the examples of a frame as all models read them, with notes on what was left out. Empties the
/// frame.
std::pair<Rows, Words> read_table_for(const SharedJoint& model, Frame& frame, bool with_targets,
                                      const Words& kept) {
  const py::gil_scoped_release released;
  const std::string name = frame.source;
  const DataSource source{
      [&frame](const std::string&, const Reading& reading) { return read_frame(std::move(frame), reading); }};
  Words notes;
  Table table = read_for(*model, name, source, with_targets, &notes, kept);
  return {{std::make_shared<const Examples>(std::move(table))}, in_python(notes)};
}

std::string after_name(const Model& model, const std::string& sentence) {
  return foreign_text(model.target()) + ": " + sentence;
}

/// Returns the sentences of all models: one that every model says once, another behind its target's name.
Words joined(const JointModel& model, const std::vector<Words>& each) {
  Words all;
  for (size_t t = 0; t < each.size(); ++t)
    for (const std::string& one : each[t]) {
      const bool common = std::ranges::all_of(
          each, [&](const Words& said) { return std::ranges::find(said, one) != said.end(); });
      const std::string sentence = common ? one : after_name(model.models()[t], one);
      if (std::ranges::find(all, sentence) == all.end()) all.push_back(sentence);
    }
  return all;
}

JointAnswered answered(const SharedJoint& model, const Rows& rows, const std::vector<double>& levels,
                       const std::string& sets) {
  const py::gil_scoped_release released;
  JointAnswered out{model, rows, model->answers(*rows, {levels, sets == "deterministic"}), {}};
  std::vector<Words> each;
  for (size_t t = 0; t < model->models().size(); ++t)
    each.push_back(notes_on(model->models()[t], *rows, out.answers.marginal[t], !levels.empty()));
  out.notes = in_python(joined(*model, each));
  return out;
}

/// Returns the answers to one target alone. They keep the whole model alive.
Answered marginal(const JointAnswered& a, size_t target) {
  const SharedModel one(a.model, &a.model->models().at(target));
  return {one, a.rows, a.answers.marginal.at(target), {}};
}

/// Returns the values of the m rows that all models answer as an array of all n, with NaN for the others.
/// The rows are the axis `axis` of the values.
py::array in_place(const JointAnswered& a, const at::Tensor& values, int64_t axis = 0) {
  const int64_t n = count(*a.rows);
  if (std::ssize(a.answers.rows) == n) return to_numpy(values);
  std::vector<int64_t> shape = values.sizes().vec();
  shape.at(static_cast<size_t>(axis)) = n;
  const at::Tensor all = at::full(shape, kMissing, values.options());
  return to_numpy(all.index_copy(axis, at::tensor(a.answers.rows, at::kLong), values));
}

/// Joint draws [draws, n, targets].
py::array draws_of(const JointAnswered& a, int64_t draws, uint64_t seed) {
  at::Tensor found;
  {
    const py::gil_scoped_release released;
    found = a.model->draws(a.answers, draws, Stream(seed));
  }
  return in_place(a, found, 1);
}

/// The lower and upper ends [n, k] of the joint region.
py::tuple region_of(const JointAnswered& a, double level) {
  JointRegion region;
  {
    const py::gil_scoped_release released;
    region = a.model->region(a.answers, level);
  }
  return py::make_tuple(in_place(a, region.lower), in_place(a, region.upper));
}

/// The probability [n] that all conditions hold.
py::array probability_of(const JointAnswered& a, const std::vector<Condition>& given) {
  at::Tensor found;
  {
    const py::gil_scoped_release released;
    std::vector<JointCondition> conditions;
    for (const auto& [target, sign, value] : given)
      for (JointCondition& one : a.model->conditions(target, sign, value))
        conditions.push_back(std::move(one));
    found = a.model->probability(a.answers, conditions);
  }
  return in_place(a, found);
}

/// The table that the tool's `predict` writes, as an Arrow stream.
py::capsule answer_stream(const JointAnswered& a, const Words& kept, bool parts,
                          const std::vector<double>& quantiles) {
  return stream_of(joint_answer_table(*a.model, *a.rows, a.answers, {kept, {}, parts, quantiles}).table);
}

/// The report of an evaluation as JSON, and the sentences on what to doubt.
std::pair<std::string, Words> evaluated(const JointAnswered& a, double level) {
  const py::gil_scoped_release released;
  const JointModel& model = *a.model;
  const FitOptions& fit = model.models().front().fit_options();
  const PositiveExamples weighted = scored_examples(*a.rows, fit);
  const Table& table = std::get<Table>(weighted.some ? *weighted.some : *a.rows);
  const JointReport report = model.evaluate(table, level);
  Words notes = report.notes;
  if (const std::string note = scored_weights_note(*a.rows, fit); !note.empty()) notes.push_back(note);
  const bool fresh = hash_of(*a.rows) != model.parts().data_hash;
  for (size_t t = 0; t < report.targets.size() && fresh; ++t) {
    const Model& one = model.models()[t];
    if (!report.targets[t]) continue;
    if (const std::string few = few_scored(report.targets[t]->n, "row", ""); !few.empty())
      notes.push_back(after_name(one, few));
    for (const std::string& doubt : trust_notes(one, {{*report.targets[t], "rows", level, /*fresh=*/true}}))
      notes.push_back(after_name(one, doubt));
  }
  json out = report_json(model, report);
  out["level"] = level;
  if (!model.scored().empty()) out["region"] = model.parts().region.groups > 0 ? "conformal" : "correlation";
  return {to_text(out), in_python(notes)};
}

json numbers_of(const at::Tensor& matrix) {
  json rows = json::array();
  for (int64_t i = 0; i < matrix.size(0); ++i) {
    json row = json::array();
    for (int64_t j = 0; j < matrix.size(1); ++j) row.push_back(matrix[i][j].item<double>());
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The options of the fit of all targets, from those of the first: the other targets are none of its ignored
/// columns, and its time was a share of the whole.
void put_whole_options(const JointModel& model, json& facts) {
  const Words targets = model.targets();
  const Model& first = model.models().front();
  json ignored = json::array();
  for (const std::string& name : first.fit_options().ignore)
    if (std::ranges::find(targets, name) == targets.end()) ignored.push_back(name);
  facts["fit"]["ignore"] = ignored;
  facts["fit"]["target"] = "";
  json& options = facts["options"];
  if (options.contains("time_limit") && options["time_limit"].is_number())
    options["time_limit"] = options["time_limit"].get<double>() * static_cast<double>(targets.size());
}

/// The facts of facts_of(), of all targets: "targets" and "tasks" have one entry for each.
json facts(const JointModel& model) {
  json out = facts_of(model.models().front());
  put_whole_options(model, out);
  json tasks = json::array();
  bool interrupted = false;
  for (const Model& one : model.models()) {
    tasks.push_back(name_of(one.schema().task.kind));
    interrupted = interrupted || one.interrupted();
  }
  json columns = json::array(), scored = json::array();
  const Reading reading = model.reading(false);
  for (const auto& [name, kind] : reading.kinds) columns.push_back(name);
  for (const std::string& name : reading.names) columns.push_back(name);
  for (const size_t t : model.scored()) scored.push_back(model.models()[t].target());
  const ErrorCorrelation& correlation = model.correlation();
  const SplitRows& split = model.parts().split;
  out.update({{"target", ""},
              {"targets", model.targets()},
              {"tasks", tasks},
              {"classes", json::array()},
              {"columns", columns},
              {"target_kind", ""},
              {"calibrated", model.parts().region.groups > 0},
              {"updates", false},
              {"interrupted", interrupted},
              {"rows",
               {{"train", split.train.size()},
                {"valid", split.valid.size()},
                {"calibration", split.calibration.size()},
                {"test", split.test.size()}}},
              {"correlation",
               {{"targets", scored},
                {"matrix", numbers_of(correlation.matrix)},
                {"shrinkage", correlation.shrinkage},
                {"rows", correlation.rows}}},
              {"summary", json::object()}});
  return out;
}

/// The model of each target as an object of its own.
std::vector<std::shared_ptr<Model>> models_of(const JointModel& model) {
  std::vector<std::shared_ptr<Model>> out;
  for (const Model& one : model.models()) out.push_back(std::make_shared<Model>(one));
  return out;
}

py::bytes bytes_of(const JointModel& model) {
  std::vector<std::byte> bytes;
  {
    const py::gil_scoped_release released;
    bytes = slimbayes::to_bytes(model.to_file());
  }
  return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

JointModel model_of(const py::bytes& given) {
  const std::string bytes = given;
  const py::gil_scoped_release released;
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return JointModel::from_file(parse_tensor_file({first, bytes.size()}, "the bytes"), "the bytes");
}

/// Reads a model file, which says whether it is of one target or of several.
py::object load(const std::string& path) {
  std::variant<Model, JointModel> found = [&] {
    const py::gil_scoped_release released;
    return load_any(path);
  }();
  if (auto* one = std::get_if<Model>(&found)) return py::cast(std::make_shared<Model>(std::move(*one)));
  return py::cast(std::make_shared<JointModel>(std::get<JointModel>(std::move(found))));
}

}  // namespace

json report_json(const JointModel& model, const JointReport& report) {
  json out = {{"targets", json::array()}};
  for (size_t t = 0; t < report.targets.size(); ++t) {
    const Model& one = model.models()[t];
    json scores = {{"target", one.target()}, {"method", one.method()}};
    if (report.targets[t]) scores.update(fields_to_json(*report.targets[t]));
    out["targets"].push_back(std::move(scores));
  }
  if (report.joint) out["joint"] = fields_to_json(*report.joint);
  return out;
}

void bind_joint(py::module_& module) {
  using Released = py::call_guard<py::gil_scoped_release>;
  py::class_<JointModel, std::shared_ptr<JointModel>>(module, "JointModel")
      .def(
          "save", [](const JointModel& model, const std::string& path) { model.save(path); }, Released())
      .def(py::pickle(&bytes_of, &model_of))
      .def("on", &JointModel::on, py::arg("device"), Released())
      .def_property_readonly("device",
                             [](const JointModel& model) { return name_of(model.models().front().device()); })
      .def("facts", [](const JointModel& model) { return to_text(facts(model)); })
      .def("models", &models_of)
      .def("read", &read_table_for, py::arg("frame"), py::arg("with_target"), py::arg("kept") = Words{});
  module.def("load", &load, py::arg("path"));
  module.def("joint_answers", &answered, py::arg("model"), py::arg("rows"), py::arg("levels"),
             py::arg("sets"));
  py::class_<JointAnswered>(module, "JointAnswered")
      .def("marginal", &marginal, py::arg("target"))
      .def("draws", &draws_of, py::arg("draws"), py::arg("seed"))
      .def("region", &region_of, py::arg("level"))
      .def("probability", &probability_of, py::arg("conditions"))
      .def("evaluate", &evaluated, py::arg("level"))
      .def("stream", &answer_stream, py::arg("kept"), py::arg("parts"), py::arg("quantiles"))
      .def_readonly("notes", &JointAnswered::notes);
}

}  // namespace slimbayes::python
