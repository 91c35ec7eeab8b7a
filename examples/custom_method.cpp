// Shows how to write a method of your own outside the library: exact Bayesian linear regression on the
// inputs, by means of slimbayes/core. Compile with examples/CMakeLists.txt; run without arguments.
#include <ATen/ATen.h>
#include <slimbayes/slimbayes.h>

#include <cstdio>
#include <variant>

namespace sb = slimbayes;

// --- the method ---

/// The fitted model: y = c + <w, x> + noise with w ~ N(0, I). The posterior of w is Gaussian and exact.
class LinearFitted : public sb::Fitted {
 public:
  LinearFitted(sb::LinearPosterior posterior, sb::Summary summary)
      : posterior_(std::move(posterior)), summary_(std::move(summary)) {}

  sb::Predictive predict(const sb::Dataset& data, const sb::PredictOptions&) const override {
    const at::Tensor x = data.all().inputs.at(0).to(at::kDouble);  // [n, d]
    const at::Tensor mean = sb::mean(posterior_, x);
    return sb::Regression{mean, at::full_like(mean, posterior_.model.sigma2),
                          sb::epistemic_var(posterior_, x)};
  }
  sb::TensorFile save() const override { return {}; }  // store here what a loader needs
  const sb::Summary& summary() const override { return summary_; }

 private:
  sb::LinearPosterior posterior_;
  sb::Summary summary_;
};

class LinearMethod : public sb::Method {
 public:
  explicit LinearMethod(double noise_var) : noise_var_(noise_var) {}

  std::unique_ptr<sb::Fitted> fit(const sb::Split& split, const sb::FitContext&) const override {
    const sb::Batch rows = split.train.all();
    const at::Tensor x = rows.inputs.at(0).to(at::kDouble);
    const sb::LinearStatistics sums =
        sb::added(sb::linear_statistics(x.size(1)), {x, rows.target.to(at::kDouble), {}});
    sb::Summary summary;
    summary.rows = x.size(0);
    return std::make_unique<LinearFitted>(sb::linear_posterior(sums, {noise_var_, {}, /*fit_mean=*/true}),
                                          summary);
  }

 private:
  double noise_var_;
};

// --- its use ---

int main() {
  const sb::Stream stream(1);
  const at::Tensor x = stream.split("x").normal({400, 3}), noise = stream.split("noise").normal({400});
  const at::Tensor y = x.select(1, 0) - 2 * x.select(1, 2) + 0.5 + 0.3 * noise;
  const sb::Dataset all = sb::dataset_of({{}, {"a", "b", "c"}}, {{x}, y});
  const sb::Split split = {all.subset(at::arange(300)), {}};
  const auto fitted = LinearMethod(0.09).fit(split, {});

  const sb::Dataset test = all.subset(at::arange(300, 400));
  const auto p = std::get<sb::Regression>(fitted->predict(test, {}));
  const double nll = *sb::mean_nll(p, test.all().target);
  std::printf("100 test rows: NLL %.3f (of the truth %.3f), largest epistemic sd %.3f\n", nll, 0.215,
              p.epistemic_var.max().item<double>() > 0 ? p.epistemic_var.max().sqrt().item<double>() : 0);
  return nll < 0.4 ? 0 : 1;
}
