#include "slimbayes/methods/deep_kernel.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/methods/deep_kernel_latent.h"
#include "slimbayes/methods/deep_kernel_model.h"
#include "slimbayes/methods/network_file.h"
#include "slimbayes/methods/tabular.h"
#include "slimbayes/nn/weights.h"

namespace slimbayes {

namespace {

using Correction = DeepKernel::Correction;

constexpr const char* kLargest = "largest_prior_var";  // M of E-12, in the model file

class DeepKernelFitted : public Fitted {
 public:
  DeepKernelFitted(DeepKernel kernel, NetworkSpec spec, Weights weights, Summary summary)
      : kernel_(std::move(kernel)),
        spec_(std::move(spec)),
        weights_(std::move(weights)),
        summary_(std::move(summary)),
        model_(kernel_, spec_, as_type(weights_, at::kDouble)),
        factor_(model_.posterior.factor()),
        noise_var_(model_.noise_var()) {
    if (kernel_.correction == Correction::largest) {
      largest_ = as_type(weights_, at::kDouble)(kLargest);
      check_shape(largest_, {}, kernel_.method.c_str(), kLargest);
    }
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    return predict_rows(data, model_.features.inputs(), options, kernel_.method, [this](const at::Tensor& x) {
      Expansion phi = model_.expansion(x);
      at::Tensor mean = at::mv(phi.features, model_.posterior.mean) + model_.offset;
      at::Tensor epistemic = at::matmul(phi.features, factor_).square().sum(-1);  // ||L^T phi||^2 [b]
      RoundedVariance correction = missing_prior_var(phi, largest_);
      return Regression{mean, noise_var_.expand_as(mean), epistemic + correction.var, correction.clipped};
    });
  }

  TensorFile save() const override {
    return to_file(NetworkFile{kernel_.options, spec_, weights_, summary_});
  }

  const Summary& summary() const override { return summary_; }

 private:
  DeepKernel kernel_;
  NetworkSpec spec_;
  Weights weights_;  // float32, as trained
  Summary summary_;
  DeepKernelModel model_;  // float64
  at::Tensor factor_;      // L [r, r]
  at::Tensor noise_var_;   // scalar
  at::Tensor largest_;     // M, scalar; undefined without the diagonal correction
};

class DeepKernelMethod : public Method {
 public:
  explicit DeepKernelMethod(DeepKernel kernel) : kernel_(std::move(kernel)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    if (split.train.schema.task.kind != "regression") return fit_latent(kernel_, split, context);
    TabularRows rows = training_rows(split.train, at::kFloat, kernel_.method);
    TabularRows held_out = validation_rows(split.valid, rows, kernel_.method);
    NetworkSpec spec = kernel_.network(rows.x.size(1));
    Parameters parameters =
        deep_kernel_parameters(kernel_, spec, rows.x.size(1), context.stream.split("start"));
    DeepKernelModel model(kernel_, spec, [&](const std::string& name) { return parameters[name]; });
    TrainProblem problem = make_problem(spec, parameters, model, rows, held_out);
    Summary summary =
        train(problem, kernel_.training, context.stream.split("train"), context.callback, context.checkpoint);
    summary.valid_rows = split.valid.size();
    summary.jitter = model.features.jitter();
    Weights weights = snapshot(parameters);
    if (kernel_.correction == Correction::largest) {
      DeepKernelModel fitted(kernel_, spec, as_type(weights, at::kDouble));
      weights[kLargest] = fitted.largest_prior_var(rows.x);
    }
    return std::make_unique<DeepKernelFitted>(kernel_, std::move(spec), std::move(weights),
                                              std::move(summary));
  }

 private:
  TrainProblem make_problem(const NetworkSpec& spec, const Parameters& parameters,
                            const DeepKernelModel& model, const TabularRows& rows,
                            const TabularRows& held_out) const {
    const TrainingOptions& t = kernel_.training;
    TrainProblem problem;
    auto add = [&](const char* name, double rate, double decay) {
      problem.groups.push_back({name, parameters.values(name), parameters.grads(name), rate, decay});
    };
    if (!spec.empty()) add("backbone", t.learning_rate, t.weight_decay);
    add("head", t.learning_rate, 0);
    add("noise", kernel_.noise.noise_rate, 0);
    problem.rows = rows.x.size(0);
    problem.step = [&model, &rows, this](const at::Tensor& batch, const StepContext& at) {
      VariationalLoss loss =
          model.backward(rows.x.index_select(0, batch), rows.y.index_select(0, batch), rows.x.size(0),
                         kernel_.objective, focus_at(kernel_.focus, at.step, at.steps));
      return loss.total.item<double>();
    };
    if (held_out.y.defined()) {
      problem.validate = [&model, &rows, &held_out] {
        at::Tensor largest = model.largest_prior_var(rows.x);
        return mean_over_rows(held_out, [&](const at::Tensor& x, const at::Tensor& y) {
          return -GaussianLikelihood{model.noise_var()}.log_predictive(model.latent(x, largest), y);
        });
      };
    }
    return problem;
  }

  DeepKernel kernel_;
};

}  // namespace

double focus_at(const FocusOptions& focus, int64_t step, int64_t steps) {
  double done = static_cast<double>(step) / static_cast<double>(steps);
  return done >= focus.focus_until ? 0 : focus.focus * (1 - done / focus.focus_until);
}

std::unique_ptr<Method> deep_kernel_method(DeepKernel kernel) {
  return std::make_unique<DeepKernelMethod>(std::move(kernel));
}

std::unique_ptr<Fitted> load_deep_kernel(DeepKernel kernel, const TensorFile& file) {
  if (is_latent(file)) return load_latent(kernel, file);
  NetworkFile net = network_file(file);
  return std::make_unique<DeepKernelFitted>(std::move(kernel), std::move(net.spec), std::move(net.weights),
                                            std::move(net.summary));
}

}  // namespace slimbayes
