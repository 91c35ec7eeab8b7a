#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/catalog/dbk_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/methods/dbk_model.h"
#include "slimbayes/methods/method.h"
#include "slimbayes/methods/network_file.h"
#include "slimbayes/methods/tabular.h"
#include "slimbayes/nn/weights.h"

// dbk: a deep basis kernel (N section 3).
//
// Model       f(x) = c + <w, phi(x)>, w ~ N(0, I), y = f + noise; phi = basis(backbone(x)) has r features, so
//             the kernel <phi(x), phi(x')> has rank r.
// Estimator   dPPGP (N-15): backbone, basis, q(w) = N(m, L L^T), c and the noise variance by mini-batches of
//             -log N(y; c + <m, phi>, ||L^T phi||^2 + noise) + alpha trace + beta / n KL.
// Cost        O(b (h^2 + r h + r^2)) a step, O(r^2) a predicted row, free of n.
// Deviations  noise = exp(theta) + floor with a rate of its own; rows weighted by their variance early on
//             (focus); the recipe of catalog/training_options.h.
// The objective calibrates the total variance: its parts are not aleatoric and epistemic (N section 3.2).

namespace slimbayes {

namespace {

constexpr const char* kName = "dbk";

class DbkFitted : public Fitted {
 public:
  DbkFitted(const DbkOptions& options, NetworkSpec spec, Weights weights, Summary summary)
      : options_(options),
        spec_(std::move(spec)),
        weights_(std::move(weights)),
        summary_(std::move(summary)),
        model_(options_, spec_, as_type(weights_, at::kDouble)),
        factor_(model_.posterior.factor()),
        noise_var_(model_.noise_var()) {}

  static std::unique_ptr<Fitted> load(const TensorFile& file) {
    NetworkFile net = network_file(file);
    return std::make_unique<DbkFitted>(options_from_json<DbkOptions>(net.options, kName), std::move(net.spec),
                                       std::move(net.weights), std::move(net.summary));
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    return predict_rows(data, spec_.front().in, options, kName, [this](const at::Tensor& x) {
      at::Tensor phi = model_.features(x);  // [b, r]
      at::Tensor epistemic = at::matmul(phi, factor_).square().sum(-1);
      return Regression{at::mv(phi, model_.posterior.mean) + model_.offset, noise_var_.expand_as(epistemic),
                        epistemic};
    });
  }

  TensorFile save() const override {
    return to_file(NetworkFile{options_to_json(options_), spec_, weights_, summary_});
  }

  const Summary& summary() const override { return summary_; }

 private:
  DbkOptions options_;
  NetworkSpec spec_;
  Weights weights_;  // float32, as trained
  Summary summary_;
  DbkModel model_;        // float64
  at::Tensor factor_;     // L [r, r]
  at::Tensor noise_var_;  // scalar
};

class DbkMethod : public Method {
 public:
  explicit DbkMethod(const DbkOptions& options) : options_(options) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    TabularRows rows = training_rows(split.train, at::kFloat, kName);
    TabularRows held_out = validation_rows(split.valid, rows, kName);
    NetworkSpec spec = tabular_resnet(rows.x.size(1), options_.backbone.hidden, options_.backbone.blocks);
    Parameters parameters = dbk_parameters(options_, spec, context.stream.split("start"));
    DbkModel model(options_, spec, [&](const std::string& name) { return parameters[name]; });
    TrainProblem problem = make_problem(parameters, model, rows, held_out);
    Summary summary = train(problem, options_.training, context.stream.split("train"), context.callback,
                            context.checkpoint);
    summary.valid_rows = split.valid.size();
    return std::make_unique<DbkFitted>(options_, std::move(spec), snapshot(parameters), std::move(summary));
  }

 private:
  /// Falls linearly from options.focus to 0, which is N-15 itself.
  double focus(const StepContext& at) const {
    double done = static_cast<double>(at.step) / static_cast<double>(at.steps);
    return options_.focus * std::max(0.0, 1 - done / std::max(options_.focus_until, 1e-9));
  }

  TrainProblem make_problem(const Parameters& parameters, const DbkModel& model, const TabularRows& rows,
                            const TabularRows& held_out) const {
    const TrainingOptions& t = options_.training;
    auto group = [&](const char* name, double rate, double decay) {
      return ParameterGroup{name, parameters.values(name), parameters.grads(name), rate, decay};
    };
    TrainProblem problem;
    problem.groups = {group("backbone", t.learning_rate, t.weight_decay), group("head", t.learning_rate, 0),
                      group("noise", options_.noise_rate, 0)};
    problem.rows = rows.x.size(0);
    problem.step = [&model, &rows, this](const at::Tensor& batch, const StepContext& at) {
      DppgpLoss loss = model.backward(rows.x.index_select(0, batch), rows.y.index_select(0, batch),
                                      rows.x.size(0), options_.alpha, options_.beta, focus(at));
      double total = loss.total.item<double>(), data = loss.data.item<double>();
      return LossTerms{total, data, total - data};
    };
    if (held_out.y.defined()) {
      problem.validate = [&model, &held_out] {
        return mean_over_rows(held_out, [&model](const at::Tensor& x, const at::Tensor& y) {
          return -GaussianLikelihood{model.noise_var()}.log_predictive(
              model.posterior.latent(model.features(x), model.offset), y);
        });
      };
    }
    return problem;
  }

  DbkOptions options_;
};

}  // namespace

std::unique_ptr<Method> make_dbk(const nlohmann::json& options) {
  return std::make_unique<DbkMethod>(options_from_json<DbkOptions>(options, kName));
}

std::unique_ptr<Fitted> load_dbk(const TensorFile& file) { return DbkFitted::load(file); }

}  // namespace slimbayes
