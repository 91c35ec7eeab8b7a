#include "cli/engine.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>
#include <tuple>

#include "slimbayes/storage/error.h"

namespace slimbayes::cli {
namespace {

namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return failed ? fs::current_path() : program.parent_path();
}

// The build tree has the plugin in lib beside the tool, an installation where CMake put libraries.
fs::path plugin_path() {
  const fs::path here = program_folder();
  std::error_code ignored;
  for (const fs::path& folder : {here / "lib", here / SLIMBAYES_LIBRARY_FOLDER, here / "../lib", here}) {
    const fs::path path = folder / SLIMBAYES_PLUGIN;
    if (fs::exists(path, ignored)) return path.lexically_normal();
  }
  throw std::runtime_error(
      fmt::format("the engine could not be found: expected {} in {}; install slimbayes again",
                  SLIMBAYES_PLUGIN, (here / "lib").string()));
}

void* open_plugin(const fs::path& path) {
  std::string reason;
  try {
    if (void* plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return plugin;
    if (const char* text = dlerror()) reason = text;
  } catch (const std::exception& error) {  // a library's start-up code ran out of memory
    reason = error.what();
  }
  throw std::runtime_error(
      fmt::format("the engine could not be loaded: {}; libtorch needs about 2 GB of address space (see "
                  "ulimit -v) and its libraries "
                  "where the build found them",
                  reason));
}

/// The tensor library's MKL looks for itself from there, and ends the process where there is none.
void check_working_folder() {
  std::error_code gone;
  std::ignore = fs::current_path(gone);
  if (gone)
    throw DataError("the working folder",
                    fmt::format("expected one that exists; received an error ({}); change to "
                                "another folder",
                                gone.message()));
}

}  // namespace

fs::path share_folder() {
  if (const char* given = std::getenv("SLIMBAYES_SHARE")) return given;
  const fs::path here = program_folder();
  std::error_code ignored;
  const fs::path source = here / "../examples/data";
  return (fs::exists(source, ignored) ? source : here / "../share/slimbayes").lexically_normal();
}

int run_in_engine(const Request& request) {
  check_working_folder();
  void* plugin = open_plugin(plugin_path());
  const auto run = reinterpret_cast<decltype(&slimbayes_run)>(dlsym(plugin, "slimbayes_run"));
  if (run == nullptr)
    throw std::runtime_error("the engine has no entry slimbayes_run; install slimbayes again");
  return run(request);  // the plugin stays open: its threads may outlive the call
}

}  // namespace slimbayes::cli
