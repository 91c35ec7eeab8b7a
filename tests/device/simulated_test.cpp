// What the simulated device refuses, and what it counts.
#include "tests/device/simulated/simulated.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "tests/device/simulated/memory.h"

namespace slimbayes::simulated {
namespace {

at::Tensor numbers(int64_t n, int index = 0) {
  return at::arange(n, at::dtype(at::kFloat)).to(device(index));
}

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const c10::Error& e) {
    return e.what_without_backtrace();
  }
  return "";
}

TEST(SimulatedDevice, HasANameAndTwoIndices) {
  EXPECT_EQ(at::Device("simulated:1"), device(1));
  EXPECT_EQ(device(1).str(), "simulated:1");
  EXPECT_EQ(numbers(3, 1).device(), device(1));
  EXPECT_EQ((numbers(3, 1) + 1).device(), device(1));
  EXPECT_EQ(at::zeros({2}, at::Device("simulated")).device(), device(0));
  EXPECT_NE(refusal([] { at::zeros({2}, at::Device("simulated:2")); }), "");
}

TEST(SimulatedDevice, TellsOfAHostThatReadsItsMemory) {
  const at::Tensor x = numbers(2000);
  EXPECT_EQ(touches(), 0);
  EXPECT_EQ(x.data_ptr<float>()[3], 3);  // opened by the handler, so that the program goes on
  EXPECT_EQ(touches(), 1);
  EXPECT_NE(told_touches().find("the host touched memory of the simulated device"), std::string::npos);
  forget_touches();
  EXPECT_EQ(touches(), 0);
  std::thread([&] { std::memset(x.data_ptr(), 0, 4); }).join();
  EXPECT_EQ(touches(), 1);
  forget_touches();
  EXPECT_EQ(x.cpu()[0].item<float>(), 0);
  EXPECT_EQ(touches(), 0);
}

TEST(SimulatedDevice, RefusesTensorsOfAnotherDevice) {
  const at::Tensor x = numbers(3), here = at::ones({3}), other = numbers(3, 1);
  for (const at::Tensor& y : {here, other}) {
    EXPECT_NE(refusal([&] { x* y; }).find("expected argument other on simulated:0"), std::string::npos);
    EXPECT_NE(refusal([&] { at::cat({x, y}); }), "");
    EXPECT_NE(refusal([&] { at::dot(x, y); }), "");
    EXPECT_NE(refusal([&] { x.clone().add_(y); }), "");
  }
  EXPECT_NE(refusal([&] { here* x; }), "");
  EXPECT_NE(refusal([&] { here.clone().add_(x); }), "");
  EXPECT_NE(refusal([&] { at::mm(x.unsqueeze(0), here.unsqueeze(1)); }), "");
}

TEST(SimulatedDevice, TakesNumbersOfTheCpuByElement) {
  const at::Tensor x = numbers(3), two = at::scalar_tensor(2);
  EXPECT_TRUE(at::equal((x * two).cpu(), at::arange(3) * two));
  EXPECT_TRUE(at::equal((two * x).cpu(), at::arange(3) * two));
  EXPECT_EQ(at::where(x > 1, two, x).device(), device());
  EXPECT_EQ((x + two.to(at::kDouble)).scalar_type(), at::kFloat);
  EXPECT_NE(refusal([&] { two.clone().add_(x.sum()); }), "");  // would write the CPU's memory
  EXPECT_NE(refusal([&] { at::stack({x.sum(), two}); }), "");
  const at::Tensor first = at::zeros_like(x), second = at::zeros_like(x);
  EXPECT_NE(refusal([&] {
              at::_fused_adamw_({x}, {x}, {first}, {second}, {}, {two}, 0.1, 0.9, 0.999, 0, 1e-8, false,
                                false);
            }),
            "");  // the number of steps belongs to the device
}

TEST(SimulatedDevice, TakesIndicesOfTheCpuInBracketsOnly) {
  const at::Tensor x = numbers(5), i = at::arange(2);
  EXPECT_TRUE(at::equal(x.index({i}).cpu(), at::arange(2, at::kFloat)));
  EXPECT_NE(refusal([&] { x.index_select(0, i); }), "");
  EXPECT_NE(refusal([&] { x.gather(0, i); }), "");
  EXPECT_NE(refusal([&] { x.scatter_add(0, i, x); }), "");
  EXPECT_NE(refusal([&] { at::ones({5}).index_select(0, i.to(device())); }), "");
  EXPECT_NE(refusal([&] { at::ones({5}).index({i.to(device())}); }), "");
}

TEST(SimulatedDevice, RefusesGenerators) {
  at::Tensor x = numbers(3);
  EXPECT_NE(
      refusal([&] { x.normal_(0, 1, at::detail::getDefaultCPUGenerator()); }).find("a generator of cpu"),
      std::string::npos);
  EXPECT_NE(refusal([&] { x.uniform_(); }).find("expected numbers of a stream"), std::string::npos);
  EXPECT_NE(refusal([&] { at::randn({3}, x.options()); }), "");
  EXPECT_NE(refusal([&] { at::dropout(x, 0.5, true); }), "");
  EXPECT_NE(refusal([&] { at::randperm(3, at::dtype(at::kLong).device(device())); }), "");
}

TEST(SimulatedDevice, CountsKernelsAndWaits) {
  const at::Tensor here = at::ones({4});
  at::Tensor x;
  EXPECT_EQ(work_of([&] { x = here.to(device()); }), (Counters{0, 0, 1, 0}));
  EXPECT_EQ(work_of([&] { x + x; }), (Counters{1, 0, 0, 0}));
  EXPECT_EQ(work_of([&] { x.view({2, 2}).t().narrow(0, 0, 1); }), (Counters{0, 0, 0, 0}));
  EXPECT_EQ(work_of([&] { x.clone(); }), (Counters{1, 0, 0, 0}));
  EXPECT_EQ(work_of([&] { x.cpu(); }), (Counters{0, 0, 0, 1}));
  EXPECT_EQ(work_of([&] { x[0].item<float>(); }), (Counters{0, 1, 0, 0}));
  EXPECT_EQ(work_of([&] { at::equal(x, x); }).items, 1);
  EXPECT_EQ(work_of([&] { at::nonzero(x); }).items, 1);
  EXPECT_EQ(work_of([&] { at::linalg_cholesky(at::diag(x)); }).items, 1);  // whether it succeeded
  EXPECT_EQ(work_of([&] { at::linalg_cholesky_ex(at::diag(x)); }).items, 0);
  EXPECT_EQ(work_of([&] { x.index({at::arange(2)}); }).to_device, 1);
  const std::string stacks = stacks_of_waits([&] { x.sum().item<float>(); });
  EXPECT_EQ(stacks.find("a number is read"), 0);
  reset_counters();
  EXPECT_EQ(counters(), Counters{});
}

TEST(SimulatedDevice, CopiesBetweenItsDevices) {
  const at::Tensor x = numbers(4), there = x.to(device(1));
  EXPECT_EQ(there.device(), device(1));
  EXPECT_TRUE(at::equal(there.cpu(), x.cpu()));
  EXPECT_EQ(x.to(at::kDouble).scalar_type(), at::kDouble);
  at::Tensor back = at::empty({4});
  back.copy_(x);
  EXPECT_TRUE(at::equal(back, x.cpu()));
}

TEST(SimulatedDevice, KeepsViewsAndGrowsMemory) {
  at::Tensor x = numbers(4);
  x.narrow(0, 1, 2).fill_(7);
  EXPECT_TRUE(at::equal(x.cpu(), at::tensor({0, 7, 7, 3}, at::kFloat)));
  x.resize_({6});
  EXPECT_EQ(x.numel(), 6);
  EXPECT_EQ(x[3].item<float>(), 3);
  at::Tensor y = at::empty({0}, x.options());
  y.set_(x);
  y.zero_();
  EXPECT_EQ(x.abs().sum().item<float>(), 0);
  const at::Tensor overlapping = numbers(4);
  at::Tensor first = overlapping.narrow(0, 0, 3);
  first.copy_(overlapping.narrow(0, 1, 3).clone());
  EXPECT_TRUE(at::equal(overlapping.cpu(), at::tensor({1, 2, 3, 3}, at::kFloat)));
}

}  // namespace
}  // namespace slimbayes::simulated
