// The deep kernels on classes, counts and events.
//
// Problem     y follows a likelihood without a conjugate prior, given k latent functions f_c(x) = offset_c + <w_c, phi(x)>.
// Estimator   the bound mean -E_q log p(y | f) + beta / n KL by mini-batches and automatic differentiation: Bernoulli by
//             quadrature, softmax by a few draws a row, Poisson in closed form; the parameters with the best validation
//             NLL are kept. A Cox process (E A.5) has events in place of rows: -mean + 1/n integral of exp(mean + var / 2)
//             over the domain [-1, 1]^d, which a step estimates by a point in each cell of a grid (at random places beyond
//             three coordinates): unbiased, and without fixed nodes between which an intensity could hide its mass.
//             Validation integrates adaptively, with training events for probes (core/cubature.h).
// Start       the offsets are the constant model's: log odds, log shares, log mean count, log n / 2^d.
// Cost        O(b k r^2) a step beside the network's.
// Deviations  the trace regulariser and the diagonal correction of sv-dbk hold for Gaussian noise (E-11 divides by its
//             variance; the bound of E A.5 has neither): unused here, and said so.

#include "slimbayes/methods/deep_kernel_latent.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/core/count_distribution.h"
#include "slimbayes/core/cubature.h"
#include "slimbayes/core/json_reader.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/methods/events.h"
#include "slimbayes/methods/latent_model.h"
#include "slimbayes/methods/network_file.h"
#include "slimbayes/methods/tabular.h"
#include "slimbayes/nn/weights.h"
#include "slimbayes/objectives/likelihood_bound.h"

namespace slimbayes {

namespace {

constexpr const char* kLikelihood = "likelihood";  // in the model file
constexpr int64_t kMostOutputs = int64_t{1} << 24;
constexpr int64_t kStepDraws = 8;                  // of a softmax, a row, a step
constexpr int64_t kValidationDraws = 64;
constexpr int64_t kMaxGridAxes = 3;
constexpr int64_t kRandomNodes = 2048;
constexpr Accuracy kSelection{1e-3, int64_t{1} << 14};  // of the integral that a checkpoint is chosen by
const std::string kCox = "cox";

/// Cells on an axis of the domain, in a step.
int64_t step_nodes(int64_t d) { return d == 1 ? 128 : d == 2 ? 20 : 8; }

double volume_of(int64_t d) { return std::pow(2.0, static_cast<double>(d)); }

/// The likelihood with this stream for its draws. Throws for one without rows of targets.
Likelihood likelihood_of(const std::string& name, const Stream& stream, int64_t draws, bool shared) {
  if (name == "bernoulli") return BernoulliLikelihood{};
  if (name == "softmax") return SoftmaxLikelihood{stream, draws, shared};
  check(name == "poisson", "likelihood", "bernoulli, softmax, poisson or cox", name.substr(0, 40));
  return PoissonLikelihood{};
}

class LatentFitted : public Fitted {
 public:
  LatentFitted(DeepKernel kernel, NetworkFile net, nlohmann::json likelihood)
      : kernel_(std::move(kernel)),
        net_(std::move(net)),
        likelihood_(std::move(likelihood)),
        name_(JsonReader(likelihood_, kLikelihood).text("name")),
        stream_(static_cast<uint64_t>(JsonReader(likelihood_, kLikelihood).count("seed", 0, INT64_MAX))),
        model_(kernel_, net_.spec, JsonReader(likelihood_, kLikelihood).count("outputs", 1, kMostOutputs),
               as_type(net_.weights, at::kDouble)) {
    if (name_ != kCox) likelihood_of(name_, Stream(0), 1, true);  // throws for an unknown one
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    Latent f = latent_rows(data, model_.features.inputs(), options, kernel_.method,
                           [this](const at::Tensor& x) { return model_.latent(x); });
    if (name_ == kCox) return Intensity{{f.mean.squeeze(1), f.epistemic_var.squeeze(1)}, f.zeroed};
    return slimbayes::predictive(likelihood_of(name_, stream_, SoftmaxLikelihood{stream_}.samples, true), f);
  }

  TensorFile save() const override {
    TensorFile file = to_file(net_);
    file.metadata[kLikelihood] = likelihood_.dump();
    return file;
  }

  const Summary& summary() const override { return net_.summary; }

 private:
  DeepKernel kernel_;
  NetworkFile net_;  // weights in float32, as trained
  nlohmann::json likelihood_;
  std::string name_;
  Stream stream_;      // of a softmax's draws
  LatentModel model_;  // float64
};

/// Throws for a target that its likelihood cannot have.
void check_targets(const Task& task, const TabularRows& rows, const std::string& method) {
  if (!rows.y.defined()) return;
  if (task.kind == "counts") check_counts(rows.y, method);
  if (task.kind == "classification") check_classes(rows.y, std::max<int64_t>(2, task.outputs), method);
}

/// The constant model's latent functions. [k] float64
at::Tensor constant_offsets(const Task& task, const TabularRows& rows) {
  int64_t n = rows.x.size(0);
  if (task.kind == "events")
    return at::full({1}, std::log(static_cast<double>(n) / volume_of(rows.x.size(1))), at::kDouble);
  at::Tensor y = rows.y.to(at::kDouble);
  if (task.kind == "counts") return at::log(y.mean().clamp_min(0.5 / static_cast<double>(n))).reshape({1});
  at::Tensor share =
      at::bincount(y.to(at::kLong), {}, std::max<int64_t>(2, task.outputs)).to(at::kDouble) + 0.5;
  at::Tensor log_share = at::log(share / share.sum());
  return task.outputs == 1 ? (log_share[1] - log_share[0]).reshape({1}) : log_share;
}

/// A uniform point in each cell of a grid over [-1, 1]^d, or points at random where a grid would be coarse: nodes [q, d],
/// and the volume that each stands for.
std::pair<at::Tensor, double> random_nodes(int64_t d, const Stream& stream) {
  if (d > kMaxGridAxes)
    return {2 * stream.uniform({kRandomNodes, d}, at::kFloat) - 1, volume_of(d) / kRandomNodes};
  int64_t q = step_nodes(d);
  double cell = 2.0 / static_cast<double>(q);
  at::Tensor corners =
      tensor_grid({at::arange(q, at::kDouble) * cell - 1, at::ones({q}, at::kDouble)}, d).nodes;
  at::Tensor nodes = corners + cell * stream.uniform(corners.sizes());
  return {nodes.to(at::kFloat), volume_of(d) / static_cast<double>(nodes.size(0))};
}

/// What training needs of one fit; it outlives the problem's closures.
struct LatentFit {
  const DeepKernel& kernel;
  const Task& task;
  TabularRows rows, held_out;
  const LatentModel& model;
  Stream draws;

  VariationalLoss rows_loss(const at::Tensor& batch, int64_t step) const {
    Likelihood likelihood = likelihood_of(
        task.likelihood, draws.split("step").split(static_cast<uint64_t>(step)), kStepDraws, false);
    Latent f = model.latent(rows.x.index_select(0, batch));
    return likelihood_bound(likelihood, f, rows.y.index_select(0, batch), model.posterior, rows.x.size(0),
                            kernel.objective.beta);
  }

  VariationalLoss events_loss(const at::Tensor& batch, int64_t step) const {
    auto [nodes, weight] =
        random_nodes(rows.x.size(1), draws.split("step").split(static_cast<uint64_t>(step)));
    int64_t b = batch.size(0), q = nodes.size(0);
    Latent f = model.latent(at::cat({rows.x.index_select(0, batch), nodes}));
    at::Tensor mean = f.mean.squeeze(1), var = f.epistemic_var.squeeze(1);
    return cox_bound(mean.narrow(0, 0, b), {mean.narrow(0, b, q), var.narrow(0, b, q)},
                     at::full({q}, weight, mean.options()), model.posterior, rows.x.size(0),
                     kernel.objective.beta);
  }

  double rows_score() const {
    Likelihood likelihood = likelihood_of(task.likelihood, draws.split("valid"), kValidationDraws, true);
    return mean_over_rows(held_out, [&](const at::Tensor& x, const at::Tensor& y) {
      return -log_predictive(likelihood, model.latent(x), y);
    });
  }

  /// The bound's data term an event, on other events.
  double events_score() const {
    at::NoGradGuard no_grad;
    auto intensity = [&](const at::Tensor& x) {
      Latent f = model.latent(x.to(at::kFloat));
      return expected_intensity({f.mean.squeeze(1), f.epistemic_var.squeeze(1)});
    };
    const double expected = integral(intensity, event_probes(rows.x), kSelection).value;
    double n = static_cast<double>(rows.x.size(0));
    return expected / n - model.latent(held_out.x).mean.mean(at::kDouble).item<double>();
  }
};

TrainProblem make_problem(const LatentFit& fit, const NetworkSpec& spec, const Parameters& parameters) {
  const TrainingOptions& t = fit.kernel.training;
  bool events = fit.task.kind == "events";
  TrainProblem problem;
  auto add = [&](const char* name, double decay) {
    problem.groups.push_back({name, parameters.values(name), parameters.grads(name), t.learning_rate, decay});
  };
  if (!spec.empty()) add("backbone", t.weight_decay);
  add("head", 0);
  problem.rows = fit.rows.x.size(0);
  problem.score = "validation NLL";
  problem.step = [&fit, events](const at::Tensor& batch, const StepContext& at) {
    VariationalLoss loss = events ? fit.events_loss(batch, at.step) : fit.rows_loss(batch, at.step);
    loss.total.backward();
    return loss.total.item<double>();
  };
  if (fit.held_out.x.defined())
    problem.validate = [&fit, events] { return events ? fit.events_score() : fit.rows_score(); };
  return problem;
}

}  // namespace

std::unique_ptr<Fitted> fit_latent(const DeepKernel& kernel, const Split& split, const FitContext& context) {
  const Task& task = split.train.schema.task;
  check_task(task, kernel.method);
  bool events = task.kind == "events";
  auto checked = [&](const Dataset& data) {
    return events ? tabular_rows({data.all.inputs, {}}, -1, at::kFloat, kernel.method)
                  : training_rows(data, at::kFloat, kernel.method);
  };
  TabularRows rows = checked(split.train), held_out;
  check(rows.x.size(0) > 0, kernel.method, "at least one training row", "an empty dataset");
  if (split.valid.size() > 0)
    held_out = events ? checked(split.valid) : validation_rows(split.valid, rows, kernel.method);

  check_targets(task, rows, kernel.method);
  check_targets(task, held_out, kernel.method);

  int64_t d = rows.x.size(1);
  NetworkSpec spec = kernel.network(d);
  Parameters parameters =
      latent_parameters(kernel, spec, d, constant_offsets(task, rows), context.stream.split("start"));
  LatentModel model(kernel, spec, task.outputs, [&](const std::string& name) { return parameters[name]; });
  Stream draws = context.stream.split("draws");
  LatentFit fit{kernel, task, std::move(rows), std::move(held_out), model, draws};
  TrainProblem problem = make_problem(fit, spec, parameters);
  Summary summary =
      train(problem, kernel.training, context.stream.split("train"), context.callback, context.checkpoint);
  summary.valid_rows = split.valid.size();
  summary.jitter = model.features.jitter();
  if (kernel.objective.alpha > 0 || kernel.correction == DeepKernel::Correction::largest) {
    summary.notes.push_back(
        fmt::format("alpha and the diagonal correction belong to the Gaussian likelihood: not used with {}",
                    task.likelihood));
  }
  if (kernel.noise != expected_noise()) {
    summary.notes.push_back(fmt::format(
        "the options of the noise belong to the Gaussian likelihood: not used with {}", task.likelihood));
  }
  // Below 2^53, so that JSON keeps it whatever reads it.
  nlohmann::json likelihood = {
      {"name", task.likelihood}, {"outputs", task.outputs}, {"seed", draws.split("predict").bits(0) >> 11}};
  NetworkFile net{kernel.options, std::move(spec), snapshot(parameters), std::move(summary)};
  return std::make_unique<LatentFitted>(kernel, std::move(net), std::move(likelihood));
}

bool is_latent(const TensorFile& file) { return file.metadata.contains(kLikelihood); }

std::unique_ptr<Fitted> load_latent(const DeepKernel& kernel, const TensorFile& file) {
  return std::make_unique<LatentFitted>(kernel, network_file(file), stored_json(file, kLikelihood));
}

}  // namespace slimbayes
