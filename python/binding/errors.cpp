// Exceptions of the library as Python's: a user's mistake is a ValueError, a bad table or file a DataError
// (also a ValueError), a failed factorisation a NumericalError.
#include <c10/util/Exception.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "binding/binding.h"
#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/method_facts.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/refused_memory.h"
#include "slimbayes/data/table/limits.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::python {
namespace {

bool is_word(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// The texts that each option may have, by the name of the option.
using Choices = std::map<std::string, std::set<std::string>>;

Choices all_choices() {
  Choices all;
  for (const OptionDoc& doc : option_docs<FitOptions>())
    all[doc.name].insert(doc.choices.begin(), doc.choices.end());
  for (const MethodInfo& info : method_catalog()) {
    all["method"].insert(info.name);
    const nlohmann::json facts = method_facts(info, /*options=*/true);
    for (const auto& option : facts["options"])
      for (const auto& choice : option.value("choices", nlohmann::json::array()))
        all[option["name"]].insert(choice.get<std::string>());
  }
  return all;
}

/// Returns the length of the word at the beginning of a text; single hyphens may join its parts.
size_t word_length(std::string_view text) {
  size_t i = 0;
  while (i < text.size() &&
         (is_word(text[i]) || (i > 0 && text[i] == '-' && i + 1 < text.size() && is_word(text[i + 1]))))
    ++i;
  return i;
}

}  // namespace

std::string in_python(const std::string& message) {
  static const Choices choices = all_choices();
  constexpr std::string_view kValid = "--valid FILE";
  const std::string plain = without_functions(message);
  std::string out;
  for (std::string_view rest = plain; !rest.empty();) {
    const bool begins = out.empty() || (!is_word(out.back()) && out.back() != '-');
    const size_t length = rest.starts_with("--") && begins ? word_length(rest.substr(2)) : 0;
    if (length == 0 || std::islower(static_cast<unsigned char>(rest[2])) == 0) {
      out += rest.front();
      rest.remove_prefix(1);
      continue;
    }
    if (rest.starts_with(kValid)) {
      out += "valid=(X, y)";
      rest.remove_prefix(kValid.size());
      continue;
    }
    std::string name(rest.substr(2, length));
    std::ranges::replace(name, '-', '_');
    out += name;
    rest.remove_prefix(2 + length);
    if (!rest.starts_with(' ')) continue;
    const std::string value(rest.substr(1, word_length(rest.substr(1))));
    const auto known = choices.find(name);
    if (known == choices.end() || !known->second.contains(value)) continue;
    out += "='" + value + "'";
    rest.remove_prefix(1 + value.size());
  }
  return printable_lines(out);
}

nlohmann::json from_text(const std::string& text) { return nlohmann::json::parse(text); }

std::string to_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void bind_errors(py::module_& module) {
  module.def("in_python", &in_python, py::arg("message"));
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
      raise(PyExc_ValueError,
            (std::string("expected options of the right type; received others: ") + error.what()).c_str());
    }
  });
}

}  // namespace slimbayes::python
