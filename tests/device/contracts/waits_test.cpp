// No step of a training waits for the device: twice the steps in as many epochs read no more numbers and copy
// no more tensors to the host. To the device, where a copy from pageable memory waits too, a step copies its
// batch alone: the numbers of its rows, or the rows where they do not stay on the device. A method that
// factorises a matrix in every step reads whether that succeeded (safe_cholesky adds jitter where it must),
// so its step waits a fixed number of times.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <ostream>

#include "slimbayes/data/device_source.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/train/trainer.h"
#include "tests/device/contracts/device_case.h"
#include "tests/device/simulated/simulated.h"
#include "tests/methods/contract.h"
#include "tests/methods/once.h"

namespace slimbayes::simulated {
namespace {

constexpr int64_t kTrainRows = 64, kEpochs = 2;

struct Trained {
  std::string method, data;
  int64_t reads = 0;   // numbers that a step reads, of its factorisations
  int64_t copies = 1;  // of its batch, to the device: the row numbers; of augmented images inputs and targets
};

void PrintTo(const Trained& of, std::ostream* out) { *out << of.method << " on " << of.data; }

const std::vector<Trained>& trained() {
  static const std::vector<Trained> all = {
      {"dnn", "gaussian"},        {"dnn", "softmax"},       {"mc-dropout", "gaussian"},
      {"bbb", "gaussian"},        {"low-rank", "gaussian"}, {"dbk", "gaussian"},
      {"sv-dkl", "bernoulli", 4}, {"sv-rbf", "cox", 4},     {"sv-dkl", "gaussian", 4},
      {"sv-dkl", "softmax", 4},   {"sv-rbf", "poisson", 4}, {"vbll", "softmax"},
      {"pp-dkl", "gaussian", 4},  {"sv-dbk", "gaussian"},   {"fid-gp", "gaussian", 20},
      {"dnn", "images", 0, 2},    {"bbb", "images", 0, 2}};
  return all;
}

/// Returns a sentence if `fit`, which trains for kEpochs epochs of so many batches, waits more often where an
/// epoch has eight batches than where it has four, but for `reads` numbers and `copies` to the device a step;
/// else "". What a process copies once is in the first of the two fits.
std::string more_waits(const std::function<void(int64_t batches)>& fit, int64_t reads = 0,
                       int64_t copies = 1) {
  const auto waits = [&](int64_t batches) { return work_of([&] { fit(batches); }); };
  const Counters four = waits(4), eight = waits(8);
  if (eight.kernels <= four.kernels) return "no more kernels in twice the steps";
  constexpr int64_t kMore = 4 * kEpochs;  // steps
  if (eight.to_device > four.to_device + copies * kMore)
    return "copies to the device " + std::to_string(four.to_device) + ", then " +
           std::to_string(eight.to_device);
  if (eight.items == four.items + reads * kMore && eight.to_host == four.to_host) return "";
  const std::string stacks = stacks_of_waits([&] { fit(8); });
  return "items " + std::to_string(four.items) + ", then " + std::to_string(eight.items) +
         "; copies to the host " + std::to_string(four.to_host) + ", then " + std::to_string(eight.to_host) +
         "\n" + stacks.substr(0, 20000);
}

class DeviceWaits : public testing::TestWithParam<Trained> {};

TEST_P(DeviceWaits, AreNotInAStep) {
  if (!is_simulated()) GTEST_SKIP() << "only the simulated device counts its waits";
  const DeviceCase& c = device_case(GetParam().method, GetParam().data);
  // Held-out events would be scored by an adaptive integral, whose passes depend on the parameters.
  const Split split{c.rows(kTrainRows, 1), c.rows(c.data == "cox" ? 0 : 16, 2)};
  EXPECT_EQ(more_waits(
                [&](int64_t batches) {
                  nlohmann::json options = c.options;
                  options.update({{"batch", kTrainRows / batches}, {"steps", kEpochs * batches}});
                  maker_of(c)(options)->fit(split, context_on(device()));
                },
                GetParam().reads, GetParam().copies),
            "");
}

INSTANTIATE_TEST_SUITE_P(Methods, DeviceWaits, testing::ValuesIn(trained()), [](const auto& info) {
  return contract::test_name(info.param.method + "_" + info.param.data);
});

/// Trains one weight w to the mean of the inputs with a step that may wait for the device.
void train_mean(int64_t batches, const std::function<StepLoss(const at::Tensor& loss)>& returned) {
  const Dataset rows = on_device(contract::toy(kTrainRows, 1), device());
  const at::TensorOptions like = at::dtype(at::kFloat).device(device());
  TrainProblem problem;
  problem.groups.push_back({"w", at::zeros({2}, like), at::zeros({2}, like)});
  problem.source = rows.source;
  problem.rows = rows.size();
  problem.step = [&](const Batch& batch, const StepContext&) {
    const at::Tensor error = problem.groups[0].value - batch.inputs[0].to(at::kFloat);
    problem.groups[0].grad.add_(error.mean(0));
    return returned(error.square().mean());
  };
  TrainingOptions options;
  options.batch = kTrainRows / batches;
  options.steps = kEpochs * batches;
  train(problem, options, Stream(1), nullptr, {});
}

TEST(DeviceWaits, OfADeliberateStepAreNoticed) {
  if (!is_simulated()) GTEST_SKIP() << "only the simulated device counts its waits";
  EXPECT_EQ(more_waits([](int64_t batches) { train_mean(batches, [](const at::Tensor& x) { return x; }); }),
            "");
  const std::string items = more_waits(
      [](int64_t batches) { train_mean(batches, [](const at::Tensor& x) { return x.item<double>(); }); });
  EXPECT_NE(items.find("a number is read"), std::string::npos) << items;
  const std::string copies =
      more_waits([](int64_t batches) { train_mean(batches, [](const at::Tensor& x) { return x.cpu(); }); });
  EXPECT_NE(copies.find("a copy to the host"), std::string::npos) << copies;
  const std::string constants = more_waits([](int64_t batches) {
    train_mean(batches, [](const at::Tensor& x) { return x + at::zeros({1}).to(x.device()).sum(); });
  });
  EXPECT_NE(constants.find("copies to the device"), std::string::npos) << constants;
}

}  // namespace
}  // namespace slimbayes::simulated
