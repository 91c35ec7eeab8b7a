// Runs a request, for which the tensor library is needed.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string_view>
#include <system_error>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/progress.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/refused_memory.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/fit/parallel.h"
#include "slimbayes/fit/resolved_fit.h"
#include "slimbayes/kernels/kernels.h"
#include "slimbayes/storage/memory.h"

namespace slimbayes::cli {

namespace {

/// Returns the number of threads for a request. 0 stands for as many as the tensor library takes by default.
int threads_of(const Request& request) {
  if (request.threads != kThreadsOfMethod) return request.threads;
  if (const auto* fit = std::get_if<FitRequest>(&request.command))
    return fit->fit.method.empty() ? 1 : fit_threads(find_method(fit->fit.method));
  bool networks = std::holds_alternative<CompareRequest>(request.command) ||
                  std::holds_alternative<DemoRequest>(request.command);
  return networks ? 1 : kAllCores;
}

/// Sets the number of threads for computations and starts them, before other code takes memory that they
/// need. Throws std::invalid_argument if they are more than the system grants.
void start_threads(const Request& request) {
  const int threads = threads_of(request);
  if (threads != kAllCores) at::set_num_threads(threads);
  check_threads(at::get_num_threads());
  on_library_threads(at::get_num_threads(), [](int64_t) {});
}

/// Returns the name of the device that the request asks for, before any work. Throws std::invalid_argument if
/// this process cannot use it, or if several processes share the request: they are for the CPU.
std::string device_asked(const Request& request) {
  const at::Device device = device_of(request.device);
  check_device_of_ranks(device, request.rank.size > 1);
  const std::string note = no_gpu_note(request.device, device);
  if (!note.empty() && request.rank.number == 0) log_note(note);
  return name_of(device);
}

int run_checked(const Request& request) {
  try {
    const std::string device = device_asked(request);
    answer_on(device);
    keep_freed_memory();
    limit_tables({.memory = request.table_memory});
    start_threads(request);
    if (const char* name = std::getenv("SLIMBAYES_KERNELS");
        name != nullptr && std::string_view(name) != "none")
      kernels::kernels();  // throws for an unknown name
    return std::visit(
        [&](auto command) {
          if constexpr (requires { command.fit.device; }) command.fit.device = device;
          return run_command(command);
        },
        request.command);
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    throw std::runtime_error(
        "a thread could not be started: expected one more than the system grants (ulimit -u, ulimit -v); "
        "raise that "
        "limit, or use fewer --threads");
  } catch (const c10::Error& error) {  // what() would contain a backtrace
    if (refused_memory(error)) throw std::bad_alloc();
    const std::string text = error.what_without_backtrace();
    throw std::runtime_error("the tensor library failed: " + text.substr(0, text.find('\n')));
  }
}

}  // namespace

int run_request(const Request& request) {
  return guarded([&] { return run_checked(request); }, request.rank.number);
}

}  // namespace slimbayes::cli
