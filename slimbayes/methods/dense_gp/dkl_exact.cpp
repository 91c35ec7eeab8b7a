#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "slimbayes/answers/likelihood.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/noise_variance.h"
#include "slimbayes/data/device_source.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/notes.h"
#include "slimbayes/method/parameter_groups.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/row_answers.h"
#include "slimbayes/methods/dense_gp/dense_gp.h"
#include "slimbayes/methods/dense_gp/dkl_exact_options.h"
#include "slimbayes/methods/dense_gp/rows.h"
#include "slimbayes/nn/weights.h"

// dkl-exact: deep kernel learning without an approximation (Wilson et al. 2016; a baseline of papers N and E,
// docs/references.md).
//
// Model       f ~ GP(c, k~(g(x), g(x'))), y = f + noise; k~ is an ARD RBF kernel, g the network.
// Estimator   AdamW on the dense log evidence trains network, lengthscales, amplitude, noise and c. Each step
//             uses evidence_rows rows (on a small table all rows). The final posterior uses every training
//             row. A step on some of the rows takes them uniformly, whatever their weights, and reads the
//             weights: the evidence is no mean over rows, which rows drawn twice would estimate.
// Cost        O(e^3 + e h^2) per step of e rows with h hidden units. The posterior costs O(n^3) time and an
//             [n, n] matrix, at the end of the fit and whenever a model file is opened; hence the option
//             max_rows. O(n^2) per prediction.
// Deviations  The training recipe is dbk-exact's. The papers use conjugate gradients and a low-rank posterior
//             (LOVE); this code uses a Cholesky factorisation. The validation score uses a posterior from
//             evidence_rows evenly spaced rows.

namespace slimbayes {

namespace {

constexpr const char* kDklExact = "dkl-exact";

class DklExactFitted : public Fitted {
 public:
  /// `weights` holds the parameters, and also the training rows as "data.x" [n, d] and "data.y" [n], with
  /// their weights, if they have any, as kDenseWeights [n].
  DklExactFitted(DklExactOptions options, NetworkSpec spec, Weights weights, Summary summary)
      : options_(std::move(options)),
        spec_(std::move(spec)),
        weights_(std::move(weights)),
        summary_(std::move(summary)),
        network_(spec_, "network", as_type(weights_, at::kDouble)),
        posterior_(conditioned()) {
    summary_.jitter = posterior_.jitter();
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    const bool on_host = options.device.is_cpu();
    if (const auto rows = on_host ? row_model() : nullptr)
      return predict_by_rows(*rows, data, spec_.input, at::kDouble, options, kDklExact);
    std::optional<BoundNetwork> moved;
    if (!on_host)
      moved.emplace(spec_, "network", as_type(weights_, at::dtype(at::kDouble).device(options.device)));
    const BoundNetwork& network = moved ? *moved : network_;
    const PredictOptions small = options.with_batch_at_most(1024);  // a batch needs two [b, n] matrices
    return predict_rows(data, spec_.input, at::kDouble, small, kDklExact,
                        [&](const Input& x) { return posterior_(on_cpu(network(x))); });
  }

  TensorFile save() const override {
    return to_file(NetworkFile{options_to_json(options_), Head{}, spec_, weights_, summary_});
  }

  const Summary& summary() const override { return summary_; }

  std::optional<engine::RowSpec> row_spec() const override {
    auto features =
        feature_spec(spec_, "", 0, as_type(weights_, at::kDouble), at::kDouble, engine::FeaturesOf::outputs);
    if (!features) return {};
    return engine::RowSpec{posterior_.kernel_rows(std::move(*features))};
  }

 private:
  DensePosterior conditioned() const {
    at::NoGradGuard no_grad;
    Network::Lookup lookup = as_type(weights_, at::kDouble);
    at::Tensor x = lookup("data.x"), y = lookup("data.y"), theta = lookup("theta");
    check(!spec_.layers.empty(), kDklExact, "a network", "none");
    check_shape(x, {-1, spec_.input.width()}, kDklExact, "data.x");
    check_shape(y, {x.size(0)}, kDklExact, "data.y");
    check_shape(theta, {output(spec_).width() + 3}, kDklExact, "theta");
    at::Tensor of_rows;
    if (weights_.contains(kDenseWeights))
      of_rows = checked_weights(lookup(kDenseWeights), x.size(0), kDklExact);
    return {theta, network_(x), y, options_.noise.noise_floor, of_rows};
  }

  DklExactOptions options_;
  NetworkSpec spec_;
  Weights weights_;
  Summary summary_;
  BoundNetwork network_;  // float64
  DensePosterior posterior_;
};

class DklExactMethod : public Method {
 public:
  explicit DklExactMethod(DklExactOptions options) : options_(std::move(options)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    const Dataset given = training_rows(split.train, kDklExact, context.device),
                  held_out = validation_rows(split.valid, given, kDklExact);
    const RowTensors rows = tensors_of(split.train, at::kFloat);  // on the CPU, as the model keeps them
    int64_t n = rows.x.size(0);
    if (!(n <= options_.max_rows))
      refuse(kDklExact, fmt::format("at most {} rows (max_rows)", options_.max_rows), std::to_string(n),
             "raise max_rows if time (n^3) and memory (n^2) permit, or use dbk-exact");
    NetworkSpec spec = network_for(options_.network, split.train.schema.input);
    Parameters parameters = start(spec, context.stream.split("start"), given.device());
    BoundNetwork network(
        spec, "network", [&](const std::string& name) { return parameters[name]; }, context.execution);
    const at::Tensor& theta = parameters["theta"];
    double floor = options_.noise.noise_floor;

    TrainProblem problem = make_problem(parameters, n);
    problem.ranks = context.ranks;
    problem.score = score_name(split.train.schema.task, "NLL");
    problem.trained_by = network.by_engine() ? "engine" : "libtorch";
    problem.source =
        on_device(dataset_of(given.schema, Batch{{rows.x}, rows.y, {}, rows.weight}), given.device()).source;
    problem.step = [&](const Batch& batch, const StepContext&) {
      at::Tensor z = network(batch.inputs[0]);
      if (!at::isfinite(z.detach().sum()).item<bool>())
        throw NumericalError(
            "[dkl-exact] expected finite features; received others; lower the learning rate or look for "
            "extreme inputs");
      return dense_evidence_backward(theta, z, batch.target, floor, batch.weight);
    };
    if (held_out.size() > 0) {
      int64_t k = std::min(n, options_.evidence_rows);
      at::Tensor which = at::floor_divide(at::arange(k) * n, k);  // evenly spaced
      const RowTensors some = rows.subset(which).on(given.device());
      problem.validate = [&, some] {
        at::NoGradGuard no_grad;
        DensePosterior posterior(theta, network(some.x), some.y, floor, some.weight);
        return mean_over_rows(held_out, [&](const Input& x, const at::Tensor& y) {
          Regression p = posterior(network(x));
          return -GaussianLikelihood{p.aleatoric_var}.log_predictive({p.mean, p.epistemic_var},
                                                                     y.to(at::kDouble));
        });
      };
    }
    TrainingOptions training = options_.training;
    training.batch = std::min(n, options_.evidence_rows);
    Summary summary =
        train(problem, training, context.stream.split("train"), context.callback, context.checkpoint);
    summary.valid_rows = split.valid.size();
    if (summary.valid_rows == 0) summary.notes.emplace_back(evidence_overfits());
    if (training.batch < n)
      summary.notes.push_back(
          fmt::format("each step followed the evidence of about {} of {} rows (evidence_rows {})",
                      n / ((n + training.batch - 1) / training.batch), n, training.batch));
    Weights weights = snapshot(parameters);
    weights["data.x"] = rows.x;
    weights["data.y"] = rows.y;
    if (rows.weight.defined()) weights[kDenseWeights] = rows.weight;
    return std::make_unique<DklExactFitted>(options_, std::move(spec), std::move(weights),
                                            std::move(summary));
  }

 private:
  Parameters start(const NetworkSpec& spec, const Stream& stream, at::Device device) const {
    std::vector<ParameterSpec> specs =
        network_parameters(spec, "network", "network", stream.split("network"));
    double log_noise = NoiseVariance(options_.noise).start(kDklExact);
    specs.push_back({"theta", "kernel", dense_start(output(spec).width(), log_noise)});
    return Parameters(specs, at::dtype(at::kFloat).device(device));
  }

  TrainProblem make_problem(const Parameters& parameters, int64_t n) const {
    const TrainingOptions& t = options_.training;
    TrainProblem problem;
    problem.groups = parameter_groups(parameters, {{"network", {t.learning_rate, t.weight_decay}},
                                                   {"kernel", {options_.noise.noise_rate}}});
    problem.rows = n;
    return problem;
  }

  DklExactOptions options_;
};

std::unique_ptr<Method> make_dkl_exact(const nlohmann::json& options) {
  return std::make_unique<DklExactMethod>(options_from_json<DklExactOptions>(options, kDklExact));
}

std::unique_ptr<Fitted> load_dkl_exact(const TensorFile& file) {
  at::NoGradGuard no_grad;
  NetworkFile net = network_file(file);
  return std::make_unique<DklExactFitted>(options_from_json<DklExactOptions>(net.options, kDklExact),
                                          std::move(net.spec), std::move(net.weights),
                                          std::move(net.summary));
}

}  // namespace

RegistryRow dkl_exact_row() { return {"dkl-exact", make_dkl_exact, load_dkl_exact}; }

}  // namespace slimbayes
