// libtorch_cuda registers its kernels and its hooks (ATen/detail/CUDAHooksInterface.h) in constructors that
// run when the library is opened. at::detail::getCUDAHooks looks for the hooks at its first call alone.
#include "slimbayes/core/accelerator_library.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <filesystem>
#include <string_view>

namespace slimbayes {

namespace {

namespace fs = std::filesystem;

constexpr const char* kCpuLibrary = "libtorch_cpu.so";

/// Returns the path of the loaded libtorch_cpu.so; empty if it is part of another file.
fs::path cpu_library() {
  fs::path found;
  const auto look = [](dl_phdr_info* info, size_t, void* out) {
    const fs::path path = info->dlpi_name;
    if (path.filename() != kCpuLibrary) return 0;
    *static_cast<fs::path*>(out) = path;
    return 1;  // ends the search
  };
  ::dl_iterate_phdr(look, &found);
  return found;
}

bool hooks_are_there() { return at::CUDAHooksRegistry()->Has("CUDAHooks"); }

std::string opened() {
  constexpr const char* kWithout = "a libtorch without CUDA";
  if (!hooks_are_there()) {
    const fs::path cpu = cpu_library();
    if (cpu.empty()) return kWithout;
    const fs::path library = cpu.parent_path() / "libtorch_cuda.so";
    std::error_code absent;
    if (!fs::exists(library, absent)) return kWithout;
    // Global, as Python opens it: the library for linear algebra on CUDA, which libtorch opens later, finds
    // its symbols there. Never closed.
    if (::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      const char* why = ::dlerror();
      return fmt::format("a libtorch whose CUDA library cannot be opened ({})",
                         why ? why : "no reason given");
    }
  }
  if (at::detail::getCUDAHooks().hasCUDART()) return {};
  return "a process that has computed on the CPU before: libtorch has then decided that there is no CUDA; "
         "ask "
         "for the device before the first fit";
}

}  // namespace

const std::string& open_cuda_library() {
  static const std::string answer = opened();
  return answer;
}

}  // namespace slimbayes
