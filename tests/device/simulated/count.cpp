#include "tests/device/simulated/count.h"

#include <c10/util/Backtrace.h>

#include <atomic>
#include <mutex>

#include "tests/device/simulated/simulated.h"

namespace slimbayes::simulated {

namespace {

struct Atomics {
  std::atomic<int64_t> kernels{0}, items{0}, to_device{0}, to_host{0};
};
Atomics done;

std::atomic<bool> recording{false};
std::mutex recorded_mutex;
std::string recorded;

void record_wait(const char* what) {
  if (!recording) return;
  const std::lock_guard lock(recorded_mutex);
  recorded += std::string(what) + "\n" + c10::get_backtrace(2, 40, true) + "\n";
}

}  // namespace

void count_kernel() { ++done.kernels; }
void count_item() {
  ++done.items;
  record_wait("a number is read:");
}
void count_to_device() { ++done.to_device; }
void count_to_host() {
  ++done.to_host;
  record_wait("a copy to the host:");
}

Counters counters() { return {done.kernels, done.items, done.to_device, done.to_host}; }

void reset_counters() {
  done.kernels = 0;
  done.items = 0;
  done.to_device = 0;
  done.to_host = 0;
}

Counters work_of(const std::function<void()>& work) {
  const Counters before = counters();
  work();
  return counters() - before;
}

std::string stacks_of_waits(const std::function<void()>& work) {
  recorded.clear();
  recording = true;
  work();
  recording = false;
  return recorded;
}

}  // namespace slimbayes::simulated
