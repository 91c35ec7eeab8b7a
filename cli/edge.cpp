#include "cli/edge.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <stdexcept>

#include "cli/messages.h"
#include "cli/terminal.h"
#include "slimbayes/storage/error.h"

namespace slimbayes::cli {

void print_error(std::string_view message) {
  std::string line = shown(in_flags(message));
  while (!line.empty() && line.back() == ' ') line.pop_back();
  line = fitted_to(STDERR_FILENO, "error: " + line) + "\n";
  std::fflush(stdout);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void log_line(const std::string& text) {
  const std::string line = fitted_to(STDERR_FILENO, shown(in_flags(text))) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

bool print_result(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

int guarded(const std::function<int()>& body, int64_t rank) {
  const auto say = [rank](const std::string& message) {
    print_error(rank == 0 ? message : fmt::format("rank {}: {}", rank, message));
  };
  const auto say_once = [rank](const std::string& message) {
    if (rank == 0) print_error(message);
  };
  try {
    return body();
  } catch (const std::invalid_argument& error) {
    say(error.what());
    return kMisuse;
  } catch (const DataError& error) {
    say(error.what());
    return kMisuse;
  } catch (const Interrupted& error) {
    say_once(error.what());
    return kInterrupted;
  } catch (const RanksEnded& error) {
    say_once(error.what());
  } catch (const NumericalError& error) {
    say_once(error.what());
  } catch (const std::bad_alloc&) {
    say("out of memory; use fewer rows, a smaller model or a machine with more memory");
  } catch (const std::logic_error& error) {
    say(fmt::format("{}; this is a mistake in slimbayes itself: please report it", error.what()));
  } catch (const std::exception& error) {
    say(error.what());
  } catch (...) {
    say("an unknown failure; please report it");
  }
  return kFailed;
}

void guard_standard_streams() {
  // open() takes the lowest free descriptor, so it fills the closed streams in order. Each is opened in the
  // wrong direction (stdin for writing, stdout and stderr for reading), so that using it still gives an
  // error.
  while (true) {
    const int file = open("/dev/null", O_RDWR);
    if (file < 0) return;
    close(file);
    if (file > 2) return;
    const int kept = open("/dev/null", file == 0 ? O_WRONLY : O_RDONLY);
    if (kept != file) return;
  }
}

}  // namespace slimbayes::cli
