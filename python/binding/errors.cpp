// Exceptions of the library as Python's: a user's mistake is a ValueError, a bad table or file a DataError
// (also a ValueError), a failed factorisation a NumericalError.
#include <c10/util/Exception.h>

#include <utility>

#include "binding/binding.h"
#include "slimbayes/catalog/option_tokens.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/refused_memory.h"
#include "slimbayes/data/table/limits.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::python {
std::string in_python(const std::string& message) {
  return printable_lines(render_options(without_functions(message), OptionStyle::keywords));
}

std::vector<std::string> in_python(std::vector<std::string> messages) {
  for (std::string& message : messages) message = in_python(message);
  return messages;
}

nlohmann::json sentences_in_python(nlohmann::json report) {
  return map_sentences(std::move(report), [](const std::string& sentence) { return in_python(sentence); });
}

nlohmann::json from_text(const std::string& text) { return nlohmann::json::parse(text); }

std::string to_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void bind_errors(py::module_& module) {
  module.def(
      "in_python", [](const std::string& message) { return in_python(message); }, py::arg("message"));
  module.def("printable", &printable, py::arg("text"));
  static PyObject *data_error = nullptr,
                  *numerical_error = nullptr;  // never freed: the interpreter may be gone
  const auto made = [&](const char* name, PyObject* base, const char* doc) {
    PyObject* type =
        PyErr_NewExceptionWithDoc((std::string("slimbayes.") + name).c_str(), doc, base, nullptr);
    module.attr(name) = py::reinterpret_borrow<py::object>(type);
    return type;
  };
  data_error = made("DataError", PyExc_ValueError, "A table, image or file that cannot be used.");
  numerical_error =
      made("NumericalError", PyExc_ArithmeticError, "A failed factorisation, or a loss that is not finite.");
  py::register_exception_translator([](std::exception_ptr thrown) {
    const auto raise = [](PyObject* type, const char* what) {
      PyErr_SetString(type, in_python(what).c_str());
    };
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const DataError& error) {
      raise(data_error, error.what());
    } catch (const NumericalError& error) {
      raise(numerical_error, error.what());
    } catch (const OutOfMemory& error) {
      raise(PyExc_MemoryError, error.what());
    } catch (const c10::Error& error) {  // what() would contain a backtrace
      const std::string text = error.what_without_backtrace();
      raise(refused_memory(error) ? PyExc_MemoryError : PyExc_RuntimeError,
            ("the tensor library failed: " + text.substr(0, text.find('\n'))).c_str());
    } catch (const std::invalid_argument& error) {
      raise(PyExc_ValueError, error.what());
    } catch (const nlohmann::json::exception& error) {
      raise(PyExc_ValueError, (std::string("expected options of the right type; received others: ") +
                               foreign_text(error.what()))
                                  .c_str());
    }
  });
}

}  // namespace slimbayes::python
