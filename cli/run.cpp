// The plugin's entry: the engine's side of the edge.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/commands.h"
#include "cli/edge.h"

namespace slimbayes::cli {

TableFit table_fit(const std::string& target, const std::string& method, const nlohmann::json& options,
                   uint64_t seed, const SplitRequest& rows) {
  TableFit fit;
  fit.target = target;
  fit.method = method;
  fit.options = options;
  fit.seed = seed;
  fit.split_seed = rows.split_seed;
  fit.valid_fraction = rows.valid_fraction;
  fit.test_fraction = rows.test_fraction;
  fit.split = rows.split;
  fit.scale = rows.scale;
  fit.scale_on = rows.scale_on;
  fit.ignore = rows.ignore;
  fit.names = rows.categorical;
  fit.likelihood = rows.likelihood;
  fit.domain = rows.domain;
  fit.noise_folds = rows.noise_folds;
  fit.threads = kAllCores;  // run_checked chose for the whole command, the reports after the fit too
  return fit;
}

namespace {

/// A step's larger tensors are freed and asked for again thousands of times: kept, not unmapped, they cost a
/// tenth less.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

/// 0: as many as the library takes by itself.
int threads_of(const Request& request) {
  if (request.threads != kDefaultThreads) return request.threads;
  if (const auto* fit = std::get_if<FitRequest>(&request.command))
    return fit_threads(find_method(fit->method));
  bool networks = std::holds_alternative<CompareRequest>(request.command) ||
                  std::holds_alternative<DemoRequest>(request.command);
  return networks ? 1 : kAllCores;
}

int run_checked(const Request& request) {
  try {
    keep_freed_memory();
    if (int threads = threads_of(request); threads != kAllCores) at::set_num_threads(threads);
    return std::visit([](const auto& command) { return run_command(command); }, request.command);
  } catch (const c10::Error& error) {  // its what() holds a backtrace
    const std::string text = error.what_without_backtrace();
    throw std::runtime_error("the tensor library failed: " + text.substr(0, text.find('\n')));
  }
}

}  // namespace
}  // namespace slimbayes::cli

extern "C" __attribute__((visibility("default"))) int slimbayes_run(const slimbayes::cli::Request& request) {
  return slimbayes::cli::guarded([&] { return slimbayes::cli::run_checked(request); });
}
