// What several processes share of a fit (ResolvedFit::ranks), and that they make the same one.
#include "slimbayes/fit/parallel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <string>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/fit/resolved_fit.h"
#include "slimbayes/train/checkpoint.h"

namespace slimbayes {

namespace {

/// Returns the number of parts that could be jobs, 1 if the fit is one training. A search has many.
int64_t parts_of(const ResolvedFit& request) {
  if (!request.fit.tune.empty() || request.method->name == "auto") return std::numeric_limits<int64_t>::max();
  return request.method->name == "ensemble" ? request.options.at("members").get<int64_t>() : 1;
}

void check_rows(const ResolvedFit& request) {
  const std::string& method = request.method->name;
  if (method == "auto")
    refuse("ranks", "a method whose rows several processes can share", method,
           "let them share its fits (`.parallel=jobs`), or name a method with `.method`, such as dbk or dnn");
  check(request.fit.tune.empty(), "ranks", "a fit without a search of its options", "one with `.tune`",
        "let the processes share its fits (`.parallel=jobs`)");
  check(!(request.options.value("time_limit", 0.0) > 0), "ranks",
        "a budget in steps where processes share the rows", "a time limit",
        "give `.steps` in the place of `.time_limit`");
}

}  // namespace

Parallel shared_by_ranks(const ResolvedFit& request) {
  const int64_t parts = parts_of(request);
  const bool jobs = request.parallel == Parallel::jobs ||
                    (request.parallel == Parallel::by_size && parts >= request.ranks->size());
  if (!jobs) {
    check_rows(request);
    return Parallel::rows;
  }
  if (parts == 1)
    refuse("ranks", "a fit of several parts, such as that of auto or ensemble or a search of options",
           request.method->name, "let the processes share its rows (`.parallel=rows`)");
  return Parallel::jobs;
}

std::string no_gpu_note(std::string_view asked, at::Device found) {
  return asked == "auto" && found.is_cpu() ? "no GPU was found (`.device=auto`): the CPU computes" : "";
}

void check_device_of_ranks(at::Device device, bool several) {
  if (device.is_cpu() || !several) return;
  refuse("ranks", "`.device=cpu` where several processes make a fit",
         fmt::format("`.device={}`", name_of(device)), "start one process, or leave `.device` out");
}

std::vector<std::string> devices_of(const FitOptions& fit, const std::vector<MethodChoice>& methods,
                                    const Collective* ranks, Callback* callback) {
  const at::Device device = device_of(fit.device);
  check_device_of_ranks(device, ranks != nullptr);
  std::vector<std::string> devices, host;
  for (const MethodChoice& one : methods) {
    const bool computes = inner_method(find_method(one.method), one.options).device;
    devices.push_back(computes ? name_of(device) : "cpu");
    if (!computes) host.push_back(one.method);
  }
  if (callback == nullptr) return devices;
  if (const std::string note = no_gpu_note(fit.device, device); !note.empty()) callback->note(note);
  if (!device.is_cpu() && !host.empty())
    callback->note(fmt::format("on the CPU, where `.device` has no effect: {}", fmt::join(host, ", ")));
  return devices;
}

void check_same_request(const Collective& ranks, const nlohmann::json& request) {
  const std::vector<std::string> all =
      gather_texts(ranks, request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  together(&ranks, [&] {
    for (size_t r = 1; r < all.size(); ++r)
      check_fingerprint(all[r], all[0], "the same data and request on every rank",
                        fmt::format("see what rank {} has", r));
  });
}

}  // namespace slimbayes
