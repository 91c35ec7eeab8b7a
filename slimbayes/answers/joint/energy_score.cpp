#include "slimbayes/answers/joint/energy_score.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/core/threads.h"

namespace slimbayes {

namespace {

/// The draws of one row: for each known coordinate the numbers of all draws.
class RowDraws {
 public:
  /// `draws` [k, S] and `y` [k] of the row.
  RowDraws(const double* draws, const double* y, int64_t k, int64_t size) : size_(size), square_(size) {
    for (int64_t j = 0; j < k; ++j) {
      if (std::isnan(y[j])) continue;
      coordinate_.push_back(draws + j * size);
      target_.push_back(y[j]);
    }
    point_.resize(target_.size());
  }

  double score() {
    const double near = distances(target_, 0);
    double between = 0;
    for (int64_t s = 0; s + 1 < size_; ++s) {
      for (size_t j = 0; j < point_.size(); ++j) point_[j] = coordinate_[j][s];
      between += distances(point_, s + 1);
    }
    const auto size = static_cast<double>(size_);
    return near / size - between / (size * (size - 1));  // each pair s < t stands for two
  }

 private:
  /// Returns the sum of the distances of the draws `first`, first + 1, ... from a point.
  double distances(const std::vector<double>& point, int64_t first) {
    double* square = square_.data();
    std::fill(square + first, square + size_, 0.0);
    for (size_t j = 0; j < point.size(); ++j) {
      const double* x = coordinate_[j];
      const double at = point[j];
      for (int64_t s = first; s < size_; ++s) square[s] += (x[s] - at) * (x[s] - at);
    }
    double sum = 0;
    for (int64_t s = first; s < size_; ++s) sum += std::sqrt(square[s]);
    return sum;
  }

  int64_t size_;
  std::vector<double> square_, target_, point_;
  std::vector<const double*> coordinate_;
};

}  // namespace

at::Tensor energy_row_score(const at::Tensor& draws, const at::Tensor& y) {
  constexpr const char* kFunction = "energy_row_score";
  constexpr int64_t kRows = 16;  // of a task of a thread
  check_shape(draws, {-1, -1, -1}, kFunction, "draws");
  const int64_t size = draws.size(0), n = draws.size(1), k = draws.size(2);
  check_shape(y, {n, k}, kFunction, "y");
  if (size < 2) refuse(kFunction, "at least two draws", std::to_string(size));
  check_finite(draws, kFunction, "draws");
  check(!y.isinf().any().item<bool>(), kFunction, "finite targets, or NaN for unknown ones", "infinite ones");
  check(y.isnan().logical_not().any(1).all().item<bool>(), kFunction, "a known target in every row",
        "rows without one", "leave them out");
  const at::Tensor target = y.to(at::kDouble).contiguous();
  at::Tensor out = at::empty({n}, at::kDouble);
  double* to = out.mutable_data_ptr<double>();
  const double* of = target.const_data_ptr<double>();
  over_range(n, kRows, [&](int64_t begin, int64_t end) {
    const at::Tensor block =
        draws.narrow(1, begin, end - begin).permute({1, 2, 0}).to(at::kDouble).contiguous();
    const double* x = block.const_data_ptr<double>();
    for (int64_t row = begin; row < end; ++row)
      to[row] = RowDraws(x + (row - begin) * k * size, of + row * k, k, size).score();
  });
  return out;
}

}  // namespace slimbayes
