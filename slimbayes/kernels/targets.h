#pragma once

// What the sources of this room share: each fills its part of the table for one target.

#include <cstdint>

#include "slimbayes/kernels/kernels.h"

/// The targets: SSE4 (every x86-64 processor since 2008) up to AVX-512, or NEON. Registers of a size unknown
/// to the compiler (SVE) cannot be members of arrays.
#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4
#endif
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_AVX3_DL)

#include "hwy/targets.h"  // after the definitions, which it reads

namespace slimbayes::kernels {

/// Write their kernels for the target (a bit of hwy/detect_targets.h) into the table.
void fill_products(int64_t target, Kernels& table);
void fill_activations(int64_t target, Kernels& table);
void fill_periodic(int64_t target, Kernels& table);
void fill_recurrent(int64_t target, Kernels& table);
void fill_rows(int64_t target, Kernels& table);
void fill_doubles(int64_t target, Kernels& table);
void fill_adamw(int64_t target, Kernels& table);
void fill_quadratic_forms(int64_t target, Kernels& table);

}  // namespace slimbayes::kernels

/// Calls FILL of the namespace of a target. Use it below HWY_ONCE.
#define SLIMBAYES_FILL(FILL, target, table)                                                                \
  do {                                                                                                     \
    using Fill = void (*)(Kernels&);                                                                       \
    const Fill avx512 = HWY_CHOOSE_AVX3(FILL), avx2 = HWY_CHOOSE_AVX2(FILL), sse4 = HWY_CHOOSE_SSE4(FILL), \
               neon = HWY_CHOOSE_NEON(FILL);                                                               \
    const Fill fill = (target) == HWY_AVX3   ? avx512                                                      \
                      : (target) == HWY_AVX2 ? avx2                                                        \
                      : (target) == HWY_SSE4 ? sse4                                                        \
                                             : neon;                                                       \
    fill(table);                                                                                           \
  } while (false)
