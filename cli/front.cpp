#include "cli/front.h"

#include <unistd.h>

#include <csignal>
#include <stdexcept>

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

int run_command_line(const std::vector<std::string>& words, const RankOfGroup& rank, const Agreed& agreed,
                     const std::function<int(Request&)>& run) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond ulimit -f then fails instead of ending the process
  const auto answer = [&] {
    Command command;
    const auto parse = [&] {
      command = parse_arguments(words);
      const auto* asked = std::get_if<Request>(&command);
      if (asked != nullptr && !rank.group.empty() && !is_shared(*asked))
        throw std::invalid_argument(
            "expected the command fit or compare, which several processes share; received another; run it "
            "without torchrun");
    };
    agreed ? agreed(parse) : parse();
    if (auto* request = std::get_if<Request>(&command)) {
      request->rank = rank;
      if (auto* fit = std::get_if<FitRequest>(&request->command)) fit->rank = rank;
      if (auto* compare = std::get_if<CompareRequest>(&request->command)) compare->rank = rank;
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
