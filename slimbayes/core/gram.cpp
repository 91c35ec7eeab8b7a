#include "slimbayes/core/gram.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "slimbayes/core/threads.h"
#include "slimbayes/kernels/kernels.h"

namespace slimbayes {

namespace {

using kernels::padded;

constexpr int64_t kChunk = 64;         // rows whose product is taken at once: they fit the second cache
constexpr int64_t kPartRows = 2048;    // the least rows of a part
constexpr int64_t kMostParts = 16;     // each has an [r, r] sum of its own
constexpr int64_t kMostColumns = 512;  // beyond, a chunk leaves the cache and the library's product is faster

/// Adds the lower triangle of Phi^T Phi of these rows to `sum` [r, padded(r)].
void add_lower(const kernels::Kernels& kernels, const double* phi, int64_t rows, int64_t r, double* sum) {
  const int64_t ld = padded(r);
  std::vector<double> copy(r == ld ? 0 : static_cast<size_t>(kChunk * ld));
  for (int64_t first = 0; first < rows; first += kChunk) {
    const int64_t count = std::min(kChunk, rows - first);
    const double* chunk = phi + first * r;
    if (r != ld) {  // a kernel reads whole groups of columns
      for (int64_t i = 0; i < count; ++i) std::copy_n(chunk + i * r, r, copy.data() + i * ld);
      chunk = copy.data();
    }
    kernels.transposed_product64({.m = count,
                                  .k = r,
                                  .n = r,
                                  .a = chunk,
                                  .lda = ld,
                                  .b = chunk,
                                  .ldb = ld,
                                  .c = sum,
                                  .ldc = ld,
                                  .triangle = kernels::Triangle::lower});
  }
}

}  // namespace

void add_gram(const at::Tensor& s, const at::Tensor& phi, double sign) {
  const int64_t rows = phi.size(0), r = phi.size(1);
  if (kernels::all_kernels().empty() || r > kMostColumns) {
    s.addmm_(phi.t(), phi, 1, sign);
    return;
  }
  if (rows == 0 || r == 0) return;
  const kernels::Kernels& kernels = kernels::kernels();
  const at::Tensor in = phi.contiguous();
  const int64_t ld = padded(r), each = std::max(kPartRows, (rows + kMostParts - 1) / kMostParts),
                parts = (rows + each - 1) / each;
  at::Tensor sums = at::zeros({parts, r, ld}, at::kDouble);
  double* const sum = sums.data_ptr<double>();
  const double* const from = in.const_data_ptr<double>();
  on_library_threads(parts, [&](int64_t part) {
    const int64_t first = part * each;
    add_lower(kernels, from + first * r, std::min(each, rows - first), r, sum + part * r * ld);
  });
  double* const out = s.data_ptr<double>();
  for (int64_t i = 0; i < r; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double total = 0;
      for (int64_t part = 0; part < parts; ++part) total += sum[(part * r + i) * ld + j];
      const double value = out[i * r + j] + sign * total;
      out[i * r + j] = out[j * r + i] = value;
    }
  }
}

}  // namespace slimbayes
