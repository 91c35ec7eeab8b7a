// Sums of squares of a row: those of its product with a matrix, and those of its differences from other rows.
// What is squared is not stored.
#include "slimbayes/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "slimbayes/kernels/quadratic_forms.cpp"
#include <algorithm>
#include <array>

#include "hwy/foreach_target.h"
#include "slimbayes/kernels/doubles-inl.h"
#include "slimbayes/kernels/products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {
namespace {

struct AddSquare {
  double* sums;  // 16 partial sums of each row
  HWY_INLINE void operator()(int64_t i, int64_t j, Vec64 sum) const {
    double* part = sums + i * kPad + j % kPad;
    Store(hn::MulAdd(sum, sum, Load(part)), part);
  }
};

void ProductSquares64(const Product64& whole, double* squares) {
  constexpr int64_t kMost = 64;  // rows at a time, whose 16 partial sums each are kept
  for (int64_t first = 0; first < whole.m; first += kMost) {
    Product64 p = whole;
    p.m = std::min(kMost, whole.m - first);
    p.a += first * p.lda;
    alignas(64) std::array<double, kMost * kPad> sums;
    std::fill_n(sums.begin(), p.m * kPad, 0.0);
    OverProduct(p, AddSquare{sums.data()});
    for (int64_t i = 0; i < p.m; ++i) squares[first + i] = TotalOf16(sums.data() + i * kPad);
  }
}

void GaussianKernel64(const Product64& p, double scale) {
  const int64_t n = padded(p.n);
  const Vec64 half = All64(-0.5), factor = All64(scale);
  for (int64_t i = 0; i < p.m; ++i) {
    const double* a = p.a + i * p.lda;
    for (int64_t j = 0; j < n; j += kPad) {
      std::array<Vec64, kVecs64> sum;
      for (Vec64& one : sum) one = hn::Zero(kTag64);
      for (int64_t k = 0; k < p.k; ++k) {
        const Vec64 x = All64(a[k]);
        const double* b = p.b + k * p.ldb + j;
        for (size_t v = 0; v < sum.size(); ++v) {
          const Vec64 d = hn::Sub(x, Load(b + static_cast<int64_t>(v) * kLanes64));
          sum[v] = hn::MulAdd(d, d, sum[v]);
        }
      }
      for (size_t v = 0; v < sum.size(); ++v)
        Store(hn::Mul(factor, Exp64(hn::Mul(half, sum[v]))),
              p.c + i * p.ldc + j + static_cast<int64_t>(v) * kLanes64);
    }
  }
}

}  // namespace

void FillQuadraticForms(Kernels& table) {
  table.product_squares64 = ProductSquares64;
  table.gaussian_kernel64 = GaussianKernel64;
}

}  // namespace HWY_NAMESPACE
}  // namespace slimbayes::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slimbayes::kernels {
void fill_quadratic_forms(int64_t target, Kernels& table) {
  SLIMBAYES_FILL(FillQuadraticForms, target, table);
}
}  // namespace slimbayes::kernels
#endif
