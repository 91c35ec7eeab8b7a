#include "slimbayes/methods/deep_kernel/exact_features.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "slimbayes/catalog/network/visit_layers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/engine/feature_spec.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/parameter_groups.h"
#include "slimbayes/objectives/exact_bound.h"

namespace slimbayes {

namespace {

constexpr const char* kFunction = "dbk-exact";

}  // namespace

ExactFeatures::ExactFeatures(const std::string& basis_name, const NoiseOptions& options,
                             const NetworkSpec& spec, const Network::Lookup& lookup, Execution execution)
    : map(basis_name, 0, spec, lookup, kFunction, execution),
      noise_theta(lookup("log_noise")),
      noise(options) {
  check(!spec.layers.empty(), kFunction, "a network", "none");
  check_shape(noise_theta, {}, kFunction, "log_noise");
  if (!map.by_engine()) return;
  plan = engine::feature_plan(basis_name, map.rank(), spec);
  if (plan) tensors = engine_tensors(*plan, lookup);
  if (tensors && !tensors->trained) tensors.reset();
}

double ExactFeatures::noise_var() const { return noise(noise_theta.item<double>()); }

Parameters exact_parameters(const ExactStart& start, const NetworkSpec& spec, const Stream& stream,
                            at::Device device) {
  std::vector<ParameterSpec> specs = feature_parameters(start.basis, start.rank, spec, stream);
  double noise_theta = NoiseVariance(start.noise).start(kFunction);
  specs.push_back({"log_noise", "noise", at::full({}, noise_theta, at::kDouble)});
  return Parameters(specs, at::dtype(at::kFloat).device(device));
}

std::vector<ParameterGroup> exact_groups(const Parameters& parameters, const TrainingOptions& training,
                                         const NoiseOptions& noise) {
  return parameter_groups(parameters, {{"network", {training.learning_rate, training.weight_decay}},
                                       {"head", {training.learning_rate}},
                                       {"noise", {noise.noise_rate}}});
}

Input ExactFeatures::input(const Batch& batch) const { return input_of(batch, noise_theta.scalar_type()); }

void check_exact_network(const NetworkSpec& spec, const std::string& method) {
  check(!has_layer<BatchNorm>(spec), method, "a network without batch norms", "one with them",
        "name another `.network`, or another `.method` such as dbk");
}

Batch chunk_of(const Dataset& rows, int64_t low, int64_t size) {
  return rows.rows(at::arange(low, std::min(low + size, rows.size())));
}

ExactTraining::ExactTraining(const ExactFeatures& model, const Dataset& rows, double alpha, int64_t chunk,
                             std::vector<ParameterBlock> blocks, const Collective* ranks)
    : model_(model),
      own_(rows_of_rank(rows, ranks)),
      alpha_(alpha),
      chunk_(chunk),
      last_((own_.rows.size() - 1) / chunk * chunk),
      scale_(-1 / rows.total_weight()),
      blocks_(std::move(blocks)) {
  if (last_ != 0) return;
  whole_ = chunk_of(own_.rows, 0, chunk);
  const Input input = model.input(whole_);
  if (!model.tensors || input.mask.defined() || input.x.scalar_type() != at::kFloat) return;
  if (whole_.weight.defined()) return;  // the engine's pass counts every row once
  x_ = input.x.contiguous();
  y_ = whole_.target.to(at::kDouble).contiguous();
  pass_.emplace(model.plan, kernels::kernels());
}

ExactTraining::Chunk ExactTraining::chunk_at(int64_t low) const {
  const Batch batch = last_ == 0 ? whole_ : chunk_of(own_.rows, low, chunk_);
  Expansion phi = model_(model_.input(batch));
  return {phi, {phi.features.detach().to(at::kDouble), batch.target.to(at::kDouble), {}, batch.weight}};
}

bool ExactTraining::is_current() const {
  if (!bound_ || kept_.empty()) return false;
  for (size_t i = 0; i < kept_.size(); ++i)
    if (!at::equal(kept_[i], blocks_[i].values)) return false;
  return true;
}

const ExactBound& ExactTraining::bound() {
  if (is_current()) return *bound_;
  kept_.clear();
  for (const ParameterBlock& each : blocks_) kept_.push_back(each.values.detach().clone());
  std::optional<ExactSums> own;
  on_all_ranks(own_.ranks, [&] { own = pass_ ? first_engine_pass() : first_pass(); });
  bound_ = exact_bound(joined(*own), model_.noise_var(), alpha_);
  return *bound_;
}

ExactSums ExactTraining::joined(const ExactSums& own) const {
  if (own_.ranks == nullptr) return own;
  const at::Tensor sums = at::tensor({own.correction, own.prior_var}, at::kDouble);
  own_.ranks->sum(sums);
  const at::Tensor largest = own_.ranks->gather(
      at::tensor({own.largest, static_cast<double>(own_.first + own.largest_row)}, at::kDouble));
  const int64_t owner = largest.select(1, 0).argmax().item<int64_t>();  // the first of equals
  return {summed(own.statistics, own_.ranks), sums[0].item<double>(), sums[1].item<double>(),
          largest[owner][0].item<double>(), static_cast<int64_t>(largest[owner][1].item<double>())};
}

/// Sums what the ranks have taken back through their rows. The gradient of the noise is 0 until now: it
/// follows from the sums that all ranks have.
void ExactTraining::sum_gradients() const {
  if (own_.ranks == nullptr) return;
  std::vector<at::Tensor> gradients;
  for (const ParameterBlock& each : blocks_) gradients.push_back(each.gradient);
  sum_over_ranks(gradients, own_.ranks);
}

ExactSums ExactTraining::first_pass() {
  ExactSums sums = exact_sums(model_.map.rank());
  for (int64_t low = 0; low <= last_; low += chunk_) {
    at::AutoGradMode graph(low == last_);  // the second pass begins with the last chunk, so its graph is kept
    Chunk chunk = chunk_at(low);
    const at::Tensor& correction = chunk.phi.correction;
    sums = added(sums, chunk.rows, correction.defined() ? correction.detach() : correction, low);
    if (low == last_) end_ = std::move(chunk);
  }
  return sums;
}

void ExactTraining::second_pass() {
  for (int64_t low = last_; low >= 0; low -= chunk_) {
    const Chunk chunk = low == last_ ? std::move(*end_) : chunk_at(low);
    const ExactRowGradient g = row_gradient(*bound_, chunk.rows, own_.first + low);
    const Expansion& phi = chunk.phi;
    const at::Tensor grad = (g.features * scale_).to(phi.features.scalar_type());
    at::Tensor grad_correction;
    if (phi.correction.defined())
      grad_correction = (g.correction * scale_).to(phi.correction.options()).expand_as(phi.correction);
    backward(phi, grad, grad_correction);
  }
}

ExactSums ExactTraining::first_engine_pass() {
  const int64_t r = model_.map.rank(), n = y_.size(0);
  const engine::FeatureSums sums = pass_->forward(model_.tensors->values, x_.const_data_ptr<float>(),
                                                  y_.const_data_ptr<double>(), n, alpha_ != 0);
  const auto tensor = [](const std::vector<double>& values, at::IntArrayRef shape) {
    const at::Tensor out = at::empty(shape, at::kDouble);
    std::ranges::copy(values, out.mutable_data_ptr<double>());
    return out;
  };
  LinearStatistics s = linear_statistics(r);
  s.S = tensor(sums.gram, {r, r});
  check_features(s.S);
  s.c = tensor(sums.with_y, {r});
  s.ones_phi = tensor(sums.with_ones, {r});
  s.yy = y_.dot(y_).item<double>();
  s.ones_y = y_.sum().item<double>();
  s.ones_ones = static_cast<double>(n);
  s.n = static_cast<double>(n);
  return {std::move(s), 0, sums.prior_var, sums.largest, sums.largest_row};
}

void ExactTraining::second_engine_pass() {
  const FeatureDerivative of = feature_derivative(*bound_);
  const at::Tensor S = (of.S * scale_).contiguous(), c = of.c * scale_, ones = c * -of.constant;
  const auto values = [](const at::Tensor& t) {
    return std::span(t.const_data_ptr<double>(), static_cast<size_t>(t.numel()));
  };
  const engine::FeatureGradient gradient{values(S), values(c), values(ones), scale_ * of.largest,
                                         bound_->largest_row - own_.first};
  pass_->backward(gradient, y_.const_data_ptr<double>(), model_.tensors->gradients);
}

double ExactTraining::step() {
  bound();
  pass_ ? second_engine_pass() : second_pass();
  sum_gradients();
  const double loss = scale_ * (bound_->evidence - bound_->penalty);
  const at::Tensor& theta = model_.noise_theta;
  const at::Tensor grad_variance = at::full({}, scale_ * bound_->grad_noise_var, theta.options());
  theta.grad().add_(model_.noise.gradient(theta, grad_variance));
  bound_.reset();  // the graph, or the tape, is used up
  return loss;
}

}  // namespace slimbayes
