// The program slimbayes. Commands that need no tensors are answered here in milliseconds. The others become a
// Request to the engine, a plugin with the tensor library. It is opened only when needed, because loading
// libtorch takes longer than a command without tensors.
#include <unistd.h>

#include <csignal>

#include "cli/arguments.h"
#include "cli/describe.h"
#include "cli/edge.h"
#include "cli/engine.h"
#include "cli/terminal.h"

namespace {

using namespace slimbayes::cli;

int printed(const std::string& text) {
  if (print_result(data_for(STDOUT_FILENO, text))) return kDone;
  print_error("standard output could not be written; it is closed or its disk is full");
  return kFailed;
}

int run(const std::vector<std::string>& words) {
  Command command = parse_arguments(words);
  if (auto* show = std::get_if<ShowText>(&command)) return printed(show->text);
  if (auto* list = std::get_if<ListMethods>(&command)) return printed(list_methods(list->json));
  if (auto* asked = std::get_if<Describe>(&command)) return printed(describe(asked->name, asked->json));
  Request& request = std::get<Request>(command);
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
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond ulimit -f then fails instead of ending the process
  return guarded([&] { return run({argv + 1, argv + argc}); });
}
