#include "slimbayes/kernels/kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "slimbayes/kernels/targets.h"

namespace slimbayes::kernels {

namespace {

/// Returns the targets that this processor and the system support, as bits. Asks the compiler's own runtime:
/// Highway's answer would need its shared library wherever slimbayes runs.
int64_t supported_targets() {
#if defined(__x86_64__)
  const auto all = [](auto... there) { return (... && (there != 0)); };
  __builtin_cpu_init();
  const bool sse4 =
      all(__builtin_cpu_supports("sse4.2"), __builtin_cpu_supports("pclmul"), __builtin_cpu_supports("aes"));
  const bool avx2 = sse4 && all(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("fma"),
                                __builtin_cpu_supports("bmi"), __builtin_cpu_supports("bmi2"));
  const bool avx512 = avx2 && all(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512vl"),
                                  __builtin_cpu_supports("avx512dq"), __builtin_cpu_supports("avx512bw"));
  return (sse4 ? HWY_SSE4 : 0) | (avx2 ? HWY_AVX2 : 0) | (avx512 ? HWY_AVX3 : 0);
#else
  return HWY_NEON;  // every 64-bit ARM processor has it
#endif
}

std::vector<Kernels> every_target() {
  std::vector<Kernels> all;
  const int64_t there = supported_targets() & HWY_TARGETS;
  for (int64_t rest = there; rest != 0; rest &= rest - 1) {  // a lower bit is a better target
    const int64_t target = rest & -rest;
    Kernels& table = all.emplace_back();
    fill_products(target, table);
    fill_activations(target, table);
    fill_periodic(target, table);
    fill_recurrent(target, table);
    fill_rows(target, table);
    fill_doubles(target, table);
    fill_quadratic_forms(target, table);
    fill_adamw(target, table);
    table.target = hwy::TargetName(target);
  }
  return all;
}

/// Returns the value of SLIMBAYES_KERNELS, "" if it has none.
std::string_view asked() {
  const char* name = std::getenv("SLIMBAYES_KERNELS");
  return name == nullptr ? "" : name;
}

const Kernels& chosen() {
  const std::vector<Kernels>& all = all_kernels();
  const std::string_view name = asked();
  if (name == "none")
    throw std::invalid_argument(
        "[kernels] expected kernels; received SLIMBAYES_KERNELS=none, which turns them off; train by "
        "libtorch");
  if (name.empty()) {
    if (!all.empty()) return all.front();
    throw std::invalid_argument(
        "[kernels] expected a processor with SSE4 or NEON; received one without; train by libtorch");
  }
  std::vector<std::string> names;
  for (const Kernels& each : all) {
    if (each.target == name) return each;
    names.emplace_back(each.target);
  }
  throw std::invalid_argument(
      fmt::format("[kernels] expected one of {} in SLIMBAYES_KERNELS, or none; received '{}'",
                  fmt::join(names, ", "), name));
}

}  // namespace

const std::vector<Kernels>& all_kernels() {
  static const std::vector<Kernels> all = asked() == "none" ? std::vector<Kernels>() : every_target();
  return all;
}

const Kernels& kernels() {
  static const Kernels& table = chosen();
  return table;
}

std::string rounding() {
  if (all_kernels().empty()) return "";
  return std::string_view(kernels().target) == "SSE4" ? "separate" : "fused";
}

}  // namespace slimbayes::kernels
