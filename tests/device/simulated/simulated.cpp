#include "tests/device/simulated/simulated.h"

#include <ATen/ATen.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstring>
#include <utility>

#include "tests/device/simulated/memory.h"
#include "tests/device/simulated/register.h"

namespace slimbayes::simulated {

namespace {

thread_local at::DeviceIndex current = 0;

c10::Stream only_stream(at::Device d) { return c10::Stream(c10::Stream::DEFAULT, d); }

class Guard : public c10::impl::DeviceGuardImplInterface {
 public:
  at::DeviceType type() const override { return at::kPrivateUse1; }
  at::Device exchangeDevice(at::Device d) const override {
    const at::Device before = getDevice();
    setDevice(d);
    return before;
  }
  at::Device getDevice() const override { return device(current); }
  void setDevice(at::Device d) const override {
    TORCH_CHECK(d.is_privateuseone() && d.index() < kDevices, "[simulated device] there is no device ", d);
    uncheckedSetDevice(d);
  }
  void uncheckedSetDevice(at::Device d) const noexcept override {
    if (d.has_index()) current = d.index();
  }
  c10::Stream getStream(at::Device d) const override { return only_stream(d); }
  c10::Stream getDefaultStream(at::Device d) const override { return only_stream(d); }
  c10::Stream getNewStream(at::Device d, int) const override { return only_stream(d); }
  c10::Stream exchangeStream(c10::Stream s) const override { return only_stream(s.device()); }
  at::DeviceIndex deviceCount() const noexcept override { return kDevices; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeDevice(at::DeviceIndex) const override {}
  void record(void**, const c10::Stream&, at::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
};

class Hooks : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(at::DeviceIndex) const override { return true; }
  at::DeviceIndex deviceCount() const override { return kDevices; }
  at::DeviceIndex getCurrentDevice() const override { return current; }
  void setCurrentDevice(at::DeviceIndex index) const override { current = index; }
  at::DeviceIndex exchangeDevice(at::DeviceIndex index) const override {
    return std::exchange(current, index);
  }
  at::DeviceIndex maybeExchangeDevice(at::DeviceIndex index) const override { return exchangeDevice(index); }
  const at::Generator& getDefaultGenerator(at::DeviceIndex) const override {
    TORCH_CHECK(false, "[simulated device] there is no generator; draw the numbers of a stream");
  }
  at::Generator getNewGenerator(at::DeviceIndex) const override {
    TORCH_CHECK(false, "[simulated device] there is no generator; draw the numbers of a stream");
  }
  at::Allocator* getPinnedMemoryAllocator() const override {
    TORCH_CHECK(false, "[simulated device] there is no pinned memory");
  }
};

struct Block {
  void* at;
  size_t bytes;
};

void give_back(void* block) {
  auto* given = static_cast<Block*>(block);
  release(given->at, given->bytes);
  delete given;
}

class DeviceAllocator : public c10::Allocator {
 public:
  at::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, device(current)};
    void* at = simulated::allocate(bytes);
    return {at, new Block{at, bytes}, give_back, device(current)};
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(kernel_address(to), kernel_address(from), bytes);
  }
};

}  // namespace

void install() {
  static bool installed = false;
  if (std::exchange(installed, true)) return;
  watch_memory();
  static const c10::impl::DeviceGuardImplRegistrar guard(at::kPrivateUse1, new Guard);
  static DeviceAllocator allocator;
  c10::SetAllocator(at::kPrivateUse1, &allocator);
  c10::register_privateuse1_backend("simulated");
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  register_operations();
}

}  // namespace slimbayes::simulated
