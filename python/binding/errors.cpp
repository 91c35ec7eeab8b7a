// Exceptions of the library as Python's: a user's mistake is a ValueError, a bad table or file a DataError
// (also a ValueError), a failed factorisation a NumericalError.
#include <c10/util/Exception.h>

#include <cctype>

#include "binding/binding.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/refused_memory.h"
#include "slimbayes/data/table/limits.h"
#include "slimbayes/storage/error.h"

namespace slimbayes::python {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::string in_python(const std::string& message) {
  std::string out;
  for (size_t i = 0; i < message.size();) {
    const bool flag = message.compare(i, 2, "--") == 0 && i + 2 < message.size() &&
                      std::islower(static_cast<unsigned char>(message[i + 2])) != 0 &&
                      (i == 0 || (!is_word(message[i - 1]) && message[i - 1] != '-'));
    if (!flag) {
      out += message[i++];
      continue;
    }
    i += 2;
    while (i < message.size() && (is_word(message[i]) ||
                                  (message[i] == '-' && i + 1 < message.size() && is_word(message[i + 1])))) {
      out += message[i] == '-' ? '_' : message[i];
      ++i;
    }
  }
  return out;
}

nlohmann::json from_text(const std::string& text) { return nlohmann::json::parse(text); }

std::string to_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void bind_errors(py::module_& module) {
  module.def("in_python", &in_python, py::arg("message"));
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
      raise(PyExc_ValueError,
            (std::string("expected options of the right type; received others: ") + error.what()).c_str());
    }
  });
}

}  // namespace slimbayes::python
