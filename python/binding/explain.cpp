// What the answers of a model depend on (slimbayes/explain).
#include "slimbayes/explain/explain.h"

#include <pybind11/stl.h>

#include "binding/binding.h"

namespace slimbayes::python {
namespace {

/// Returns the report of explain() as JSON. `asked` has groups, auto_groups, repeats, rows, level, columns
/// and importance.
std::string explained(const Model& model, const Rows& rows, const std::string& asked) {
  const py::gil_scoped_release released;
  const nlohmann::json given = from_text(asked);
  ExplainAsked of;
  of.groups = given.at("groups").get<std::vector<std::vector<std::string>>>();
  of.auto_groups = given.at("auto_groups").get<bool>();
  of.repeats = given.at("repeats").get<int64_t>();
  of.rows.rows = given.at("rows").get<int64_t>();
  of.rows.level = given.at("level").get<double>();
  of.columns = given.at("columns").get<std::vector<std::string>>();
  of.importance = given.at("importance").get<bool>();
  return to_text(sentences_in_python(fields_to_json(explain(model, *rows, of))));
}

}  // namespace

void bind_explain(py::module_& module) {
  module.def("explain", &explained, py::arg("model"), py::arg("rows"), py::arg("asked"));
}

}  // namespace slimbayes::python
