// The program slimbayes. Commands that need no tensors are answered in milliseconds (front.h). The others
// become a Request to the engine, a plugin with the tensor library. It is opened only when needed, because
// loading libtorch takes longer than a command without tensors.
#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "cli/edge.h"
#include "cli/engine.h"
#include "cli/front.h"

namespace {

using namespace slimbayes::cli;

/// Throws std::invalid_argument for a fit or a comparison that torchrun has started as several processes:
/// each would make it alone.
void check_launcher(const Request& request) {
  const auto value = [](const char* name) { return std::getenv(name) == nullptr ? "" : std::getenv(name); };
  const std::string processes = value("WORLD_SIZE");
  if (!is_shared(request) || std::getenv("TORCHELASTIC_RUN_ID") == nullptr) return;
  if (processes.empty() || processes == "1") return;
  throw std::invalid_argument(fmt::format(
      "expected one process; received {} of torchrun; `torchrun ... -m slimbayes {} ...` shares it among "
      "several (the Python package)",
      processes, std::holds_alternative<FitRequest>(request.command) ? "fit" : "compare"));
}

int run(Request& request) {
  check_launcher(request);
  if (auto* demo = std::get_if<DemoRequest>(&request.command)) {
    demo->share = share_folder().string();
    demo->threads = request.threads;
  }
  if (const auto code = run_without_engine(request)) return *code;
  return run_in_engine(request);
}

}  // namespace

int main(int argc, char** argv) {
  guard_standard_streams();
  return run_command_line({argv + 1, argv + argc}, {}, {}, run);
}
