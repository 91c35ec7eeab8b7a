#include "cli/python.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "slimbayes/data/table/cell.h"

extern char** environ;

namespace slimbayes::cli {

std::string python_name() {
  const char* named = std::getenv("SLIMBAYES_PYTHON");
  return named != nullptr && *named != '\0' ? named : "python3";
}

int run_python(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {python_name()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, pointers[0], nullptr, nullptr, pointers.data(), environ);
  if (failed != 0)
    throw std::runtime_error(fmt::format(
        "[export] expected a Python; received {} ({}); install one, or name it by SLIMBAYES_PYTHON",
        in_quotes(words[0]), std::strerror(failed)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace slimbayes::cli
