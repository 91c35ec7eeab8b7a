#include "tests/device/contracts/device_case.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/method/registry.h"
#include "tests/device/simulated/memory.h"
#include "tests/device/simulated/simulated.h"
#include "tests/methods/answer_numbers.h"
#include "tests/methods/input_contract.h"
#include "tests/methods/quick_options.h"
#include "tests/methods/task_contract.h"

namespace slimbayes::simulated {

namespace {

// The CPU computes by libtorch too, so that both take the same way. Set before anything asks for kernels.
[[maybe_unused]] const int kKernelsOff = setenv("SLIMBAYES_KERNELS", "none", 1);

constexpr int64_t kSteps = 6, kRows = 40, kHeldOut = 16, kFresh = 12;
// AdamW divides a gradient by its own size: where one is near zero, a rounding becomes a step. So six steps
// make up to 1e-4 of the last bits of LSTM and attention on some processors, and up to 1e-6 of sums in
// another order.
constexpr double kOtherKernels = 1e-3;  // of LSTM and attention
constexpr double kOtherOrder = 1e-4;
constexpr double kCard = 1e-3;  // of a card, whose kernels are all others

/// Methods that add in another order on a device: the KL of all weights, which the CPU adds in pieces that
/// fit its cache; the sums over rows, which a device makes by one product; the gradient of dPPGP's maximum,
/// whose product the CPU adds without rounding it.
constexpr std::string_view kSumsOtherwise[] = {
    "dbk",        "sv-dbk",    "bbb", "full-rank", "low-rank",           "low-rank-svd", "rank-1",
    "f-sgvb-lrt", "dbk-exact", "bll", "rich-bll",  "last-layer-laplace", "ntk-sketch"};

double tolerance_of(const MethodInfo& info, bool other_kernels) {
  if (!is_simulated()) return info.device ? kCard : 0;
  if (other_kernels) return kOtherKernels;
  return std::ranges::find(kSumsOtherwise, info.name) != std::end(kSumsOtherwise) ? kOtherOrder : 0;
}

constexpr LikelihoodKind kLikelihoods[] = {LikelihoodKind::gaussian, LikelihoodKind::bernoulli,
                                           LikelihoodKind::softmax, LikelihoodKind::poisson,
                                           LikelihoodKind::cox};

/// Returns the options with less work where they are of a method that has such options.
nlohmann::json shortened(const MethodInfo& info, nlohmann::json options) {
  const nlohmann::json few = {{"steps", kSteps}, {"iterations", 3}, {"batch", 16}, {"trees", 4},
                              {"draws", 4},      {"averaged", 2},   {"folds", 2}};
  for (const OptionDoc& doc : options_of(info, options))
    if (few.contains(doc.name)) options[doc.name] = few[doc.name];
  return options;
}

Dataset table_rows(LikelihoodKind likelihood, int64_t n, uint64_t seed) {
  return likelihood == LikelihoodKind::gaussian ? contract::toy(n, seed)
                                                : contract::task_toy(likelihood, n, seed);
}

void add_tables(const MethodInfo& info, std::vector<DeviceCase>& all) {
  for (const LikelihoodKind likelihood : kLikelihoods) {
    if (!takes(info, InputKind::table) || !takes(info, task_of(likelihood))) continue;
    all.push_back({&info, std::string(name_of(likelihood)),
                   [likelihood](int64_t n, uint64_t seed) { return table_rows(likelihood, n, seed); },
                   shortened(info, contract::task_options(info, likelihood, kSteps)),
                   tolerance_of(info, false)});
  }
}

void add_inputs(const MethodInfo& info, std::vector<DeviceCase>& all) {
  for (const contract::InputCase& c : contract::input_cases()) {
    if (!takes(info, c.kind) || !takes(info, c.task)) continue;
    const bool other_kernels = c.network == "lstm" || c.network == "transformer";
    all.push_back({&info, c.name, c.data, shortened(info, contract::input_options(info, c, kSteps)),
                   tolerance_of(info, other_kernels)});
  }
}

std::vector<DeviceCase> every_case() {
  std::vector<DeviceCase> all;
  for (const MethodInfo& info : method_catalog()) {
    add_tables(info, all);
    add_inputs(info, all);
  }
  return all;
}

/// Returns a sentence if two tensors differ by more than the tolerance; else "".
std::string difference(const at::Tensor& here, const at::Tensor& there, double tolerance,
                       const std::string& what) {
  if (!there.is_cpu()) return what + " are on " + there.device().str();
  if (here.sizes() != there.sizes()) return fmt::format("{} have another shape", what);
  const double largest = here.numel() > 0 ? here.abs().max().item<double>() : 0;
  if (at::allclose(here, there, 0, tolerance * largest, /*equal_nan=*/true)) return "";
  return fmt::format("{} differ by {} of {}", what, (here - there).abs().max().item<double>(), largest);
}

/// Returns a sentence on what the host did to the device that it must not do; else "".
std::string fault_of_work(const MethodInfo& info, const Counters& work) {
  if (!is_simulated()) return "";
  if (touches() > 0) {
    const std::string told = told_touches();
    forget_touches();
    return told;
  }
  if (info.device) return work.kernels > 0 ? "" : "the device computed nothing";
  return work == Counters{} ? "" : "a method of the CPU used the device";
}

std::string fault_of_answers(const DeviceCase& c, const Fitted& here, const Fitted& there) {
  const Dataset fresh = c.rows(kFresh, 3);
  const at::Tensor wanted = contract::numbers(here.predict(fresh));
  PredictOptions options;
  std::string fault =
      difference(wanted, contract::numbers(there.predict(fresh)), c.tolerance, "answers on the CPU");
  options.device = tested_device();
  if (fault.empty())
    fault = difference(wanted, contract::numbers(there.predict(fresh, options)), c.tolerance,
                       "answers on the device");
  const Scores scores = here.ood(fresh);
  for (const PredictOptions& where : {PredictOptions(), options}) {
    Scores others;
    const Counters work = work_of([&] { others = there.ood(fresh, where); });
    if (fault.empty() && scores.size() != others.size()) return "other scores";
    for (const auto& [name, score] : scores)
      if (fault.empty()) fault = difference(score, others.at(name), c.tolerance, "scores " + name);
    const bool used = work.kernels > 0, wanted_there = !where.device.is_cpu() && c.info->device;
    if (fault.empty() && is_simulated() && !scores.empty() && used != wanted_there)
      return used ? "scores of the CPU used the device" : "the device computed no scores";
  }
  if (fault.empty() && c.tolerance == 0 && contract::bytes_of(here) != contract::bytes_of(there))
    return "the files differ";
  return fault;
}

/// Returns what `body` returns, or what it throws.
template <class Body>
std::string told(const char* when, Body body) {
  try {
    return body();
  } catch (const c10::Error& e) {
    return std::string(when) + ": " + e.what_without_backtrace();
  } catch (const std::exception& e) {
    return std::string(when) + ": " + e.what();
  }
}

std::unique_ptr<Fitted> stopped_fit(const DeviceCase& c, at::Device where, Callback* callback,
                                    const CheckpointPolicy& policy) {
  FitContext context = context_on(where);
  context.callback = callback;
  context.checkpoint = policy;
  return maker_of(c)(c.options)->fit(split_of(c), context);
}

}  // namespace

bool is_simulated() { return std::getenv("SLIMBAYES_TEST_DEVICE") == nullptr; }

at::Device tested_device() {
  return is_simulated() ? device() : device_of(std::getenv("SLIMBAYES_TEST_DEVICE"));
}

const std::vector<DeviceCase>& device_cases() {
  static const std::vector<DeviceCase> all = every_case();
  return all;
}

const DeviceCase& device_case(const std::string& method, const std::string& data) {
  for (const DeviceCase& c : device_cases())
    if (c.info->name == method && c.data == data) return c;
  throw std::logic_error("no case of " + method + " on " + data);
}

Maker maker_of(const DeviceCase& c) { return registry_row(c.info->name).make; }

FitContext context_on(at::Device device) {
  FitContext context{Stream(contract::kSeed)};
  context.device = device;
  return context;
}

Split split_of(const DeviceCase& c) { return {c.rows(kRows, 1), c.rows(kHeldOut, 2)}; }

std::string fault_of(const DeviceCase& c, const Maker& make) {
  const Split split = split_of(c);
  std::unique_ptr<Fitted> here, there;
  std::string fault = told("a fit on the CPU", [&] {
    here = maker_of(c)(c.options)->fit(split, context_on(at::kCPU));
    return "";
  });
  if (!fault.empty()) return fault;
  const Counters before = counters();
  fault = told("a fit on the device", [&] {
    there = make(c.options)->fit(split, context_on(tested_device()));
    return fault_of_work(*c.info, counters() - before);
  });
  if (!fault.empty()) return fault;
  return told("an answer", [&] {
    const std::string differing = fault_of_answers(c, *here, *there);
    return differing.empty() ? fault_of_work(*c.info, counters() - before) : differing;
  });
}

std::string fault_of_resuming(const DeviceCase& c) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("device-{}.ckpt", ::getpid());
  const Dataset fresh = c.rows(kFresh, 3);
  return told("a stopped fit", [&]() -> std::string {
    const std::unique_ptr<Fitted> whole = stopped_fit(c, tested_device(), nullptr, {});
    const at::Tensor wanted = contract::numbers(whole->predict(fresh));
    for (const at::Device where : {tested_device(), at::Device(at::kCPU)}) {
      contract::StopAfter stop(4);
      try {
        stopped_fit(c, tested_device(), &stop, {path, false, "device"});
      } catch (const NumericalError&) {  // stopped before the first validation
      }
      if (!std::filesystem::exists(path)) return "no checkpoint of a stopped fit";
      const std::unique_ptr<Fitted> resumed = stopped_fit(c, where, nullptr, {path, true, "device"});
      std::filesystem::remove(path);
      for (int part = 0; part < 3; ++part)
        std::filesystem::remove(path.string() + "." + std::to_string(part));
      const std::string after = " after a stop and a resume on " + where.str();
      if (const std::string fault =
              difference(wanted, contract::numbers(resumed->predict(fresh)), c.tolerance, "answers");
          !fault.empty())
        return fault + after;
      if (c.tolerance == 0 && contract::bytes_of(*resumed) != contract::bytes_of(*whole))
        return "another file" + after;
    }
    return "";
  });
}

}  // namespace slimbayes::simulated
