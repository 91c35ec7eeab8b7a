#include "slimbayes/core/device.h"

#include <ATen/ATen.h>
#include <ATen/DeviceAccelerator.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "slimbayes/core/accelerator_library.h"

namespace slimbayes {
namespace {

std::string reason_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool has_accelerator() { return at::getAccelerator(/*checked=*/false).has_value(); }

TEST(Device, TheCpuIsThereUnderItsName) {
  EXPECT_TRUE(device_of("cpu").is_cpu());
  EXPECT_FALSE(device_of("cpu").has_index());
  EXPECT_EQ(device_of("cpu:0"), at::Device(at::kCPU));
  EXPECT_EQ(name_of(device_of("cpu")), "cpu");
}

TEST(Device, AutoIsTheCpuWithoutAnAccelerator) {
  const at::Device found = device_of("auto");
  EXPECT_EQ(found.is_cpu(), !has_accelerator());
  EXPECT_EQ(device_of(name_of(found)), found);
}

TEST(Device, RefusesWhatIsNoDevice) {
  for (const char* nonsense : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "CPU", "cpu,cuda"}) {
    const std::string text = reason_of([&] { device_of(nonsense); });
    EXPECT_NE(text.find("to be cpu, auto, cuda or cuda:NUMBER; received '"), std::string::npos) << text;
  }
}

TEST(Device, RefusesOneThatIsNotThereAndSaysWhy) {
  if (has_accelerator()) GTEST_SKIP() << "this machine has an accelerator";
  for (const char* absent : {"cuda", "cuda:7", "xpu", "mps"}) {
    const std::string text = reason_of([&] { device_of(absent); });
    EXPECT_NE(text.find(std::string("a machine with the device ") + absent + "; received "),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("`.device=cpu` computes on the processor"), std::string::npos) << text;
  }
}

TEST(Device, TheLibraryForCudaIsOpenedOnceAndItsAbsenceHasAReason) {
  const std::string& answer = open_cuda_library();
  EXPECT_EQ(&answer, &open_cuda_library());
  if (!answer.empty()) {
    EXPECT_TRUE(answer.starts_with("a libtorch ") || answer.starts_with("a process ")) << answer;
    EXPECT_FALSE(at::globalContext().hasCUDA());
  }
}

TEST(Device, ATensorThatIsThereStaysTheSame) {
  const at::Tensor x = at::ones({2, 3});
  EXPECT_TRUE(on_cpu(x).is_same(x));
  EXPECT_TRUE(on_device(x, device_of("cpu")).is_same(x));
  EXPECT_FALSE(on_cpu({}).defined());
  EXPECT_EQ(doubles_like(x).dtype(), at::kDouble);
}

}  // namespace
}  // namespace slimbayes
