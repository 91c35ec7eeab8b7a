#include "slimbayes/engine/fourier_features.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/engine/row_model.h"

namespace slimbayes::engine {

using kernels::padded;

namespace {

class FourierFeatures : public Features {
 public:
  FourierFeatures(std::shared_ptr<const Features> of, const FourierValues& values)
      : of_(std::move(of)),
        rank_(std::ssize(values.bias)),
        amplitude_(std::exp(static_cast<double>(values.log_amplitude)) *
                   std::sqrt(2 / static_cast<double>(rank_))),
        bias_(values.bias.begin(), values.bias.end()) {
    // One column of W after another: the sum over g then runs along the features.
    const int64_t h = of_->rank();
    weight_.resize(values.weight.size());
    for (int64_t j = 0; j < rank_; ++j)
      for (int64_t i = 0; i < h; ++i)
        weight_[static_cast<size_t>(i * rank_ + j)] = values.weight[static_cast<size_t>(j * h + i)];
  }

  int64_t inputs() const override { return of_->inputs(); }
  int64_t rank() const override { return rank_; }
  int64_t scratch() const override { return padded(of_->scratch()) + kChunkRows * padded(rank_); }

  Rows run(const double* x, int64_t rows, double* scratch) const override {
    const Rows g = of_->run(x, rows, part_of(scratch, of_->scratch()));
    const int64_t h = of_->rank(), ld = padded(rank_);
    for (int64_t i = 0; i < rows; ++i) {
      double* phi = scratch + i * ld;
      std::ranges::copy(bias_, phi);
      for (int64_t k = 0; k < h; ++k) {
        const double by = g.phi[i * padded(h) + k];
        const double* column = weight_.data() + k * rank_;
        for (int64_t j = 0; j < rank_; ++j) phi[j] += by * column[j];
      }
      for (int64_t j = 0; j < rank_; ++j) phi[j] = amplitude_ * std::cos(phi[j]);
      std::fill(phi + rank_, phi + ld, 0.0);
    }
    return {scratch, nullptr};
  }

 private:
  std::shared_ptr<const Features> of_;
  int64_t rank_;
  double amplitude_;
  std::vector<double> bias_, weight_;  // [r], [h, r]
};

}  // namespace

std::shared_ptr<const Features> fourier_features(std::shared_ptr<const Features> of,
                                                 const FourierValues& values) {
  return std::make_shared<FourierFeatures>(std::move(of), values);
}

}  // namespace slimbayes::engine
