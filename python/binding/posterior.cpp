// A posterior around a network that PyTorch trained, which arrives as a TorchScript archive.
#include <ATen/ATen.h>
#include <pybind11/stl.h>

#include "binding/binding.h"
#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/catalog/call_options.h"
#include "slimbayes/fit/post_hoc.h"

namespace slimbayes::python {
namespace {

using Arrays = std::pair<py::array, py::array>;

/// Rows that ask Python for signals before each batch: Ctrl-C ends the computation of a posterior, which has
/// no result before its end.
class WatchedSource : public Source {
 public:
  explicit WatchedSource(std::shared_ptr<const Source> rows) : rows_(std::move(rows)) {}
  int64_t size() const override { return rows_->size(); }
  at::Tensor lengths() const override { return rows_->lengths(); }
  Batch rows(const at::Tensor& indices, const RowContext& context) const override {
    {
      const py::gil_scoped_acquire locked;
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
    return rows_->rows(indices, context);
  }

 private:
  std::shared_ptr<const Source> rows_;
};

Dataset rows_of(const std::optional<Arrays>& rows, LikelihoodKind likelihood, int64_t classes) {
  if (!rows) return {};
  Dataset data = module_rows(to_tensor(rows->first), to_tensor(rows->second), likelihood, classes);
  if (data.source) data.source = std::make_shared<WatchedSource>(data.source);
  return data;
}

Dataset rows_of(const Arrays& rows, const ModulePosterior& posterior) {
  return rows_of(rows, posterior.likelihood, posterior.classes);
}

ModulePosterior made(const std::string& archive, const std::string& layer, const Arrays& train,
                     const std::optional<Arrays>& valid, int64_t classes, const std::string& method,
                     const std::string& options, const std::string& run) {
  const Gradients on;
  const auto* first = reinterpret_cast<const std::byte*>(archive.data());
  const ScriptNetwork network = ScriptNetwork::from_bytes({first, first + archive.size()}, layer);
  const LikelihoodKind likelihood = module_likelihood(network, classes);
  const Split split{rows_of(train, likelihood, classes), rows_of(valid, likelihood, classes)};
  const uint64_t seed = options_from_json<RunOptions>(from_text(run), "posterior").seed;
  const py::gil_scoped_release released;
  return module_posterior(network, split, method, from_text(options), Stream(seed));
}

/// The answers by name, and for a regression the ends of the interval at `level`, if it is given.
py::dict answers(const ModulePosterior& posterior, const py::array& x, std::optional<double> level) {
  const at::Tensor inputs = to_tensor(x);
  Predictive p;
  std::optional<Interval> ends;
  {
    const py::gil_scoped_release released;
    p = answer(posterior, inputs);
    if (const auto* r = std::get_if<Regression>(&p); r != nullptr && level) ends = interval(*r, *level);
  }
  py::dict out;
  for (const auto& [name, values] : parts_of(p)) out[py::str(name)] = to_numpy(values);
  if (ends) out["lower"] = to_numpy(ends->lower), out["upper"] = to_numpy(ends->upper);
  return out;
}

py::dict ood_of(const ModulePosterior& posterior, const py::array& x) {
  const at::Tensor inputs = to_tensor(x);
  Scores all;
  {
    const py::gil_scoped_release released;
    all = ood(posterior, inputs);
  }
  py::dict out;
  for (const auto& [name, values] : all) out[py::str(name)] = to_numpy(values);
  return out;
}

/// Returns the posterior that has also learned these rows or, unless `adds`, has forgotten them.
ModulePosterior changed(const ModulePosterior& posterior, const Arrays& rows, bool adds) {
  const Gradients on;
  const Dataset given = rows_of(rows, posterior);
  const py::gil_scoped_release released;
  return adds ? updated(posterior, given, {}) : updated(posterior, {}, given);
}

py::bytes bytes_of(const ModulePosterior& posterior) {
  std::vector<std::byte> bytes;
  {
    const py::gil_scoped_release released;
    bytes = to_bytes(to_file(posterior));
  }
  return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

void bind_posterior(py::module_& module) {
  using Released = py::call_guard<py::gil_scoped_release>;
  py::class_<ModulePosterior>(module, "ModulePosterior")
      .def(py::init(&made), py::arg("archive"), py::arg("layer"), py::arg("train"), py::arg("valid"),
           py::arg("classes"), py::arg("method"), py::arg("options"), py::arg("run"))
      .def_readonly("method", &ModulePosterior::method)
      .def_readonly("classes", &ModulePosterior::classes)
      .def("notes", [](const ModulePosterior& p) { return in_python(p.fitted->summary().notes); })
      .def("facts", [](const ModulePosterior& p) { return in_python(p.fitted->summary().facts); })
      .def("rows", [](const ModulePosterior& p) { return p.fitted->summary().rows; })
      .def("answers", &answers, py::arg("x"), py::arg("level") = py::none())
      .def("ood", &ood_of, py::arg("x"))
      .def("update", [](const ModulePosterior& p, const Arrays& rows) { return changed(p, rows, true); })
      .def("forget", [](const ModulePosterior& p, const Arrays& rows) { return changed(p, rows, false); })
      .def(
          "save",
          [](const ModulePosterior& p, const std::string& path) { write_tensor_file(path, to_file(p)); },
          Released())
      .def("to_bytes", &bytes_of)
      .def_static(
          "load", [](const std::string& path) { return module_posterior_from(read_tensor_file(path), path); },
          Released())
      .def_static("from_bytes", [](const std::string& bytes) {
        const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
        return module_posterior_from(parse_tensor_file({first, bytes.size()}, "the bytes"), "the bytes");
      });
}

}  // namespace slimbayes::python
