// Matrix products in float64, as products.cpp has them in float32: a tile of the result stays in registers
// while the summed index runs.
#include "slimbayes/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "slimbayes/kernels/exact_products.cpp"
#include <algorithm>
#include <array>
#include <utility>

#include "hwy/foreach_target.h"
#include "slimbayes/kernels/exact-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr int kWideExact = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 4 : 2;
constexpr int kTallExact = 6;

template <int Rows, int Wide>
struct ExactTile {
  std::array<Vec64, static_cast<size_t>(Rows) * Wide> sum;
  static constexpr auto kAll = std::make_index_sequence<static_cast<size_t>(Rows) * Wide>();
  static constexpr auto kRows = std::make_index_sequence<Rows>();
  static constexpr auto kColumns = std::make_index_sequence<Wide>();

  template <size_t... I>
  HWY_INLINE void clear(std::index_sequence<I...>) {
    ((sum[I] = hn::Zero(kTag64)), ...);
  }
  template <size_t... J>
  HWY_INLINE void start(const double* bias, std::index_sequence<J...>) {
    const std::array<Vec64, Wide> b = {Load64(bias + static_cast<int64_t>(J) * kLanes64)...};
    repeat(b, kAll);
  }
  template <size_t... I>
  HWY_INLINE void repeat(const std::array<Vec64, Wide>& b, std::index_sequence<I...>) {
    ((sum[I] = b[I % Wide]), ...);
  }
  template <size_t... I, size_t... J>
  HWY_INLINE void add(const double* a, int64_t step, const double* b, std::index_sequence<I...>,
                      std::index_sequence<J...> columns) {
    const std::array<Vec64, Wide> row = {Load64(b + static_cast<int64_t>(J) * kLanes64)...};
    ((add_row<I>(All64(a[static_cast<int64_t>(I) * step]), row, columns)), ...);
  }
  template <size_t I, size_t... J>
  HWY_INLINE void add_row(Vec64 a, const std::array<Vec64, Wide>& row, std::index_sequence<J...>) {
    ((sum[I * Wide + J] = hn::MulAdd(a, row[J], sum[I * Wide + J])), ...);
  }
  /// Calls f(row, column, sum) for every register of the tile at (i, j).
  template <class F, size_t... I>
  HWY_INLINE void each(F f, int64_t i, int64_t j, std::index_sequence<I...>) const {
    (f(i + static_cast<int64_t>(I / Wide), j + static_cast<int64_t>(I % Wide) * kLanes64, sum[I]), ...);
  }
};

/// Calls f(row, column, sum) for every register of the tile at (i, j).
template <int Rows, int Wide, class F>
HWY_INLINE void tile_at(const Product64& p, int64_t i, int64_t j, int64_t from, int64_t to, F f) {
  using Tile = ExactTile<Rows, Wide>;
  Tile tile;
  if (p.bias != nullptr)
    tile.start(p.bias + j, Tile::kColumns);
  else
    tile.clear(Tile::kAll);
  const double *a = p.a + i * p.lda, *b = p.b + from * p.ldb + j;
  for (int64_t k = from; k < to; ++k, b += p.ldb) tile.add(a + k, p.lda, b, Tile::kRows, Tile::kColumns);
  tile.each(f, i, j, Tile::kAll);
}

template <int Wide, class F>
void columns_at(const Product64& p, int64_t j, F f) {
  const int64_t width = Wide * kLanes64;
  const int64_t from = p.triangle == Triangle::lower ? std::min(j, p.k) : 0,
                to = p.triangle == Triangle::upper ? std::min(j + width, p.k) : p.k;
  int64_t i = 0;
  if constexpr (Wide <= kWideExact) {
    for (; i + kTallExact <= p.m; i += kTallExact) tile_at<kTallExact, Wide>(p, i, j, from, to, f);
    for (; i + 4 <= p.m; i += 4) tile_at<4, Wide>(p, i, j, from, to, f);
    for (; i + 2 <= p.m; i += 2) tile_at<2, Wide>(p, i, j, from, to, f);
  }
  if (i < p.m) tile_at<1, Wide>(p, i, j, from, to, f);
}

/// Calls f(row, column, sum) for every register of the product.
template <class F>
void over_product(const Product64& p, F f) {
  const int64_t n = padded(p.n);
  int64_t j = 0;
  if (p.m == 1)  // eight sums at a time hide the latency of an addition
    for (; j + 8 * kLanes64 <= n; j += 8 * kLanes64) columns_at<8>(p, j, f);
  for (; j + kWideExact * kLanes64 <= n; j += kWideExact * kLanes64) columns_at<kWideExact>(p, j, f);
  if constexpr (kWideExact > 2)
    for (; j + 2 * kLanes64 <= n; j += 2 * kLanes64) columns_at<2>(p, j, f);
  for (; j < n; j += kLanes64) columns_at<1>(p, j, f);
}

// Functions of a register and its place; as objects, since a lambda that is not inlined would keep the sums
// in memory.
struct StoreProduct {
  double* c;
  int64_t ldc;
  HWY_INLINE void operator()(int64_t i, int64_t j, Vec64 sum) const { Store64(sum, c + i * ldc + j); }
};
struct AddSquare {
  double* sums;  // 16 partial sums of each row
  HWY_INLINE void operator()(int64_t i, int64_t j, Vec64 sum) const {
    double* part = sums + i * kPad + j % kPad;
    Store64(hn::MulAdd(sum, sum, Load64(part)), part);
  }
};

void MultiplyExact(const Product64& p) { over_product(p, StoreProduct{p.c, p.ldc}); }

void ProductSquares(const Product64& whole, double* squares) {
  constexpr int64_t kMost = 64;  // rows at a time, whose 16 partial sums each are kept
  for (int64_t first = 0; first < whole.m; first += kMost) {
    Product64 p = whole;
    p.m = std::min(kMost, whole.m - first);
    p.a += first * p.lda;
    alignas(64) std::array<double, kMost * kPad> sums;
    std::fill_n(sums.begin(), p.m * kPad, 0.0);
    over_product(p, AddSquare{sums.data()});
    for (int64_t i = 0; i < p.m; ++i) squares[first + i] = TotalOf16(sums.data() + i * kPad);
  }
}

void GaussianKernel(const Product64& p, double scale) {
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
          const Vec64 d = hn::Sub(x, Load64(b + static_cast<int64_t>(v) * kLanes64));
          sum[v] = hn::MulAdd(d, d, sum[v]);
        }
      }
      for (size_t v = 0; v < sum.size(); ++v)
        Store64(hn::Mul(factor, Exp64(hn::Mul(half, sum[v]))),
                p.c + i * p.ldc + j + static_cast<int64_t>(v) * kLanes64);
    }
  }
}

}  // namespace

void FillExactProducts(ExactKernels& table) {
  table.product = MultiplyExact;
  table.product_squares = ProductSquares;
  table.gaussian_kernel = GaussianKernel;
}

}  // namespace HWY_NAMESPACE
}  // namespace slimbayes::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slimbayes::kernels {
void fill_exact_products(int64_t target, ExactKernels& table) {
  SLIMBAYES_FILL_OF(FillExactProducts, ExactKernels, target, table);
}
}  // namespace slimbayes::kernels
#endif
