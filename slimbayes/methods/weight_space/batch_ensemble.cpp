#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <set>

#include "slimbayes/answers/pixels.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/class_weights.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/network_problem.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/weight_space/batch_ensemble_options.h"
#include "slimbayes/methods/weight_space/rows.h"
#include "slimbayes/methods/weight_space/weight_draws.h"

// batch-ensemble: members that scale the rows and columns of one network (Wen, Tran and Ba 2020).
//
// Model       Member k has the matrices W_k = diag(s_k) W diag(r_k), its own biases and its own running
//             averages of batch norms; W, the other tensors of norms and the positions of tokens are shared.
//             The answer is the average over the members, whose disagreement is the epistemic part.
// Estimator   Each step divides its batch into one part for each member and follows the gradient of the mean
//             loss. A batch norm normalises a part by its own rows, and the member's averages are of its
//             parts alone: one average for all members would fit none of them. s and r start at random signs,
//             so that the members differ. For a regression, the noise variance is the value with the least
//             validation NLL (without validation rows, training NLL).
// Cost        A step costs one pass over the batch, as dnn's; an answer costs one pass for each member. A
//             matrix [out, in] adds (out + in) numbers a member.
// When        For most of an ensemble's accuracy in the memory of one network. The baseline of FiD-GP.

namespace slimbayes {

namespace {

constexpr const char* kBatchEnsemble = "batch-ensemble";

std::string scales_of_rows(const MapSite& site) { return site.name + ".members.s"; }
std::string scales_of_columns(const MapSite& site) { return site.name + ".members.r"; }
std::string members_of(const std::string& tensor) { return tensor + ".members"; }

/// Returns the names of the tensors of which each member has its own, each once: the biases of the matrices
/// and the running averages of batch norms.
std::set<std::string> own_names(const NetworkLayout& layout) {
  std::set<std::string> names;
  for (const MapSite& site : layout.sites)
    if (!site.bias.empty()) names.insert(site.bias);
  for (const TensorShape& one : layout.tensors)
    if (one.buffer) names.insert(one.name);
  return names;
}

/// Returns the parameters: those of the network, in which the tensors of own_names() are replaced by one for
/// each member, and the scales.
std::vector<ParameterSpec> member_parameters(const NetworkLayout& layout, int64_t members,
                                             const Stream& stream) {
  const std::set<std::string> own = own_names(layout);
  std::vector<ParameterSpec> all;
  for (ParameterSpec& one : network_parameters(layout, "network", stream)) {
    if (own.contains(one.name)) {
      one.name = members_of(one.name);
      one.start = one.start.unsqueeze(0).repeat({members, 1});
    }
    all.push_back(std::move(one));
  }
  const auto signs = [&](const std::string& name, int64_t size) {
    const at::Tensor u = stream.split("signs").split(name).uniform({members, size});
    all.push_back({name, "members", at::where(u < 0.5, -1.0, 1.0).to(at::kDouble)});
  };
  for (const MapSite& site : layout.sites) {
    signs(scales_of_rows(site), site.out);
    signs(scales_of_columns(site), site.in);
  }
  return all;
}

/// Returns the binding of member k.
Binding member_binding(const NetworkLayout& layout, const Binding::Lookup& lookup, int64_t k) {
  const std::set<std::string> own = own_names(layout);
  Binding binding = bound(layout, [&](const std::string& name) {
    return own.contains(name) ? lookup(members_of(name)).select(0, k) : lookup(name);
  });
  for (size_t i = 0; i < layout.sites.size(); ++i) {
    const MapSite& site = layout.sites[i];
    const ScaledMap scaled{dense(binding.maps[i]).reshape({site.out, site.in}),
                           lookup(scales_of_rows(site)).select(0, k),
                           lookup(scales_of_columns(site)).select(0, k)};
    binding.maps[i] = site.use == MapUse::dense ? LinearMap(DenseMap{dense(scaled)}) : LinearMap(scaled);
  }
  return binding;
}

/// Throws std::invalid_argument or DataError if a tensor of the members is absent or has another shape. Use
/// it for a model file.
void check_members(const NetworkLayout& layout, const Binding::Lookup& lookup, int64_t members) {
  const auto sized = [&](const std::string& name, int64_t size) {
    check_shape(lookup(name), {members, size}, kBatchEnsemble, name);
  };
  for (const MapSite& site : layout.sites) {
    sized(scales_of_rows(site), site.out);
    sized(scales_of_columns(site), site.in);
  }
  for (const std::string& own : own_names(layout))
    sized(members_of(own), layout.tensors[layout.tensor(own)].sizes[0]);
  for (int64_t k = 0; k < members; ++k) member_binding(layout, lookup, k);
}

/// Returns the members as draws of a network. `network` must outlive the result.
WeightDraws member_draws(const Network& network, const Shape& input, int64_t members,
                         const Binding::Lookup& lookup) {
  return {input, members, [&network, lookup](int64_t k) {
            at::NoGradGuard no_grad;
            return [&network, binding = member_binding(network.layout(), lookup, k)](const Input& rows) {
              return network(rows, binding);
            };
          }};
}

class BatchEnsembleFitted : public Fitted {
 public:
  BatchEnsembleFitted(BatchEnsembleOptions options, NetworkFile net)
      : options_(std::move(options)), net_(std::move(net)), network_(net_.spec, "network"), head_(net_.head) {
    if (head_.is_regression()) head_.noise_var = stored_noise(net_.weights, net_.head, kBatchEnsemble);
    check_members(network_.layout(), as_type(net_.weights, at::kFloat), options_.batch_members);
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    const Weights weights = placed(net_.weights, options.device);
    const WeightDraws draws =
        member_draws(network_, net_.spec.input, options_.batch_members, as_type(weights, at::kFloat));
    return predict_by_draws(draws, head_, data, options, kBatchEnsemble);
  }

  TensorFile save() const override { return to_file(net_); }
  const Summary& summary() const override { return net_.summary; }

 private:
  BatchEnsembleOptions options_;
  NetworkFile net_;
  Network network_;
  Head head_;  // with the noise of the members' average
};

/// One fit: the rows, the network, and the parameters of all members.
class BatchEnsembleFit {
 public:
  BatchEnsembleFit(const BatchEnsembleOptions& options, const Split& split, const FitContext& context)
      : options_(options),
        rows_(training_rows(split.train, kBatchEnsemble, context.device)),
        held_out_(validation_rows(split.valid, rows_, kBatchEnsemble)),
        class_weights_(class_weights(options.network.class_weights, rows_, kBatchEnsemble, context.ranks)),
        head_(head_of(rows_.schema.task)),
        spec_(trained_network_spec(options.network, rows_.schema)),
        network_(spec_, "network"),
        parameters_(
            member_parameters(network_.layout(), options.batch_members, context.stream.split("start")),
            at::dtype(at::kFloat).device(rows_.device())) {
    check_label_smoothing(options.network.label_smoothing, rows_.schema.task, kBatchEnsemble);
  }

  std::unique_ptr<Fitted> fitted(const FitContext& context) {
    const TrainingOptions& training = options_.network.training;
    TrainProblem problem = network_problem(
        parameters_,
        {{"network", {training.learning_rate, training.weight_decay}}, {"members", {training.learning_rate}}},
        rows_, training, context.ranks, head_.is_regression() ? "MSE" : "NLL");
    problem.step = [this](const Batch& batch, const StepContext& at) { return step(batch, at); };
    if (held_out_.size() > 0) problem.validate = [this] { return validation_score(); };
    Summary summary =
        train(problem, training, context.stream.split("train"), context.callback, context.checkpoint);
    summary.valid_rows = held_out_.size();
    Weights weights = snapshot(parameters_);
    if (head_.is_regression())
      store_noise(noise_of_draws(draws(), rows_of_noise(held_out_, rows_, context), kBatchEnsemble), weights);
    return std::make_unique<BatchEnsembleFitted>(
        options_,
        NetworkFile{options_to_json(options_), head_, spec_, std::move(weights), std::move(summary)});
  }

 private:
  Binding::Lookup lookup() const {
    return [this](const std::string& name) { return parameters_[name]; };
  }
  WeightDraws draws() const { return member_draws(network_, spec_.input, options_.batch_members, lookup()); }

  /// Divides the batch among P members. A part has at least two rows if it can, because a batch norm needs
  /// them. If P is below the number K of members, P of them take their turn, by chance. Part i takes the rows
  /// i, i + P, i + 2 P, ... of the batch.
  StepLoss step(const Batch& batch, const StepContext& at) const {
    const Input input = input_of(batch);
    const at::Tensor y = batch.target.to(at::kFloat);
    const int64_t b = y.size(0), members = options_.batch_members;
    const int64_t parts = std::clamp<int64_t>(b / 2, 1, members);
    const uint64_t first = parts < members ? at.stream.split("first").bits(0) : 0;
    const double smoothing = options_.network.label_smoothing;
    std::vector<at::Tensor> losses;
    for (int64_t i = 0; i < parts; ++i) {
      const auto k =
          static_cast<int64_t>((first + static_cast<uint64_t>(i)) % static_cast<uint64_t>(members));
      const auto part = [&](const at::Tensor& all) { return all.slice(0, i, b, parts); };
      const Input own{part(input.x), input.mask.defined() ? part(input.mask) : at::Tensor()};
      const at::Tensor output = network_(own, member_binding(network_.layout(), lookup(), k),
                                         {true, at.stream.split(static_cast<uint64_t>(k))});
      const Labelled rows = labelled(output, part(y));
      losses.push_back(weighted(head_.loss(rows.output, rows.y, smoothing), rows.y, class_weights_));
    }
    at::Tensor loss = mean_loss(at::cat(losses));
    loss.backward();
    return loss;
  }

  double validation_score() const {
    at::NoGradGuard no_grad;
    Head head = head_;
    if (head.is_regression()) head.noise_var = 1;
    const auto answer = [&](const Dataset& rows) {
      return predict_by_draws(draws(), head, rows, {}, kBatchEnsemble);
    };
    if (!head.is_regression()) return *nll_of_answers(held_out_, answer, on_cpu(class_weights_));
    const auto p = std::get<Regression>(answer(held_out_));
    return weighted_mean((p.mean - targets_of(held_out_).to(at::kDouble)).square(), held_out_.weights());
  }

  BatchEnsembleOptions options_;
  Dataset rows_, held_out_;
  at::Tensor class_weights_;  // [C]; undefined: every row counts once
  Head head_;
  NetworkSpec spec_;
  Network network_;
  Parameters parameters_;
};

class BatchEnsembleMethod : public Method {
 public:
  explicit BatchEnsembleMethod(BatchEnsembleOptions options) : options_(std::move(options)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    return BatchEnsembleFit(options_, split, context).fitted(context);
  }

 private:
  BatchEnsembleOptions options_;
};

std::unique_ptr<Method> make_batch_ensemble(const nlohmann::json& options) {
  return std::make_unique<BatchEnsembleMethod>(
      options_from_json<BatchEnsembleOptions>(options, kBatchEnsemble));
}

std::unique_ptr<Fitted> load_batch_ensemble(const TensorFile& file) {
  NetworkFile net = network_file(file);
  check_outputs(net.head, net.spec, kBatchEnsemble);
  auto options = options_from_json<BatchEnsembleOptions>(net.options, kBatchEnsemble);
  return std::make_unique<BatchEnsembleFitted>(std::move(options), std::move(net));
}

}  // namespace

RegistryRow batch_ensemble_row() { return {"batch-ensemble", make_batch_ensemble, load_batch_ensemble}; }

}  // namespace slimbayes
