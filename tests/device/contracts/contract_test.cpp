// Every method of the registry gives the CPU's answers on the simulated device.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "slimbayes/data/device_source.h"
#include "slimbayes/kernels/kernels.h"
#include "slimbayes/method/registry.h"
#include "tests/device/contracts/device_case.h"
#include "tests/device/simulated/simulated.h"
#include "tests/methods/once.h"

namespace slimbayes::simulated {

void PrintTo(const DeviceCase* c, std::ostream* out) { *out << c->info->name << " on " << c->data; }

namespace {

std::vector<const DeviceCase*> all_of(bool resumable) {
  std::vector<const DeviceCase*> all;
  std::set<std::string> seen;
  for (const DeviceCase& c : device_cases()) {
    if (resumable && !(c.info->resumable && c.info->device && seen.insert(c.info->name).second)) continue;
    all.push_back(&c);
  }
  return all;
}

std::string name_of_device_case(const testing::TestParamInfo<const DeviceCase*>& info) {
  return contract::test_name(info.param->info->name + "_" + info.param->data);
}

class DeviceContract : public testing::TestWithParam<const DeviceCase*> {};

TEST_P(DeviceContract, GivesTheAnswersOfTheCpu) {
  EXPECT_EQ(fault_of(*GetParam(), maker_of(*GetParam())), "");
}

INSTANTIATE_TEST_SUITE_P(Methods, DeviceContract, testing::ValuesIn(all_of(false)), name_of_device_case);

class DeviceResumes : public testing::TestWithParam<const DeviceCase*> {};

TEST_P(DeviceResumes, FromACheckpoint) { EXPECT_EQ(fault_of_resuming(*GetParam()), ""); }

INSTANTIATE_TEST_SUITE_P(Methods, DeviceResumes, testing::ValuesIn(all_of(true)), name_of_device_case);

TEST(DeviceCases, CoverTheRegistry) {
  for (const RegistryRow& row : registry())
    EXPECT_TRUE(std::ranges::any_of(device_cases(), [&](const DeviceCase& c) {
      return c.info->name == row.name;
    })) << row.name;
}

TEST(DeviceCases, AreComputedWithoutKernels) {
  EXPECT_TRUE(kernels::all_kernels().empty());
  EXPECT_THROW(kernels::kernels(), std::invalid_argument);
  EXPECT_EQ(kernels::rounding(), "");
}

// The tests of the check: dnn with one deliberate fault in its fit on a device.

enum class DeviceFault { misplaced_tensor, host_read, cpu_generator, other_numbers, off_the_device };

class BrokenOnDevice : public Method {
 public:
  BrokenOnDevice(DeviceFault fault, std::unique_ptr<Method> inner)
      : fault_(fault), inner_(std::move(inner)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& given) const override {
    FitContext context = given;
    const at::Tensor x = on_device(split.train, device()).all().inputs[0];
    if (fault_ == DeviceFault::misplaced_tensor) x + at::ones(x.sizes());
    if (fault_ == DeviceFault::cpu_generator)
      at::empty_like(x).normal_(0, 1, at::detail::getDefaultCPUGenerator());
    if (fault_ == DeviceFault::host_read && *static_cast<const char*>(x.const_data_ptr()) == 1) return {};
    if (fault_ == DeviceFault::other_numbers) context.stream = Stream(99);
    return inner_->fit(split, context);
  }

 private:
  DeviceFault fault_;
  std::unique_ptr<Method> inner_;
};

std::string fault_of_broken(DeviceFault fault, const char* method = "dnn") {
  const DeviceCase& c = device_case(method);
  return fault_of(c, [&](const nlohmann::json& options) {
    return std::make_unique<BrokenOnDevice>(fault, maker_of(c)(options));
  });
}

TEST(BrokenOnDevice, IsNoticed) {
  if (!is_simulated()) GTEST_SKIP() << "a card has no memory that tells of a touch";
  const auto tells = [](const std::string& told, const char* words) {
    EXPECT_NE(told.find(words), std::string::npos) << words << ": " << told;
  };
  tells(fault_of_broken(DeviceFault::misplaced_tensor),
        "expected argument other on simulated:0; received a tensor");
  tells(fault_of_broken(DeviceFault::cpu_generator), "received a generator of cpu");
  tells(fault_of_broken(DeviceFault::host_read), "the host touched memory of the simulated device");
  tells(fault_of_broken(DeviceFault::other_numbers), "differ");
  tells(fault_of_broken(DeviceFault::off_the_device, "ridge"), "a method of the CPU used the device");
}

}  // namespace
}  // namespace slimbayes::simulated
