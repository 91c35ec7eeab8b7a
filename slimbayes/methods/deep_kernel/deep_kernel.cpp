#include "slimbayes/methods/deep_kernel/deep_kernel.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/row_answers.h"
#include "slimbayes/methods/deep_kernel/deep_kernel_model.h"
#include "slimbayes/methods/deep_kernel/deep_kernel_training.h"
#include "slimbayes/nn/weights.h"

namespace slimbayes {

namespace {

constexpr const char* kLargest = "largest_prior_var";  // in the model file: M, the largest ||phi||^2 (E-12)
constexpr const char* kDrawSeed = "draw_seed";         // in the model file: seed of the softmax draws

/// Returns a lookup for prediction on this device: the network and the expansion in float32, as they were
/// trained, the head in float64.
Network::Lookup for_prediction(const Weights& weights, at::Device device = at::kCPU) {
  return [as_trained = as_type(weights, at::dtype(at::kFloat).device(device)),
          exact = as_type(weights, at::dtype(at::kDouble).device(device))](const std::string& name) {
    const bool features = name.starts_with("network.") || name.starts_with("basis.");
    return features ? as_trained(name) : exact(name);
  };
}

class DeepKernelFitted : public Fitted {
 public:
  DeepKernelFitted(DeepKernel kernel, NetworkFile net, int64_t draw_seed)
      : kernel_(std::move(kernel)),
        net_(std::move(net)),
        draw_seed_(draw_seed),
        model_(kernel_, net_.spec, net_.head.likelihood, net_.head.outputs, for_prediction(net_.weights)),
        factor_(model_.posterior.factor()),
        likelihood_(likelihood_of(net_.head.likelihood, model_, {Stream(static_cast<uint64_t>(draw_seed))})) {
    if (model_.correction == DeepKernel::Correction::largest) {
      largest_ = as_type(net_.weights, at::kDouble)(kLargest);
      check_shape(largest_, {}, kernel_.method.c_str(), kLargest);
    }
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    const bool on_host = options.device.is_cpu();
    if (const auto rows = on_host ? row_model() : nullptr; rows && are_rows(data))
      return predict_by_rows(*rows, data, net_.spec.input, at::kFloat, options, kernel_.method);
    std::optional<FeatureMap> moved;
    if (!on_host)
      moved.emplace(kernel_.basis, kernel_.rank, net_.spec, for_prediction(net_.weights, options.device),
                    kernel_.method);
    const FeatureMap& features = moved ? *moved : model_.features;
    const auto latent = [&](const Input& input) {
      const Expansion phi = features(input);
      return model_.latent({on_cpu(phi.features), on_cpu(phi.correction)}, largest_, factor_);
    };
    return predictive(likelihood_,
                      latent_rows(data, features.input(), at::kFloat, options, kernel_.method, latent));
  }

  TensorFile save() const override {
    TensorFile file = to_file(net_);
    file.metadata[kDrawSeed] = nlohmann::json(draw_seed_).dump();
    return file;
  }

  const Summary& summary() const override { return net_.summary; }

  std::optional<engine::RowSpec> row_spec() const override {
    at::NoGradGuard no_grad;
    if (net_.head.likelihood != LikelihoodKind::gaussian) return {};
    auto features = features_as_data();
    if (!features) return {};
    engine::LinearHead head = head_of(0);
    head.noise_var = model_.noise_var().item<double>();
    return engine::RowSpec{engine::LinearRows{std::move(*features), std::move(head)}};
  }

  std::optional<engine::AnswerSpec> answer_spec() const override {
    at::NoGradGuard no_grad;
    const TaskKind task = task_of(net_.head.likelihood);
    if (task == TaskKind::regression) return row_spec();
    const bool dispersed = fact_of(net_.head.likelihood) != nullptr;  // the engine knows Poisson counts alone
    auto features = task == TaskKind::events || dispersed ? std::nullopt : features_as_data();
    if (!features) return {};
    if (task == TaskKind::counts) return engine::RateSpec{{{{{std::move(*features), head_of(0)}}}}};
    engine::IndependentLogits logits{std::move(*features), {}, static_cast<uint64_t>(draw_seed_)};
    for (int64_t c = 0; c < factor_.size(0); ++c) logits.heads.push_back(head_of(c));
    return engine::ClassSpec{std::move(logits)};
  }

 private:
  std::optional<engine::FeatureSpec> features_as_data() const {
    return feature_spec(net_.spec, kernel_.basis, factor_.size(-1), as_type(net_.weights, at::kFloat),
                        at::kFloat, engine::FeaturesOf::outputs);
  }

  /// The head of latent function c, without noise.
  engine::LinearHead head_of(int64_t c) const {
    engine::LinearHead head;
    head.constant = model_.offset[c].item<double>();
    head.weights = numbers_of(model_.posterior.mean[c]);
    head.root = numbers_of(factor_[c].t());
    if (largest_.defined()) head.largest = largest_.item<double>();
    if (model_.correction == DeepKernel::Correction::kernel) head.prior_var = model_.features.kernel_var();
    return head;
  }

  DeepKernel kernel_;
  NetworkFile net_;  // weights in float32, as trained
  int64_t draw_seed_;
  DeepKernelModel model_;
  at::Tensor factor_;   // L [k, r, r] of q(w) = N(m, L L^T)
  at::Tensor largest_;  // M, scalar; undefined unless the correction is `largest`
  Likelihood likelihood_;
};

/// Returns notes on the options that have no effect under this likelihood.
std::vector<std::string> unused_options(const DeepKernel& kernel, LikelihoodKind likelihood) {
  if (task_of(likelihood) == TaskKind::regression) return {};
  std::vector<std::string> notes;
  if (kernel.objective.alpha > 0 || kernel.correction == DeepKernel::Correction::largest)
    notes.push_back(
        fmt::format("alpha and the diagonal correction belong to the Gaussian likelihood: not used with {}",
                    name_of(likelihood)));
  NoiseOptions usual = expected_noise();
  if (fact_of(likelihood) != nullptr) usual.noise_rate = kernel.noise.noise_rate;  // that of their parameter
  if (kernel.noise != usual)
    notes.push_back(fmt::format(
        "the options of the noise belong to the Gaussian likelihood: not used with {}", name_of(likelihood)));
  return notes;
}

class DeepKernelMethod : public Method {
 public:
  explicit DeepKernelMethod(DeepKernel kernel) : kernel_(std::move(kernel)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    const Dataset rows = training_rows(split.train, kernel_.method, context.device),
                  held_out = validation_rows(split.valid, rows, kernel_.method);
    const Task& task = rows.schema.task;
    NetworkSpec spec = kernel_.network(rows.schema.input, rows.schema.tokens);
    const Parameters parameters =
        deep_kernel_parameters(kernel_, spec, task.likelihood, constant_offsets(rows, context.ranks),
                               context.stream.split("start"), rows.device());
    const DeepKernelModel model(
        kernel_, spec, task.likelihood, task.outputs,
        [&](const std::string& name) { return parameters[name]; }, context.execution);
    const Stream draws = context.stream.split("draws");
    const DeepKernelFit fit{kernel_, rows, held_out, model, context.ranks, draws, rows.total_weight()};
    TrainProblem problem = deep_kernel_problem(fit, spec, parameters);
    problem.trained_by = model.by_engine() ? "engine" : "libtorch";
    Summary summary =
        train(problem, kernel_.training, context.stream.split("train"), context.callback, context.checkpoint);
    summary.valid_rows = split.valid.size();
    summary.jitter = model.features.jitter();
    for (std::string& note : unused_options(kernel_, task.likelihood))
      summary.notes.push_back(std::move(note));
    Weights weights = snapshot(parameters);
    if (model.correction == DeepKernel::Correction::largest) {
      const DeepKernelModel fitted(kernel_, spec, task.likelihood, task.outputs,
                                   for_prediction(weights, rows.device()));
      weights[kLargest] = on_cpu(fitted.largest_prior_var(rows, context.ranks));
    }
    // The seed is below 2^53, so that every JSON reader keeps it exactly.
    const auto draw_seed = static_cast<int64_t>(draws.split("predict").bits(0) >> 11);
    return std::make_unique<DeepKernelFitted>(
        kernel_,
        NetworkFile{kernel_.options, head_of(task), std::move(spec), std::move(weights), std::move(summary)},
        draw_seed);
  }

 private:
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
  NetworkFile net = network_file(file);
  const nlohmann::json seed = stored_json(file, kDrawSeed);
  if (!(seed.is_number_unsigned() && seed.get<uint64_t>() < uint64_t{1} << 53))
    refuse(kernel.method, std::string("a whole number below 2^53 in ") + kDrawSeed, seed.dump().substr(0, 40),
           "the model file is damaged");
  return std::make_unique<DeepKernelFitted>(std::move(kernel), std::move(net), seed.get<int64_t>());
}

RegistryRow deep_kernel_row(std::string_view name,
                            std::function<DeepKernel(const nlohmann::json& options)> of) {
  return {name, [of](const nlohmann::json& options) { return deep_kernel_method(of(options)); },
          [of](const TensorFile& file) { return load_deep_kernel(of(stored_json(file, "options")), file); }};
}

}  // namespace slimbayes
