// Models: reading examples, updates, files, facts. Their answers: answers.cpp.
#include <ATen/ATen.h>
#include <pybind11/stl.h>

#include "binding/binding.h"
#include "slimbayes/core/device.h"
#include "slimbayes/data/images/image_encoder.h"
#include "slimbayes/model/data_file.h"
#include "slimbayes/model/update_notes.h"
#include "slimbayes/report/facts.h"
#include "slimbayes/report/page.h"
#include "slimbayes/version.h"

namespace slimbayes::python {
namespace {

using Words = std::vector<std::string>;
using nlohmann::json;
/// Returns the examples of a frame as the model reads them, with notes on what was left out. Empties the
/// frame.
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
          in_python(notes)};
}

std::pair<Rows, Words> read_images_for(const SharedModel& model, const Images& images, bool with_target) {
  const py::gil_scoped_release released;
  return {{std::make_shared<const Examples>(model->examples(images, with_target))}, {}};
}

/// The facts of the report on these examples (report/facts.h), as JSON, and its page, which is HTML.
std::pair<std::string, std::string> reported(const Model& model, const Rows& rows, double level,
                                             const std::string& part) {
  const py::gil_scoped_release released;
  const ReportFacts facts = report_facts(model, *rows, {level, part, {}, version()});
  return {to_text(sentences_in_python(fields_to_json(facts))), report_page(facts, OptionStyle::keywords)};
}

/// The kind of the target's column in training, such as "numeric", or of the labels of images; "" for
/// events.
std::string target_kind(const Model& model) {
  if (const auto* images = std::get_if<ImageEncoder>(&model.encoder()))
    return std::string(kind_name(images->label_kind()));
  const Reading reading = model.reading(/*with_target=*/true);
  const auto found = reading.kinds.find(model.target());
  if (std::ranges::find(reading.names, model.target()) != reading.names.end()) return "categorical";
  return found == reading.kinds.end() ? "" : std::string(kind_name(found->second));
}

/// The columns of the table of the fit without its target and those that were ignored, in their order; null
/// if the model has no such table (images, windows, texts) or the file does not say.
json input_names(const Model& model) {
  const auto* encoder = std::get_if<Encoder>(&model.encoder());
  if (encoder == nullptr) return nullptr;
  json names = json::array();
  for (const Encoder::Feature& column : encoder->columns()) names.push_back(column.name);
  return names;
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

nlohmann::json facts_of(const Model& model) {
  const Schema& schema = model.schema();
  const SplitRows& split = model.split();
  json columns = json::array();  // in no order that a user knows: asked for by name
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
          {"inputs", input_names(model)},
          {"target_kind", target_kind(model)},
          {"level", model.fit_options().level},
          {"calibrated", model.calibration().groups > 0},
          {"adaptive", model.parts().adaptive.has_value()},
          {"updates", model.fitted().exact_posterior() != nullptr},
          {"ood_score", ood_score(find_method(model.method()), model.options())},
          {"interrupted", model.interrupted()},
          {"rows",
           {{"train", split.train.size()},
            {"valid", split.valid.size()},
            {"calibration", split.calibration.size()},
            {"test", split.test.size()}}},
          {"summary", sentences_in_python(to_json(model.fitted().summary()))}};
}

void bind_model(py::module_& module) {
  using Released = py::call_guard<py::gil_scoped_release>;
  py::class_<Model, std::shared_ptr<Model>>(module, "Model")
      .def_static(
          "load", [](const std::string& path) { return Model::load(path); }, Released())
      .def(
          "save", [](const Model& model, const std::string& path) { model.save(path); }, Released())
      .def(py::pickle(&bytes_of, &model_of))
      .def("on", &Model::on, py::arg("device"), Released())
      .def_property_readonly("device", [](const Model& model) { return name_of(model.device()); })
      .def("report", &reported, py::arg("rows"), py::arg("level"), py::arg("part"))
      .def("facts", [](const Model& model) { return to_text(facts_of(model)); })
      .def("read", &read_table_for, py::arg("frame"), py::arg("with_target"), py::arg("kept") = Words{})
      .def("read", &read_images_for, py::arg("images"), py::arg("with_target"))
      .def(
          "update", [](const Model& model, const Rows& more) { return model.with(*more); }, Released())
      .def(
          "forget", [](const Model& model, const Rows& gone) { return model.without(*gone); }, Released())
      .def(
          "shard", [](const Model& model, const Rows& own) { return model.shard(*own); }, Released())
      .def(
          "merge", [](const Model& model, const Model& other) { return model.merged(other); }, Released())
      .def(
          "update_notes",
          [](const Model& model, const Rows& more) { return in_python(update_notes(model, *more)); },
          Released());
}

}  // namespace slimbayes::python
