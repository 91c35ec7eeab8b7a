#include "slimbayes/core/device.h"

#include <ATen/ATen.h>
#include <ATen/DeviceAccelerator.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <torch/csrc/api/include/torch/version.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

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
  for (const char* nonsense :
       {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:255", "cuda:256", "CPU", "cpu,cuda"}) {
    const std::string text = reason_of([&] { device_of(nonsense); });
    EXPECT_NE(text.find("to be cpu, auto, cuda or cuda:NUMBER; received '"), std::string::npos) << text;
  }
}

TEST(Device, ALongTextIsCutInTheMessage) {
  EXPECT_LT(reason_of([] { device_of(std::string(100000, 'x')); }).size(), 300U);
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

/// Keeps the warnings of libtorch.
struct Heard : c10::WarningHandler {
  std::vector<std::string> all;
  void process(const c10::Warning& warning) override { all.push_back(warning.msg()); }
};

TEST(ReproducibleDevice, SaysWhatCublasNeedsAndDropsTheTextOnPackedWeights) {
  Heard heard;
  const c10::WarningUtils::WarningHandlerGuard guard(&heard);
  std::vector<std::string> notes;
  {
    const ReproducibleDevice held(at::kCUDA, [&](const std::string& note) { notes.push_back(note); });
    TORCH_WARN("RNN module weights are not packed, call flatten_parameters().");
    TORCH_WARN("another text");
    TORCH_WARN(
        "this operation is not deterministic because it uses CuBLAS, so set a variable before running: "
        "CUBLAS_WORKSPACE_CONFIG=:4096:8");
    TORCH_WARN("cumsum is not deterministic");  // the first one is enough
  }
  EXPECT_EQ(heard.all, std::vector<std::string>({"another text"}));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("set CUBLAS_WORKSPACE_CONFIG=:4096:8 in the environment"), std::string::npos)
      << notes[0];
}

TEST(ReproducibleDevice, NamesAnOperationThatIsNotDeterministic) {
  std::vector<std::string> notes;
  {
    const ReproducibleDevice held(at::kCUDA, [&](const std::string& note) { notes.push_back(note); });
    TORCH_WARN("cumsum is not deterministic, and more");
  }
  EXPECT_EQ(notes, std::vector<std::string>({"another run on this device may give slightly other numbers: "
                                             "cumsum is not deterministic"}));
}

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 10)

using Precisions = std::vector<at::Float32Precision>;

Precisions cuda_precisions() {
  Precisions all;
  for (const at::Float32Op op : {at::Float32Op::MATMUL, at::Float32Op::CONV, at::Float32Op::RNN})
    all.push_back(at::globalContext().float32Precision(at::Float32Backend::CUDA, op));
  return all;
}

TEST(ReproducibleDevice, ComputesInFullPrecisionAndRestoresTheUsersSettings) {
  using enum at::Float32Precision;
  at::Context& context = at::globalContext();
  const auto set = [&](at::Float32Backend backend, at::Float32Op op, at::Float32Precision precision) {
    context.setFloat32Precision(backend, op, precision);
  };
  const Precisions before = cuda_precisions();
  context.setFloat32MatmulPrecision("medium");
  set(at::Float32Backend::GENERIC, at::Float32Op::ALL, TF32);
  set(at::Float32Backend::CUDA, at::Float32Op::CONV, NONE);  // takes that of ALL
  set(at::Float32Backend::CUDA, at::Float32Op::RNN, IEEE);
  const Precisions asked = cuda_precisions();
  EXPECT_EQ(asked, Precisions({TF32, TF32, IEEE}));
  {
    const ReproducibleDevice outer(at::kCUDA, {}), inner(at::kCUDA, {});
    EXPECT_EQ(cuda_precisions(), Precisions({IEEE, IEEE, IEEE}));
  }
  EXPECT_EQ(cuda_precisions(), asked);
  EXPECT_EQ(context.float32MatmulPrecision(), at::Float32MatmulPrecision::MEDIUM);
  { const ReproducibleDevice on_the_cpu(at::kCPU, {}); }
  EXPECT_EQ(cuda_precisions(), asked);

  set(at::Float32Backend::GENERIC, at::Float32Op::ALL, NONE);
  context.setFloat32MatmulPrecision("highest");
  set(at::Float32Backend::CUDA, at::Float32Op::MATMUL, before[0]);
  set(at::Float32Backend::CUDA, at::Float32Op::CONV, before[1]);
  set(at::Float32Backend::CUDA, at::Float32Op::RNN, before[2]);
}

#endif

}  // namespace
}  // namespace slimbayes
