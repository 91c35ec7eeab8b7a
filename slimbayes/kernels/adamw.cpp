// The update of parameters by AdamW.
#include "slimbayes/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "slimbayes/kernels/adamw.cpp"
#include <cmath>

#include "hwy/foreach_target.h"
#include "slimbayes/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {
namespace {

void AdamW(int64_t n, const AdamWStep& s, float* value, const float* grad, float* first, float* second) {
  // rate (m / c1) / (sqrt(v / c2) + eps), with one division: the factor sqrt(c2) is multiplied into rate and
  // eps.
  const float root = std::sqrt(s.correction2);
  const Vec keep = All(1 - s.rate * s.decay), rate = All(s.rate / s.correction1 * root),
            eps = All(s.eps * root), new1 = All(1 - s.beta1), old2 = All(s.beta2), new2 = All(1 - s.beta2);
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t left = n - i;
    const Vec g = LoadFirst(grad + i, left);
    Vec m = LoadFirst(first + i, left), v = LoadFirst(second + i, left);
    m = hn::MulAdd(new1, hn::Sub(g, m), m);
    v = hn::MulAdd(new2, hn::Mul(g, g), hn::Mul(old2, v));
    StoreFirst(m, first + i, left);
    StoreFirst(v, second + i, left);
    const Vec size = hn::Add(hn::Sqrt(v), eps);
    const Vec x = hn::Mul(keep, LoadFirst(value + i, left));
    StoreFirst(hn::NegMulAdd(rate, hn::Div(m, size), x), value + i, left);
  }
}

}  // namespace

void FillAdamW(Kernels& table) { table.adamw = AdamW; }

}  // namespace HWY_NAMESPACE
}  // namespace slimbayes::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slimbayes::kernels {
void fill_adamw(int64_t target, Kernels& table) { SLIMBAYES_FILL(FillAdamW, target, table); }
}  // namespace slimbayes::kernels
#endif
