#include "cli/front.h"

#include <unistd.h>

#include <csignal>

#include "cli/arguments.h"
#include "cli/describe.h"
#include "cli/edge.h"
#include "cli/terminal.h"

namespace slimbayes::cli {
namespace {

int printed(const std::string& text) {
  if (print_result(data_for(STDOUT_FILENO, text))) return kDone;
  print_error("standard output could not be written; it is closed or its disk is full");
  return kFailed;
}

}  // namespace

int run_command_line(const std::vector<std::string>& words, const RankOfGroup& rank,
                     const std::function<int(Request&)>& run) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond ulimit -f then fails instead of ending the process
  const auto answer = [&] {
    Command command = parse_arguments(words);
    if (auto* request = std::get_if<Request>(&command)) {
      request->rank = rank;
      return run(*request);
    }
    if (rank.number > 0) return static_cast<int>(kDone);
    if (auto* show = std::get_if<ShowText>(&command)) return printed(show->text);
    if (auto* list = std::get_if<ListMethods>(&command)) return printed(list_methods(list->json));
    const auto& asked = std::get<Describe>(command);
    return printed(describe(asked.name, asked.json));
  };
  return guarded(answer, rank.number);
}

}  // namespace slimbayes::cli
