// A posterior around a network that PyTorch trained: a module of Python, which is called as it is, or a
// TorchScript archive.
//
// Tensors cross between Python and C++ as pointers to their implementation, in capsules of
// torch._C._tensor_impl_raw_handle and torch._C._wrap_tensor_impl. So the graph that Python builds is the one
// that C++ differentiates, and this module needs no library of torch's Python.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <pybind11/stl.h>

#include "binding/binding.h"
#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/catalog/call_options.h"
#include "slimbayes/core/check.h"
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

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

/// Returns the tensor of a capsule of torch._C._tensor_impl_raw_handle, whose tensor Python still holds.
at::Tensor from_handle(const py::handle& capsule) {
  auto* implementation = static_cast<at::TensorImpl*>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (implementation == nullptr) throw py::error_already_set();
  return at::Tensor(c10::intrusive_ptr<at::TensorImpl>::unsafe_reclaim_from_nonowning(implementation));
}

at::Tensor optional_from_handle(const py::object& capsule) {
  return capsule.is_none() ? at::Tensor() : from_handle(capsule);
}

/// Calls the method `run` of a Host (slimbayes/_host.py) from any thread. It returns tensors and their
/// handles.
std::vector<at::Tensor> run_host(const py::object& host, const at::Tensor& x) {
  const py::gil_scoped_acquire locked;
  try {
    const auto rows =
        py::reinterpret_steal<py::object>(PyCapsule_New(x.unsafeGetTensorImpl(), nullptr, nullptr));
    const py::tuple found = host.attr("run")(rows);
    std::vector<at::Tensor> all;
    for (const py::handle& each : py::tuple(found[1])) all.push_back(from_handle(each));
    return all;
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError)) throw;  // Ctrl-C
    refuse(
        "module", "rows that the module takes",
        fmt::format("others, to which it says: {}: {}", std::string(py::str(error.type().attr("__name__"))),
                    std::string(py::str(error.value()))));
  }
}

/// Returns the network of a Host. The object is given back in a thread that holds Python's lock.
ScriptNetwork hosted(const py::object& host) {
  const std::shared_ptr<const py::object> kept(new py::object(host), [](const py::object* one) {
    const py::gil_scoped_acquire locked;
    delete one;
  });
  HostModule module;
  module.last_layer = host.attr("layer").cast<std::string>();
  module.weight = from_handle(host.attr("weight_handle")());
  module.bias = optional_from_handle(host.attr("bias_handle")());
  module.names = host.attr("names").cast<std::vector<std::string>>();
  for (const py::handle& each : py::list(host.attr("parameter_handles")()))
    module.parameters.push_back(from_handle(each));
  module.untrained = host.attr("untrained").cast<std::vector<std::string>>();
  module.fingerprint = bytes_of(host.attr("fingerprint").cast<std::string>());
  module.run = [kept](const at::Tensor& x) { return run_host(*kept, x); };
  return ScriptNetwork::of(std::move(module));
}

/// Returns the network of `module`: a Host, or the bytes of a TorchScript archive.
ScriptNetwork network_of(const py::object& module, const std::string& layer) {
  if (!py::isinstance<py::bytes>(module)) return hosted(module);
  return ScriptNetwork::from_bytes(bytes_of(module.cast<std::string>()), layer);
}

ModulePosterior made(const py::object& module, const std::string& layer, const Arrays& train,
                     const std::optional<Arrays>& valid, int64_t classes, const std::string& method,
                     const std::string& options, const std::string& run) {
  const Gradients on;
  const ScriptNetwork network = network_of(module, layer);
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

/// Reads a posterior; `host` is None for one whose file holds its module.
ModulePosterior read(TensorFile file, const std::string& name, const py::object& host) {
  if (!host.is_none()) file.attached = hosted(host);
  const py::gil_scoped_release released;
  return module_posterior_from(file, name);
}

py::bytes file_bytes(const ModulePosterior& posterior) {
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
      .def(py::init(&made), py::arg("module"), py::arg("layer"), py::arg("train"), py::arg("valid"),
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
      .def("to_bytes", &file_bytes)
      .def_static(
          "load",
          [](const std::string& path, const py::object& host) {
            return read(read_tensor_file(path), path, host);
          },
          py::arg("path"), py::arg("host") = py::none())
      .def_static(
          "from_bytes",
          [](const std::string& bytes, const py::object& host) {
            return read(parse_tensor_file(bytes_of(bytes), "the bytes"), "the bytes", host);
          },
          py::arg("bytes"), py::arg("host") = py::none());
}

}  // namespace slimbayes::python
