// The simulated device computes what the CPU does, to the bit.
#include "tests/device/operations.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "slimbayes/core/random.h"
#include "tests/device/simulated/simulated.h"

namespace slimbayes::simulated {
namespace {

std::vector<at::Tensor> inputs_of(const Operations& group, at::ScalarType type, at::Device device) {
  const Stream stream(11);
  std::vector<at::Tensor> all;
  for (size_t i = 0; i < group.shapes.size(); ++i)
    all.push_back(
        stream.split(i).normal(at::IntArrayRef(group.shapes[i])).to(type).to(device).requires_grad_());
  return all;
}

/// Returns the results of a group, then the gradients of a weighted sum of them.
std::vector<at::Tensor> results_of(const Operations& group, at::ScalarType type, at::Device device) {
  const std::vector<at::Tensor> x = inputs_of(group, type, device);
  std::vector<at::Tensor> all = group.call(x);
  at::Tensor sum;
  for (const at::Tensor& y : all) {
    EXPECT_EQ(y.device(), device) << group.name;
    if (!y.requires_grad()) continue;
    const at::Tensor weights = Stream(12).normal(y.sizes()).to(y.scalar_type()).to(device);
    const at::Tensor part = (y * weights).sum();
    sum = sum.defined() ? sum + part : part;
  }
  if (!sum.defined()) return all;
  sum.backward();
  for (const at::Tensor& each : x) all.push_back(each.grad());
  return all;
}

void expect_same(const at::Tensor& here, const at::Tensor& there, double tolerance, const std::string& what) {
  ASSERT_EQ(here.defined(), there.defined()) << what;
  if (!here.defined()) return;
  EXPECT_EQ(here.sizes(), there.sizes()) << what;
  EXPECT_EQ(here.strides(), there.strides()) << what;
  ASSERT_EQ(here.scalar_type(), there.scalar_type()) << what;
  const at::Tensor moved = there.cpu().detach(), kept = here.detach();
  if (tolerance == 0) {
    EXPECT_TRUE(at::equal(kept, moved)) << what << ", by " << (kept - moved).abs().max().item<double>();
  } else {
    EXPECT_LE((kept - moved).abs().max().item<double>(), tolerance * (1 + kept.abs().max().item<double>()))
        << what;
  }
}

void expect_group(const Operations& group) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const std::vector<at::Tensor> here = results_of(group, type, at::kCPU),
                                  there = results_of(group, type, device());
    ASSERT_EQ(here.size(), there.size()) << group.name;
    for (size_t i = 0; i < here.size(); ++i)
      expect_same(here[i], there[i], group.tolerance,
                  group.name + ", " + at::toString(type) + ", result " + std::to_string(i));
  }
}

class SimulatedOperations : public testing::TestWithParam<const Operations*> {};

TEST_P(SimulatedOperations, AreThoseOfTheCpu) { expect_group(*GetParam()); }

std::vector<const Operations*> all_groups() {
  std::vector<const Operations*> all;
  for (const std::vector<Operations>* groups : {&networks(), &algebra()})
    for (const Operations& each : *groups) all.push_back(&each);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Groups, SimulatedOperations, testing::ValuesIn(all_groups()), [](const auto& info) {
  std::string name = info.param->name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

}  // namespace
}  // namespace slimbayes::simulated
