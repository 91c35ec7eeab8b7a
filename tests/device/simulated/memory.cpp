#include "tests/device/simulated/memory.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace slimbayes::simulated {

namespace {

constexpr size_t kBytes = size_t{16} << 30;  // of addresses; memory is taken page by page
constexpr size_t kLeast = 512;               // bytes of the smallest block
constexpr size_t kPage = 4096;

/// The two mappings.
struct Mappings {
  char *shown = nullptr, *held = nullptr;

  Mappings() {
    const int file = memfd_create("simulated device", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, kBytes) != 0)
      throw std::runtime_error("no memory for the simulated device");
    shown = mapped(file, PROT_NONE);
    held = mapped(file, PROT_READ | PROT_WRITE);
    close(file);
  }

  static char* mapped(int file, int access) {
    void* at = mmap(nullptr, kBytes, access, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (at == MAP_FAILED) throw std::runtime_error("no addresses for the simulated device");
    return static_cast<char*>(at);
  }
};

const Mappings& mappings() {
  static const Mappings both;
  return both;
}

/// Blocks whose sizes are powers of two, each size with a list of those that are free.
struct Blocks {
  std::mutex mutex;
  size_t end = 0;
  std::array<std::vector<void*>, 64> free;
};

Blocks& blocks() {
  static auto* all = new Blocks;  // outlives every tensor
  return *all;
}

size_t block_bytes(size_t bytes) { return std::bit_ceil(std::max(bytes, kLeast)); }

constexpr int kTold = 4, kDepth = 48;
struct Touch {
  void* frames[kDepth];
  std::atomic<int> depth{0};
};
std::array<Touch, kTold> told;
std::atomic<int> count{0};

void on_fault(int, siginfo_t* info, void*) {
  auto* at = static_cast<char*>(info->si_addr);
  const char* shown = mappings().shown;
  if (at < shown || at >= shown + kBytes) {  // a fault of another kind: let it end the program
    std::signal(SIGSEGV, SIG_DFL);
    return;
  }
  if (const int i = count.fetch_add(1); i < kTold)
    told[static_cast<size_t>(i)].depth = backtrace(told[static_cast<size_t>(i)].frames, kDepth);
  mprotect(reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(at) / kPage * kPage), kPage,
           PROT_READ | PROT_WRITE);
}

/// Returns the function of a frame, or the place in its file where its name is not known.
std::string frame_name(void* frame) {
  Dl_info info;
  if (dladdr(frame, &info) == 0) return fmt::format("{}", frame);
  if (info.dli_sname == nullptr)
    return fmt::format("{} + {:#x}", info.dli_fname,
                       static_cast<size_t>(static_cast<char*>(frame) - static_cast<char*>(info.dli_fbase)));
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : info.dli_sname;
}

}  // namespace

void* allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  const size_t size = block_bytes(bytes);
  Blocks& all = blocks();
  const std::lock_guard lock(all.mutex);
  std::vector<void*>& free = all.free[static_cast<size_t>(std::countr_zero(size))];
  if (!free.empty()) {
    void* block = free.back();
    free.pop_back();
    return block;
  }
  const size_t start = all.end;
  if (size > kBytes - start) throw std::runtime_error("the simulated device is out of memory");
  all.end += size;
  return mappings().shown + start;
}

void release(void* block, size_t bytes) {
  if (block == nullptr) return;
  Blocks& all = blocks();
  const std::lock_guard lock(all.mutex);
  all.free[static_cast<size_t>(std::countr_zero(block_bytes(bytes)))].push_back(block);
}

void* kernel_address(const void* device_address) {
  if (device_address == nullptr) return nullptr;
  return mappings().held + (static_cast<const char*>(device_address) - mappings().shown);
}

void watch_memory() {
  mappings();
  void* frame = nullptr;
  backtrace(&frame, 1);  // its first call loads a library, which a handler may not do
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
}

int touches() { return count; }

std::string told_touches() {
  std::string all;
  for (int i = 0; i < std::min(touches(), kTold); ++i) {
    const Touch& touch = told[static_cast<size_t>(i)];
    all += "the host touched memory of the simulated device:\n";
    for (int j = 2; j < touch.depth; ++j)  // without the handler and the kernel's frame
      all += fmt::format("  {}\n", frame_name(touch.frames[j]));
  }
  return all;
}

void forget_touches() {
  if (count.exchange(0) == 0) return;
  mprotect(mappings().shown, kBytes, PROT_NONE);
}

}  // namespace slimbayes::simulated
