// slimbayes._core: the library as Python calls it. The classes that a user sees are written in Python, in
// python/slimbayes, on top of these functions. Options and reports cross the border as JSON texts, tensors as
// arrays that share their memory, tables as Arrow streams.
#include <ATen/Parallel.h>

#include "binding/binding.h"
#include "slimbayes/version.h"

PYBIND11_MODULE(_core, module) {
  using namespace slimbayes::python;
  bind_errors(module);
  bind_data(module);
  bind_model(module);
  bind_answers(module);
  bind_number_rows(module);
  bind_joint(module);
  bind_fit(module);
  bind_explain(module);
  bind_posterior(module);
  bind_command_line(module);
  module.attr("__version__") = slimbayes::version();
  module.attr("torch_version") = SLIMBAYES_TORCH_VERSION;
  module.def("set_threads", [](int threads) { at::set_num_threads(threads); });
  module.def("threads", [] { return at::get_num_threads(); });
}
