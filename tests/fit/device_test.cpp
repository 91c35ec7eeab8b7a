#include "slimbayes/core/device.h"

#include <ATen/ATen.h>
#include <ATen/DeviceAccelerator.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/data/table/limits.h"
#include "slimbayes/fit/comparison.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/fit/fit_notes.h"
#include "slimbayes/fit/fit_outcome.h"
#include "slimbayes/fit/fit_resolved.h"
#include "slimbayes/fit/joint_fit.h"
#include "slimbayes/fit/network_at_hand.h"
#include "slimbayes/fit/parallel.h"
#include "slimbayes/train/failure.h"
#include "tests/data/tables.h"
#include "tests/fit/steps_tables.h"

namespace slimbayes {
namespace {

constexpr const char* kNoGpu = "no GPU was found (`.device=auto`): the CPU computes";

bool no_accelerator() { return !at::getAccelerator(/*checked=*/false).has_value(); }

FitOptions short_fit(const std::string& device, const std::string& method = "dnn") {
  FitOptions fit = small(method);
  if (method == "ridge") fit.options = nlohmann::json::object();
  if (method == "dnn") fit.options["steps"] = 10;
  fit.noise_folds = 0;
  fit.device = device;
  return fit;
}

struct NotesOfFit : Callback {
  void note(const std::string& sentence) override { notes.push_back(sentence); }
  std::vector<std::string> notes;
};

/// Returns the request with this device, as if the machine had it.
ResolvedFit as_if_on(at::Device device, const std::string& method) {
  ResolvedFit request = resolve_fit(steps(40), short_fit("cpu", method));
  request.fit.device = name_of(device);
  request.device = device;
  return request;
}

/// Returns the message of the OutOfMemory that f throws.
template <class F>
std::string message_of_full(F f) {
  try {
    f();
  } catch (const OutOfMemory& error) {
    return error.what();
  }
  return "no OutOfMemory";
}

TEST(FitDevice, ADeviceThatIsNotThereIsRefusedBeforeTheFit) {
  if (!no_accelerator()) GTEST_SKIP() << "this machine has an accelerator";
  for (const char* absent : {"cuda", "cuda:7", "xpu"}) {
    const std::string why = std::string("a machine with the device ") + absent;
    expect_has(error_of([&] { resolve_fit(steps(40), short_fit(absent)); }), why);
    expect_has(error_of([&] { fit_model(steps(40), short_fit(absent)); }), why);
    expect_has(error_of([&] { fit_workers(short_fit(absent), {{"dnn", {}}}); }), why);
    FitOptions compared = short_fit(absent);
    compared.test_fraction = 0.2;
    expect_has(error_of([&] {
                 compare(steps(60), compared,
                         {{"ridge", find_method("ridge").resolve(nlohmann::json::object())}}, {.seeds = 1},
                         {}, nullptr);
               }),
               why);
  }
  expect_has(error_of([&] { resolve_fit(steps(40), short_fit("gpu")); }), "cpu, auto, cuda or cuda:NUMBER");
}

TEST(FitDevice, TheDeviceIsNoPartOfWhatMakesAModel) {
  EXPECT_EQ(options_to_json(short_fit("cuda")), options_to_json(short_fit("cpu")));
  const Table table = steps(40);
  const Examples rows = table;
  const FitData data(rows, nullptr);
  EXPECT_EQ(fit_fingerprint(as_if_on({at::kCUDA, 1}, "dnn"), data),
            fit_fingerprint(as_if_on(at::kCPU, "dnn"), data));
  EXPECT_EQ(run_options(short_fit("cuda:1")).device, "cuda:1");
  EXPECT_EQ(run_options(short_fit("cuda:1")).checkpoint_every, RunOptions{}.checkpoint_every);
}

TEST(FitDevice, AutoWithoutAnAcceleratorGivesTheBitsOfTheCpuAndANote) {
  if (!no_accelerator()) GTEST_SKIP() << "this machine has an accelerator";
  NotesOfFit plain, automatic;
  const Model one = fit_model(steps(60), short_fit("cpu"), nullptr, &plain),
              other = fit_model(steps(60), short_fit("auto"), nullptr, &automatic);
  EXPECT_TRUE(at::equal(one.predict(steps(30, 2)).mean, other.predict(steps(30, 2)).mean));
  EXPECT_EQ(std::ranges::count(plain.notes, kNoGpu), 0);
  EXPECT_EQ(std::ranges::count(automatic.notes, kNoGpu), 1);
  EXPECT_TRUE(other.device().is_cpu());
}

TEST(FitDevice, AMethodThatComputesOnTheCpuAloneSaysSo) {
  EXPECT_EQ(device_note(as_if_on({at::kCUDA, 0}, "ridge")),
            "ridge computes on the CPU; `.device` has no effect");
  EXPECT_EQ(device_note(as_if_on(at::kCPU, "ridge")), "");
  EXPECT_TRUE(as_if_on({at::kCUDA, 0}, "ridge").device_of_method().is_cpu());
  // Neither its fit nor its answers touch the device, which this machine need not have.
  ResolvedFit request = as_if_on({at::kCUDA, 0}, "ridge");
  const Table table = steps(40);
  struct Quiet : Callback {
  } quiet;
  const FitOutcome made = fit_in_memory(request, Examples(table), nullptr, {}, quiet);
  ASSERT_TRUE(made.model);
  EXPECT_EQ(made.model->device(), at::Device(at::kCUDA, 0));
  EXPECT_EQ(std::ranges::count(made.notes, device_note(request)), 1);
  const Model plain = fit_model(table, short_fit("cpu", "ridge"));
  EXPECT_TRUE(at::equal(made.model->predict(table).mean, plain.predict(table).mean));
}

TEST(FitDevice, AFitOfSeveralTargetsSaysOnceThatThereIsNone) {
  if (!no_accelerator()) GTEST_SKIP() << "this machine has an accelerator";
  Table table = steps(60);
  Column other = *steps(60, 2).find("y");
  other.name = "z";
  table.columns.push_back(std::move(other));
  FitOptions fit = short_fit("auto", "ridge");
  fit.target = "y,z";
  fit.valid_fraction = 0.3;
  const auto naming_it = [](const std::vector<std::string>& notes) {
    return std::ranges::count_if(
        notes, [](const std::string& note) { return note.find(kNoGpu) != std::string::npos; });
  };
  NotesOfFit notes;
  const JointOutcome made = fit_joint(table, {fit}, nullptr, {}, notes);
  ASSERT_TRUE(made.model);
  EXPECT_EQ(naming_it(notes.notes), 1);
  EXPECT_EQ(std::ranges::count(made.notes, kNoGpu), 1);
  EXPECT_EQ(naming_it(made.notes), 1);
  ResolvedFit one = as_if_on({at::kCUDA, 0}, "ridge");
  EXPECT_NE(device_note(one), "");
  one.targets = {"y", "z"};
  EXPECT_EQ(device_note(one), "");
}

/// Answers that find no memory.
struct FullFitted : Fitted {
  Predictive predict(const Dataset&, const PredictOptions&) const override {
    throw c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, "HIP out of memory. GPU 0 has 80 GiB.");
  }
  TensorFile save() const override { return {}; }
  const Summary& summary() const override { return summary_; }
  Summary summary_;
};

TEST(FitDevice, AnswersThatFillItNameIt) {
  const Table table = steps(60);
  ModelParts parts = fit_model(table, short_fit("cpu")).parts();
  parts.fitted = std::make_shared<FullFitted>();
  EXPECT_THROW(Model(parts).predict(table), c10::OutOfMemoryError);  // the CPU is as it was
  parts.device = at::Device(at::kXPU, 0);                            // FullFitted does not touch it
  const std::string why = message_of_full([&] { Model(parts).predict(table); });
  expect_has(why, "room for the network and its rows in the memory of the device xpu:0; received 'HIP out");
  expect_has(why, "PredictOptions::batch");
  expect_has(why, "`.device=cpu`");
}

TEST(FitDevice, ItsNetworksAndRowsThatFillItNameIt) {
  const auto full = []() -> int { throw c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, "full"); };
  expect_has(message_of_full([&] {
               with_memory_of({at::kXPU, 1}, "fit", full);
             }),
             "[fit] expected room for the network and its rows in the memory of the device xpu:1; received "
             "'full'; give a smaller `.batch`, or `.device=cpu`");
  EXPECT_THROW(with_memory_of(at::kCPU, "fit", full), c10::OutOfMemoryError);
  EXPECT_EQ(with_memory_of({at::kXPU, 1}, "fit", [] { return 3; }), 3);
}

TEST(FitDevice, SeveralProcessesComputeOnTheCpu) {
  check_device_of_ranks(at::kCPU, true);
  check_device_of_ranks({at::kCUDA, 0}, false);
  expect_has(error_of([] {
               check_device_of_ranks({at::kCUDA, 0}, true);
             }),
             "`.device=cpu` where several processes make a fit; received `.device=cuda:0`");
}

TEST(FitDevice, AModelFileDoesNotKeepIt) {
  const Table table = steps(40);
  const Model model = fit_model(table, short_fit("cpu", "ridge"));
  ModelParts parts = model.parts();
  parts.device = at::Device(at::kCUDA, 0);
  const Model back = Model::from_file(Model(std::move(parts)).to_file(), "a file");
  EXPECT_TRUE(back.device().is_cpu());
  EXPECT_EQ(back.fit_options().device, "cpu");
  EXPECT_TRUE(back.on("cpu").device().is_cpu());
  expect_has(error_of([&] { back.on("nowhere"); }), "cpu, auto, cuda or cuda:NUMBER");
}

TEST(FitDevice, AFitAroundANetworkKeepsTheDeviceThatWasAsked) {
  const Model network = fit_model(steps(60), short_fit("cpu"));
  EXPECT_EQ(with_network_from(short_fit("cuda:1", "rich-bll"), network).device, "cuda:1");
}

TEST(FitDevice, TheMethodsOfAComparisonThatHaveNoneAreNamedOnce) {
  if (!no_accelerator()) GTEST_SKIP() << "this machine has an accelerator";
  NotesOfFit notes;
  const std::vector<MethodChoice> methods = {
      {"ridge", find_method("ridge").resolve(nlohmann::json::object())},
      {"constant", find_method("constant").resolve(nlohmann::json::object())}};
  EXPECT_EQ(devices_of(short_fit("auto"), methods, nullptr, &notes),
            (std::vector<std::string>{"cpu", "cpu"}));
  EXPECT_EQ(notes.notes, std::vector<std::string>{kNoGpu});
  EXPECT_EQ(devices_of(short_fit("cpu"), methods, nullptr, nullptr),
            (std::vector<std::string>{"cpu", "cpu"}));
}

}  // namespace
}  // namespace slimbayes
