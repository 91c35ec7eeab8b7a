#include "slimbayes/engine/inducing_features.h"

#include <utility>

#include "slimbayes/kernels/kernels.h"

namespace slimbayes::engine {

using kernels::padded;

namespace {

class InducingFeatures : public Features {
 public:
  InducingFeatures(std::shared_ptr<const Features> of, int64_t rank)
      : of_(std::move(of)), rank_(rank), points_(of_->rank(), rank, kernels::kernels()) {}

  bool prepare(const InducingValues<const float>& values) { return points_.prepare(values); }

  int64_t inputs() const override { return of_->inputs(); }
  int64_t rank() const override { return rank_; }
  int64_t scratch() const override { return padded(of_->scratch()) + padded(points_.feature_doubles()); }

  Rows run(const double* x, int64_t rows, double* scratch) const override {
    const Rows g = of_->run(x, rows, part_of(scratch, of_->scratch()));
    return {points_.features(g.phi, rows, scratch), nullptr};
  }

 private:
  std::shared_ptr<const Features> of_;
  int64_t rank_;  // r
  InducingPoints points_;
};

}  // namespace

std::shared_ptr<const Features> inducing_features(std::shared_ptr<const Features> of, int64_t rank,
                                                  const InducingValues<const float>& values) {
  auto features = std::make_shared<InducingFeatures>(std::move(of), rank);
  return features->prepare(values) ? features : nullptr;
}

}  // namespace slimbayes::engine
