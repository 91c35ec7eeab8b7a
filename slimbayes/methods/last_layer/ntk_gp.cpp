#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include "slimbayes/answers/answers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/identity_plus.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/last_layer/last_layer_features.h"
#include "slimbayes/methods/last_layer/ntk_gp_options.h"
#include "slimbayes/methods/last_layer/posterior_choice.h"
#include "slimbayes/methods/last_layer/rows.h"
#include "slimbayes/nn/layers.h"
#include "slimbayes/ntk/gradient_kernel.h"

// ntk-gp: the Gaussian process with the tangent kernel of a trained network (Rich-BLL, section 2,
// docs/references.md; also called the linearised Laplace approximation).
//
// Model       f(x) has the mean network(x) and the variance k(x, x) - k_x^T (K + sigma2 I)^-1 k_x with k(x,
//             x') = s^2 <phi_p(x), phi_p(x')>, where phi_p is the gradient of the output with respect to all
//             p parameters, and K and k_x hold k at the training rows. A row of weight w has the noise
//             variance sigma2 / w: its row and column of K, and its number in k_x, are multiplied by sqrt(w).
// Estimator   Noise variance sigma2 and prior sd s as in bll; the posterior is dense, in float64.
// Cost        O(n^2 p + n^3) time and O(n^2) memory; the model file holds the training rows.
// When        On small tables. rich-bll approximates this method; use it to see how well.

namespace slimbayes {

namespace {

constexpr const char* kNtkGp = "ntk-gp";
constexpr int64_t kBatch = 512;  // rows of a prediction at once: a batch needs its [b, n] kernel in memory
constexpr const char *kInputs = "data.x", *kSigma2 = "noise_var", *kPriorSd = "prior_sd",
                     *kRowWeights = "data.weight";

/// The tangent kernel <phi_p(x), phi_p(x')> of a network with one output, in float64, without the factor s^2.
/// It is computed on a device, for rows of any device; results are on the CPU.
class TangentKernel {
 public:
  TangentKernel(const TrainedNetwork& network, at::Device device)
      : TangentKernel(network.spec, as_type(network.weights, at::dtype(at::kDouble).device(device)), device) {
  }

  at::Tensor output(const at::Tensor& x) const {  // [n]
    at::NoGradGuard no_grad;
    return on_cpu(last_(on_device(x, device_)).output.squeeze(-1));
  }
  at::Tensor operator()(const at::Tensor& of_a, const at::Tensor& of_b) const {  // [n, m]
    const at::Tensor a = on_device(of_a, device_), b = on_device(of_b, device_);
    return gradient_kernel(model_, rows(a), rows(b)) + on_cpu(features(a).mm(features(b).t()));
  }
  at::Tensor diagonal(const at::Tensor& of) const {  // [n]
    const at::Tensor x = on_device(of, device_);
    return gradient_norms(model_, rows(x)) + on_cpu(features(x).square().sum(1));
  }

 private:
  TangentKernel(const NetworkSpec& spec, const Network::Lookup& lookup, at::Device device)
      : model_(gradient_model(spec, "network", lookup, at::kDouble)),
        last_(spec, lookup, kNtkGp),
        device_(device) {}

  static GradientRows rows(const at::Tensor& x) {
    return {x.size(0), [x](int64_t from, int64_t to) { return Input(x.slice(0, from, to)); }};
  }
  at::Tensor features(const at::Tensor& x) const {
    at::NoGradGuard no_grad;
    return last_(x).features;
  }

  GradientModel model_;
  LastLayerFeatures last_;
  at::Device device_;
};

/// The training rows of the posterior.
struct NtkRows {
  at::Tensor x;            // [n, d] float64
  at::Tensor weight = {};  // w [n] float64; undefined if every row counts once

  /// Returns the kernel of the training rows with others [n, m], each row times the root of its weight.
  at::Tensor weighted_cross(const at::Tensor& cross) const {
    return weight.defined() ? cross * weight.sqrt().unsqueeze(1) : cross;
  }
  /// Returns the kernel of the training rows with each other [n, n], rows and columns times the roots.
  at::Tensor weighted_kernel(const at::Tensor& kernel) const {
    return weight.defined() ? kernel * at::outer(weight, weight).sqrt() : kernel;
  }
};

class NtkGpFitted : public Fitted {
 public:
  /// The kernel of the training rows is computed on `device`.
  NtkGpFitted(NtkGpOptions options, TrainedNetwork network, NtkRows rows, PosteriorChoice choice,
              Summary summary, at::Device device = at::kCPU)
      : options_(std::move(options)),
        trained_(std::make_shared<TrainedNetwork>(std::move(network))),
        rows_(std::move(rows)),
        choice_(std::move(choice)),
        summary_(std::move(summary)),
        kernel_(*trained_, at::kCPU) {
    const std::optional<TangentKernel> moved = kernel_on(device);
    const at::Tensor kernel = rows_.weighted_kernel((moved ? *moved : kernel_)(rows_.x, rows_.x));
    const double ratio = prior_var() / choice_.noise_var;
    precision_ = identity_plus(0.5 * (kernel + kernel.t()), ratio);
  }

  std::unique_ptr<Fitted> with_noise(double var) const override {
    if (!(var > choice_.noise_var)) return nullptr;
    PosteriorChoice raised = choice_;
    raised.noise_var = var;
    Summary summary = summary_;
    summary.facts.push_back(raised_noise_fact(var));
    return std::make_unique<NtkGpFitted>(options_, *trained_, rows_, std::move(raised), std::move(summary));
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    PredictOptions small = options.with_batch_at_most(kBatch);
    small.gradients = true;
    const std::optional<TangentKernel> moved = kernel_on(options.device);
    const TangentKernel& kernel = moved ? *moved : kernel_;
    return predict_rows(data, trained_->spec.input, at::kDouble, small, kNtkGp,
                        [&](const Input& input) { return answer(kernel, input.x); });
  }

  TensorFile save() const override {
    Weights all = trained_->weights;
    all[kInputs] = rows_.x.to(at::kFloat);
    if (rows_.weight.defined()) all[kRowWeights] = rows_.weight;
    all[kSigma2] = at::full({}, choice_.noise_var, at::kDouble);
    all[kPriorSd] = at::full({}, choice_.prior_sd, at::kDouble);
    return to_file(
        NetworkFile{options_to_json(options_), trained_->head, trained_->spec, std::move(all), summary_});
  }

  const Summary& summary() const override { return summary_; }
  std::shared_ptr<const TrainedNetwork> network() const override { return trained_; }

 private:
  double prior_var() const { return choice_.prior_sd * choice_.prior_sd; }

  /// Returns the kernel on another device than the CPU; nullopt for the CPU, where kernel_ is.
  std::optional<TangentKernel> kernel_on(at::Device device) const {
    std::optional<TangentKernel> moved;
    if (!device.is_cpu()) moved.emplace(*trained_, device);
    return moved;
  }

  Regression answer(const TangentKernel& kernel, const at::Tensor& x) const {
    const at::Tensor mean = kernel.output(x), noise = at::full_like(mean, choice_.noise_var);
    if (x.size(0) == 0) return {mean, noise, at::zeros_like(mean)};
    const at::Tensor prior = kernel.diagonal(x), cross = rows_.weighted_cross(kernel(rows_.x, x));
    if (!precision_.factor.defined()) return {mean, noise, wide_variance(prior, cross)};
    const double ratio = prior_var() / choice_.noise_var;
    const at::Tensor explained = ratio * solve_half(precision_, cross).square().sum(0);
    const RoundedVariance var = rounded_variance(prior - explained, prior);
    return {mean, noise, prior_var() * var.var, var.clipped};
  }

  /// Returns the epistemic variance under a prior that is wide compared with the noise. `prior` [b] is the
  /// kernel of each row with itself, `cross` [n, b] the kernel with the training rows. With the spectrum K =
  /// U Lambda U^T of the training kernel and a row's coordinates a_j^2 = (u_j^T k_x)^2 / lambda_j the
  /// variance is
  ///   s^2 (k(x, x) - sum_j a_j^2) + sum_j a_j^2 s^2 / (1 + s^2 lambda_j / sigma2),
  /// here with K, k_x and k without the factor s^2. The first term is the prior variance outside the training
  /// rows' span. It is set to 0 where it is within rounding error of 0. [b]
  at::Tensor wide_variance(const at::Tensor& prior, const at::Tensor& cross) const {
    const double var = prior_var(), ratio = var / choice_.noise_var;
    const at::Tensor h = precision_.values, lambda = (h - 1) / ratio;
    const at::Tensor inverse = at::where(h > 1, lambda.reciprocal(), at::zeros_like(h)).unsqueeze(1);
    const at::Tensor squares = precision_.vectors.t().mm(cross).square() * inverse;  // [n, b]
    const at::Tensor outside = prior - squares.sum(0);
    const double rounding = 16 * static_cast<double>(h.size(0)) * std::numeric_limits<double>::epsilon();
    const at::Tensor seen = (squares * (var / h).unsqueeze(1)).sum(0);
    return seen + var * at::where(outside > rounding * prior, outside, at::zeros_like(outside));
  }

  NtkGpOptions options_;
  std::shared_ptr<const TrainedNetwork> trained_;
  NtkRows rows_;
  PosteriorChoice choice_;
  Summary summary_;
  TangentKernel kernel_;    // on the CPU
  IdentityPlus precision_;  // of I + s^2 K / sigma2 [n, n], K without s^2
};

class NtkGpMethod : public Method {
 public:
  explicit NtkGpMethod(NtkGpOptions options) : options_(std::move(options)) {
    check_prior(options_.choice, kNtkGp);
  }

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    const Dataset given = training_rows(split.train, kNtkGp);
    const RowTensors rows = tensors_of(given, at::kFloat);
    const RowTensors held_out = tensors_of(validation_rows(split.valid, given, kNtkGp), at::kFloat);
    const int64_t n = rows.x.size(0);
    if (!(n <= options_.max_rows))
      refuse(kNtkGp, fmt::format("at most {} rows (max_rows)", options_.max_rows), std::to_string(n),
             "raise max_rows if time (n^3) and memory (n^2) permit, or use rich-bll");
    TrainedNetwork network = starting_network(options_.network, split, context, kNtkGp);
    Summary summary = network.summary;
    const NtkRows learned{rows.x.to(at::kDouble), rows.weight};
    const TangentKernel kernel(network, context.device);
    const PosteriorSpectrum spectrum =
        spectrum_of(kernel, network, learned, rows.y.to(at::kDouble), held_out);
    const double unit = split.train.schema.task.encoded_sd *
                        unit_prior_sd(spectrum.eigenvalues.sum().item<double>(), spectrum.n);
    const PosteriorChoice choice = chosen(
        spectrum, {network.head.noise_var, !context.start || context.valid_unseen}, options_.choice, unit);
    std::ranges::copy(choice.notes, std::back_inserter(summary.notes));
    summary.facts.push_back(
        fmt::format("prior sd of the weights: {:.3g}; noise sd of the scaled target: {:.3g}", choice.prior_sd,
                    std::sqrt(choice.noise_var)));
    return std::make_unique<NtkGpFitted>(options_, std::move(network), learned, choice, std::move(summary),
                                         context.device);
  }

 private:
  /// Returns the PosteriorSpectrum of a process with kernel K = U Lambda U^T at the training rows: Phi = U
  /// Lambda^1/2 takes the place of the last layer's features. K is that of the rows times the roots of their
  /// weights.
  static PosteriorSpectrum spectrum_of(const TangentKernel& kernel, const TrainedNetwork& network,
                                       const NtkRows& rows, const at::Tensor& y, const RowTensors& held_out) {
    const at::Tensor& x = rows.x;
    const auto [values, vectors] = slimbayes::spectrum(rows.weighted_kernel(kernel(x, x)));
    at::Tensor squares = (y - kernel.output(x)).square();
    if (rows.weight.defined()) squares = squares * rows.weight;
    const double n =
        rows.weight.defined() ? rows.weight.sum().item<double>() : static_cast<double>(x.size(0));
    PosteriorSpectrum out{values, squares.sum().item<double>(), n, weights_squared(network)};
    if (!held_out.y.defined()) return out;
    const at::Tensor v = held_out.x.to(at::kDouble);
    // Directions whose prior variance is 0 up to rounding explain no variance: their inverse counts as 0.
    const at::Tensor inverse =
        at::where(values > 1e-12 * values.max(), values.reciprocal(), at::zeros_like(values));
    at::Tensor cross = kernel(v, x);
    if (rows.weight.defined()) cross = cross * rows.weight.sqrt();
    out.features = cross.mm(vectors).square() * inverse;
    const at::Tensor prior = kernel.diagonal(v);
    out.extra = rounded_variance(prior - out.features.sum(1), prior).var;
    out.residual = held_out.y.to(at::kDouble) - kernel.output(v);
    out.weight = held_out.weight;
    return out;
  }

  /// Returns the squared norm of all parameters. The prior is over all of them, because the kernel is that of
  /// the gradient with respect to all of them.
  static double weights_squared(const TrainedNetwork& network) {
    double sum = 0;
    for (const auto& [name, value] : network.weights) {
      if (!is_buffer(name)) sum += value.to(at::kDouble).square().sum().item<double>();
    }
    return sum;
  }

  NtkGpOptions options_;
};

std::unique_ptr<Method> make_ntk_gp(const nlohmann::json& options) {
  return std::make_unique<NtkGpMethod>(options_from_json<NtkGpOptions>(options, kNtkGp));
}

std::unique_ptr<Fitted> load_ntk_gp(const TensorFile& file) {
  NetworkFile net = network_file(file);
  const Network::Lookup lookup = as_type(net.weights, at::kDouble);
  TrainedNetwork network{std::move(net.spec), {}, net.head, net.summary};
  const PosteriorChoice choice{stored_positive(lookup, kSigma2, kNtkGp),
                               stored_positive(lookup, kPriorSd, kNtkGp)};
  const at::Tensor x = lookup(kInputs);
  check_shape(x, {-1, network.spec.input.width()}, kNtkGp, kInputs);
  const auto options = options_from_json<NtkGpOptions>(net.options, kNtkGp);
  if (!(x.size(0) <= options.max_rows))
    refuse(kNtkGp, fmt::format("at most {} rows (max_rows)", options.max_rows), std::to_string(x.size(0)),
           "the model file is damaged");
  NtkRows rows{x};
  if (net.weights.contains(kRowWeights)) {
    rows.weight = lookup(kRowWeights);
    check_shape(rows.weight, {x.size(0)}, kNtkGp, kRowWeights);
    check_finite(rows.weight, kNtkGp, kRowWeights);
    check((rows.weight > 0).all().item<bool>(), kNtkGp, "weights of rows above 0", "others",
          "the model file is damaged");
  }
  network.weights = network_weights(net.weights);
  return std::make_unique<NtkGpFitted>(options, std::move(network), std::move(rows), choice,
                                       std::move(net.summary));
}

}  // namespace

RegistryRow ntk_gp_row() { return {"ntk-gp", make_ntk_gp, load_ntk_gp}; }

}  // namespace slimbayes
