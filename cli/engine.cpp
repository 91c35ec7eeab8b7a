#include "cli/engine.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "cli/edge.h"
#include "cli/rows.h"
#include "slimbayes/storage/memory.h"

namespace slimbayes::cli {
namespace {

namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code failed, ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return failed ? fs::current_path(ignored) : program.parent_path();
}

// Returns the path of a plugin. In a build tree it is in lib beside the tool; in an installation it is in
// the library folder that CMake chose. Throws std::runtime_error if it is not found.
fs::path plugin_path(const char* name) {
  const fs::path here = program_folder();
  std::error_code ignored;
  for (const fs::path& folder : {here / "lib", here / SLIMBAYES_LIBRARY_FOLDER, here / "../lib", here}) {
    const fs::path path = folder / name;
    if (fs::exists(path, ignored)) return path.lexically_normal();
  }
  throw std::runtime_error(
      fmt::format("the engine could not be found: expected {} in {}; install slimbayes again", name,
                  (here / "lib").string()));
}

void* open_plugin(const fs::path& path) {
  std::string reason;
  try {
    if (void* plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return plugin;
    if (const char* text = dlerror()) reason = text;
  } catch (const std::exception& error) {  // start-up code of a library ran out of memory
    reason = error.what();
  }
  throw std::runtime_error(
      fmt::format("the engine could not be loaded: {}; libtorch needs about 2 GB of address space (see "
                  "ulimit -v) and its libraries "
                  "where the build found them",
                  reason));
}

/// Throws std::invalid_argument if the working folder does not exist. Without this check, libraries of the
/// engine would end the process.
void check_working_folder() {
  std::error_code failed;
  const fs::path here = fs::current_path(failed);
  if (failed)
    throw std::invalid_argument(fmt::format(
        "expected a working folder; received one that cannot be found ({}): it was removed, or lies in a "
        "folder that may not be read; cd to another",
        failed.message()));
}

/// Throws std::runtime_error if the process may use less than 500 MiB more address space. Without this check
/// a library would end the process at start-up, without a clear message.
void check_address_space() {
  constexpr uint64_t kLeast = uint64_t{500} << 20;
  const uint64_t left = address_space_at_hand();
  if (left < kLeast)
    throw std::runtime_error(
        fmt::format("the engine could not be loaded: expected an address space of {} or more; received {}; "
                    "raise its limit "
                    "(ulimit -v)",
                    bytes_text(kLeast), bytes_text(left)));
}

void prepare_arrow() {
  // Makes Arrow use malloc. Its own allocator starts a thread and prints its own message if that fails.
  setenv("ARROW_DEFAULT_MEMORY_POOL", "system", 0);
}

}  // namespace

std::optional<int> run_without_engine(const Request& request) {
  if (!std::holds_alternative<PredictRequest>(request.command)) return {};
  constexpr uint64_t kLeast = uint64_t{200} << 20;  // with less, a library of the plugin prints what it lacks
  std::error_code failed;
  if (fs::current_path(failed).empty() || address_space_at_hand() < kLeast)
    return {};  // run_in_engine() says why
  prepare_arrow();
  try {
    void* plugin = dlopen(plugin_path(SLIMBAYES_ROWS_PLUGIN).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return {};
    const auto run =
        reinterpret_cast<decltype(&slimbayes_predict_rows)>(dlsym(plugin, "slimbayes_predict_rows"));
    const int code = run == nullptr ? kLeftToTheEngine : run(request);
    return code == kLeftToTheEngine ? std::nullopt : std::optional(code);
  } catch (const std::exception&) {  // not installed, or too little memory to load it
    return {};
  }
}

fs::path share_folder() {
  if (const char* given = std::getenv("SLIMBAYES_SHARE")) return given;
  const fs::path here = program_folder();
  std::error_code ignored;
  const fs::path source = here / "../examples/data";
  return (fs::exists(source, ignored) ? source : here / "../share/slimbayes").lexically_normal();
}

int run_in_engine(const Request& request) {
  check_working_folder();
  check_address_space();
  prepare_arrow();
  // Threads of OpenMP that wait for work sleep instead of spinning. Where other programs keep the cores busy,
  // spinning made two threads 50 times slower than one. OpenMP reads this when the engine is loaded.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  void* plugin = open_plugin(plugin_path(SLIMBAYES_PLUGIN));
  const auto run = reinterpret_cast<decltype(&slimbayes_run)>(dlsym(plugin, "slimbayes_run"));
  if (run == nullptr)
    throw std::runtime_error("the engine has no entry slimbayes_run; install slimbayes again");
  const int code = run(request);  // the plugin stays open: its threads may outlive the call
  if (code == kDone) return code;
  // The command failed, perhaps because memory ran out, and the normal shutdown of the libraries could then
  // fail again. So the process writes its buffered output and ends without that shutdown.
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace slimbayes::cli
