// The entry point of the plugin `slimbayes_commands`, which the tool opens (engine.h).
#include "cli/request.h"

extern "C" __attribute__((visibility("default"))) int slimbayes_run(const slimbayes::cli::Request& request) {
  return slimbayes::cli::run_request(request);
}
