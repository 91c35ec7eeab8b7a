#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/table/frame.h"
#include "slimbayes/model/joint/joint_model.h"
#include "slimbayes/model/model.h"

namespace slimbayes::python {

namespace py = pybind11;

/// Examples that a model has read. Immutable; Python objects share them. A class of its own, because pybind11
/// converts a std::variant such as Examples by its alternatives.
struct Rows {
  std::shared_ptr<const Examples> shared;
  const Examples& operator*() const { return *shared; }
};

using SharedModel = std::shared_ptr<const Model>;

/// The answers of a model to n examples, and the model that gave them.
struct Answered {
  SharedModel model;
  Rows examples;
  Answers answers;
  std::vector<std::string> notes;  // on the rows and on the answers
};

/// Returns an array that shares the memory of the tensor and keeps it alive. The tensor is float64, int64 or
/// bool.
py::array to_numpy(const at::Tensor& tensor);

/// Returns the numbers of an array as a tensor of its own, of the same shape. Takes float32, float64, int64
/// and uint8.
at::Tensor to_tensor(const py::array& array);

/// Returns the numbers of a predictive by name, each [m] or, of classes, "probabilities" [m, C].
std::map<std::string, at::Tensor> parts_of(const Predictive& p);

/// Returns sentences on these examples and on the answers to them, as the library writes them. `with_levels`:
/// whether the answers have intervals or sets.
std::vector<std::string> notes_on(const Model& model, const Examples& examples, const Answers& answers,
                                  bool with_levels);

/// Returns what Python knows of a model, such as its method, its options and its columns.
nlohmann::json facts_of(const Model& model);

/// Returns the report as JSON, as the tool's `evaluate` has it: "targets" is a list with the name, the method
/// and the metrics of each target, "joint" has those of all together if there are any.
nlohmann::json report_json(const JointModel& model, const JointReport& report);

/// Returns the table as an Arrow stream.
py::capsule stream_of(const Table& table);

/// Returns a message of the library as Python shows it: options as keywords (catalog/option_tokens.h),
/// without the names of functions. Characters that control a terminal or the direction of the text are
/// replaced (printable_lines). Each message passes through it once, where it leaves the library: as an
/// exception here, as a note in the function that returns it.
std::string in_python(const std::string& message);
std::vector<std::string> in_python(std::vector<std::string> messages);

/// Returns a report with its sentences (map_sentences) as Python shows them. Other texts stay.
nlohmann::json sentences_in_python(nlohmann::json report);

/// Turns gradients on for a computation, whatever the caller has turned off (torch.no_grad,
/// torch.inference_mode).
struct Gradients {
  c10::InferenceMode no_inference{false};
  c10::AutoGradMode gradients{true};
};

/// Parses what Python's json module wrote, and writes what it reads.
nlohmann::json from_text(const std::string& text);
std::string to_text(const nlohmann::json& json);

/// Each adds one part to the module.
void bind_errors(py::module_& module);
void bind_data(py::module_& module);
void bind_model(py::module_& module);
void bind_answers(py::module_& module);
void bind_number_rows(py::module_& module);
void bind_joint(py::module_& module);
void bind_fit(py::module_& module);
void bind_explain(py::module_& module);
void bind_posterior(py::module_& module);
void bind_command_line(py::module_& module);

}  // namespace slimbayes::python
