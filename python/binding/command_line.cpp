// The command line of the package, `python -m slimbayes`: the same commands as the tool, in this process, so
// that a process group of torch.distributed can carry a fit.
#include <pybind11/stl.h>

#include "binding/binding.h"
#include "cli/front.h"
#include "slimbayes/train/collective.h"

namespace slimbayes::python {

void bind_command_line(py::module_& module) {
  module.def(
      "run_command_line",
      [](const std::vector<std::string>& words, const std::string& share, const std::string& group,
         int64_t rank, int64_t size) {
        const py::gil_scoped_release unlocked;
        cli::Agreed agreed;
        if (!group.empty())
          agreed = [ranks = process_group(group, rank, size)](const std::function<void()>& body) {
            together(ranks.get(), body);
          };
        return cli::run_command_line(words, {group, rank, size}, agreed, [&](cli::Request& request) {
          if (auto* demo = std::get_if<cli::DemoRequest>(&request.command)) {
            demo->share = share;
            demo->threads = request.threads;
          }
          return cli::run_request(request);
        });
      },
      py::arg("words"), py::arg("share") = "", py::arg("group") = "", py::arg("rank") = 0,
      py::arg("size") = 1);
}

}  // namespace slimbayes::python
