#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/catalog/network/visit_layers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/data/device_source.h"
#include "slimbayes/method/disk_rows.h"
#include "slimbayes/method/fit_jobs.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/weight_space/batch_statistics.h"
#include "slimbayes/methods/weight_space/rows.h"
#include "slimbayes/methods/weight_space/swag_options.h"
#include "slimbayes/methods/weight_space/weight_draws.h"

// swag: a Gaussian around the average of the weights that training visits (Maddox et al. 2019).
//
// Model       A mixture over draws w = mean + (D^1/2 z + (K - 1)^-1/2 V u) / sqrt(2) of all p weights, with z
//             [p] and u [K] standard normal. D holds the variances of the visited weights, V [p, K] the
//             deviations of the last K epochs from the mean. All rows have one noise variance.
// Estimator   The network is trained as in dnn, or is given. Then `averaged` epochs at a constant learning
//             rate follow, and the weights after each epoch enter the average. Each draw has its own batch
//             norm statistics, from a pass over the training rows. The noise variance is the value with the
//             least validation NLL.
// Cost        dnn's and `averaged` epochs, and with batch norms `draws` passes over the training rows. A
//             prediction costs `draws` passes; the model file is as large as K + 2 networks.
// Deviations  AdamW instead of SGD. The pass for the batch norms does not augment images.

namespace slimbayes {

namespace {

constexpr const char* kSwag = "swag";
constexpr double kMostVisits = 9007199254740992;  // 2^53: a double holds every whole number up to it
constexpr const char *kMoments = "swag.moments", *kDeviations = "swag.deviations", *kCount = "swag.count",
                     *kNorms = "swag.norms";

/// The moments of all weights that the training visits: one visit is the end of an averaged epoch. They are
/// added up on the CPU.
struct Visited {
  at::Tensor moments;     // [2, p] mean and mean of squares
  at::Tensor deviations;  // [K, p] weights of the last K visits minus the mean at that visit, in any order
  at::Tensor count;       // [] visits so far

  void add(const at::Tensor& values) {
    const auto n = static_cast<int64_t>(count.item<double>()) + 1;
    count.fill_(static_cast<double>(n));
    const at::Tensor x = on_cpu(values).to(at::kDouble), seen = at::stack({x, x.square()});
    moments.add_((seen - moments) / static_cast<double>(n));
    deviations.select(0, (n - 1) % deviations.size(0)).copy_(x - moments[0]);
  }
};

/// Returns the buffers of the network (the batch norm statistics) in one vector, in the order of shapes_of().
/// [b]
at::Tensor buffers_of(const NetworkSpec& spec, const Weights& weights) {
  std::vector<at::Tensor> flat;
  for (const TensorShape& one : shapes_of(spec, "network"))
    if (one.buffer) flat.push_back(weights.at(one.name).to(at::kFloat).flatten());
  return at::cat(flat);
}

/// Returns draw s of the weights, by name, on the CPU in float32. The buffers come from row s of `norms`
/// [draws, b] or, if `norms` is undefined, from `weights`.
Weights drawn(const NetworkSpec& spec, const Weights& weights, const Visited& visited,
              const at::Tensor& norms, int64_t s) {
  const Stream stream = Stream(0).split("draw").split(static_cast<uint64_t>(s));
  const int64_t p = visited.moments.size(1);
  const auto k =
      std::min<int64_t>(visited.deviations.size(0), static_cast<int64_t>(visited.count.item<double>()));
  const at::Tensor var = visited.moments[1] - visited.moments[0].square();
  const at::Tensor sd = rounded_variance(var, visited.moments[1]).var.sqrt();
  const at::Tensor low_rank = visited.deviations.narrow(0, 0, k).t().mv(stream.split("low-rank").normal({k}));
  const at::Tensor flat = visited.moments[0] + std::sqrt(0.5) * sd * stream.split("diagonal").normal({p}) +
                          low_rank / std::sqrt(2.0 * static_cast<double>(std::max<int64_t>(1, k - 1)));
  Weights out = weights;
  const auto next = [](const at::Tensor& all, int64_t& from, const TensorShape& like) {
    const int64_t at = from, size = c10::multiply_integers(like.sizes);
    from += size;
    return all.narrow(0, at, size).view(like.sizes).to(at::kFloat);
  };
  int64_t parameter = 0, buffer = 0;
  for (const TensorShape& one : shapes_of(spec, "network")) {
    if (!one.buffer)
      out[one.name] = next(flat, parameter, one);
    else if (norms.defined())
      out[one.name] = next(norms[s], buffer, one);
  }
  return out;
}

/// Returns the batch norm statistics of each draw, computed from the training rows; of those on disk from a
/// sample, because each draw passes over them. [draws, b]; undefined if the network has no batch norms.
at::Tensor norms_of_draws(const TrainedNetwork& trained, const Visited& visited, int64_t draws,
                          const Dataset& train, const FitContext& context) {
  if (!has_layer<BatchNorm>(trained.spec)) return {};
  const Dataset rows =
      on_device(enough_rows(train, context.stream.split("norms"), context.ranks), context.device);
  std::vector<at::Tensor> norms;
  for (int64_t s = 0; s < draws; ++s) {
    const Stream stream = Stream(0).split("norms").split(static_cast<uint64_t>(s));
    const Weights weights = drawn(trained.spec, trained.weights, visited, {}, s);
    norms.push_back(buffers_of(trained.spec, with_batch_statistics(trained.spec, weights, rows, stream)));
  }
  return at::stack(norms);
}

/// Returns `draws` draws of the weights, each a network on `device`: a draw is made on the CPU, so that only
/// its float32 weights move there. The other arguments must outlive the result.
WeightDraws swag_draws(const TrainedNetwork& trained, const Visited& visited, const at::Tensor& norms,
                       int64_t draws, at::Device device) {
  return {trained.spec.input, draws, [&trained, &visited, &norms, device](int64_t s) {
            const Weights weights = drawn(trained.spec, trained.weights, visited, norms, s);
            const BoundNetwork network(trained.spec, "network",
                                       as_type(weights, at::dtype(at::kFloat).device(device)));
            return [network](const Input& rows) { return network(rows); };
          }};
}

class SwagFitted : public Fitted {
 public:
  /// `norms` is the result of norms_of_draws(); undefined: all draws use the trained network's batch norm
  /// statistics. `noise_var` is the noise variance of the answers; 0 for classes.
  SwagFitted(SwagOptions options, TrainedNetwork trained, Visited visited, at::Tensor norms, double noise_var)
      : options_(std::move(options)),
        trained_(std::make_shared<TrainedNetwork>(std::move(trained))),
        visited_(std::move(visited)),
        norms_(std::move(norms)),
        head_(trained_->head) {
    head_.noise_var = noise_var;
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    return predict_by_draws(swag_draws(*trained_, visited_, norms_, options_.draws, options.device), head_,
                            data, options, kSwag);
  }

  TensorFile save() const override {
    Weights all = trained_->weights;
    all[kMoments] = visited_.moments;
    all[kDeviations] = visited_.deviations;
    all[kCount] = visited_.count;
    if (norms_.defined()) all[kNorms] = norms_;
    if (head_.is_regression()) store_noise(head_.noise_var, all);
    return to_file(NetworkFile{options_to_json(options_), trained_->head, trained_->spec, std::move(all),
                               trained_->summary});
  }

  const Summary& summary() const override { return trained_->summary; }

 private:
  SwagOptions options_;
  std::shared_ptr<const TrainedNetwork> trained_;
  Visited visited_;
  at::Tensor norms_;
  Head head_;  // for the answers; the noise of trained_->head is that of a single network
};

class SwagMethod : public Method {
 public:
  explicit SwagMethod(SwagOptions options) : options_(std::move(options)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    const NetworkSpec spec = spec_for(split.train.schema, context);
    const auto part = [&](uint64_t i, const JobContext& job) {
      return part_of(context, context.stream.split(i), job);
    };
    // The second training starts from the first: two jobs, one after the other.
    Jobs<TrainedNetwork> jobs(
        plan_of(context, kSwag, [](size_t i) { return fmt::format("{}/2", i + 1); }),
        {[&](size_t, const JobContext& job) {
           return starting_network(options_.network, split, part(0, job), kSwag);
         },
         record_of, [&](size_t, const TensorFile& file) { return trained_from(file, spec); },
         [](const TrainedNetwork& trained) { return trained.summary.stopped != Stopped::interrupted; }});
    jobs.begin();
    TrainedNetwork first = jobs.take(0).value();
    if (first.summary.stopped == Stopped::interrupted) return stopped_early(std::move(first));
    const int64_t p = parameters_of(spec);
    Visited visited{at::zeros({2, p}, at::kDouble), at::zeros({options_.deviations, p}, at::kDouble),
                    at::zeros({}, at::kDouble)};
    const TrainedNetworkOptions& own = options_.network;
    NetworkTraining second{own.training, own.class_weights, own.label_smoothing, /*validates=*/false,
                           &first.weights};
    second.options.epochs = options_.averaged;
    second.options.schedule = "constant";
    second.options.learning_rate = options_.swag_rate;
    second.options.patience = 0;
    second.after_epoch = [&](const at::Tensor& values) { visited.add(values); };
    second.buffers = {visited.moments, visited.deviations, visited.count};
    if (context.callback) context.callback->stage("2/2");
    TrainedNetwork last =
        train_network(spec, split, second, part(1, {jobs.part(1), context.callback, {}}), kSwag);
    if (!context.start) {  // otherwise another fit trained the first network
      last.summary.epochs += first.summary.epochs;
      last.summary.steps += first.summary.steps;
      last.summary.seconds += first.summary.seconds;
    }
    last.summary.notes = first.summary.notes;  // not the second's: it has no validation on purpose
    if (visited.count.item<double>() < 1) return stopped_early(std::move(first));
    const at::Tensor norms = norms_of_draws(last, visited, options_.draws, split.train, context);
    double noise_var = 0;
    if (last.head.is_regression())
      noise_var = noise_of_draws(swag_draws(last, visited, norms, options_.draws, context.device),
                                 rows_of_noise(split.valid, split.train, context), kSwag);
    return std::make_unique<SwagFitted>(options_, std::move(last), std::move(visited), norms, noise_var);
  }

 private:
  NetworkSpec spec_for(const Schema& schema, const FitContext& context) const {
    if (context.start) return context.start->spec;
    return trained_network_spec(options_.network, schema);
  }

  static int64_t parameters_of(const NetworkSpec& spec) {
    int64_t p = 0;
    for (const TensorShape& one : shapes_of(spec, "network"))
      p += one.buffer ? 0 : c10::multiply_integers(one.sizes);
    return p;
  }

  /// Returns the model of a fit that was interrupted before an epoch was averaged: a single network.
  std::unique_ptr<Fitted> stopped_early(TrainedNetwork trained) const {
    trained.summary.stopped = Stopped::interrupted;
    const int64_t p = parameters_of(trained.spec);
    Visited visited{at::zeros({2, p}, at::kDouble), at::zeros({options_.deviations, p}, at::kDouble),
                    at::zeros({}, at::kDouble)};
    std::vector<at::Tensor> flat;
    for (const TensorShape& one : shapes_of(trained.spec, "network"))
      if (!one.buffer) flat.push_back(trained.weights.at(one.name).flatten());
    visited.add(at::cat(flat));
    const double noise_var = trained.head.noise_var;
    return std::make_unique<SwagFitted>(options_, std::move(trained), std::move(visited), at::Tensor(),
                                        noise_var);
  }

  static TensorFile record_of(const TrainedNetwork& trained) {
    TensorFile file;
    store(trained.weights, file);
    file.metadata["head"] = to_json(trained.head).dump();
    file.metadata["summary"] = to_json(trained.summary).dump();
    return file;
  }

  static TrainedNetwork trained_from(const TensorFile& record, const NetworkSpec& spec) {
    const Weights all = weights_from(record);
    TrainedNetwork trained{spec, network_weights(all), head_from_json(stored_json(record, "head")),
                           summary_from_json(stored_json(record, "summary"))};
    const BoundNetwork checked(spec, "network", as_type(trained.weights, at::kFloat));
    return trained;
  }

  SwagOptions options_;
};

std::unique_ptr<Method> make_swag(const nlohmann::json& options) {
  return std::make_unique<SwagMethod>(options_from_json<SwagOptions>(options, kSwag));
}

std::unique_ptr<Fitted> load_swag(const TensorFile& file) {
  NetworkFile net = network_file(file);
  check_outputs(net.head, net.spec, kSwag);
  const Network::Lookup lookup = as_type(net.weights, at::kDouble);
  const double noise_var = stored_noise(net.weights, net.head, kSwag);
  TrainedNetwork trained{std::move(net.spec), network_weights(net.weights), net.head, std::move(net.summary)};
  const SwagOptions options = options_from_json<SwagOptions>(net.options, kSwag);
  int64_t p = 0, buffers = 0;
  for (const TensorShape& one : shapes_of(trained.spec, "network"))
    (one.buffer ? buffers : p) += c10::multiply_integers(one.sizes);
  Visited visited{lookup(kMoments), lookup(kDeviations), lookup(kCount)};
  check_shape(visited.moments, {2, p}, kSwag, kMoments);
  check_shape(visited.deviations, {-1, p}, kSwag, kDeviations);
  const double count = stored_positive(lookup, kCount, kSwag);
  if (!(count >= 1 && count <= kMostVisits && visited.deviations.size(0) > 0))
    refuse(kSwag, fmt::format("1 to {:g} visits", kMostVisits), fmt::format("{:g}", count),
           "the model file is damaged");
  at::Tensor norms;
  if (net.weights.contains(kNorms)) {  // absent without batch norms
    norms = net.weights.at(kNorms);
    check_shape(norms, {options.draws, buffers}, kSwag, kNorms);
  }
  return std::make_unique<SwagFitted>(options, std::move(trained), std::move(visited), std::move(norms),
                                      noise_var);
}

}  // namespace

RegistryRow swag_row() { return {"swag", make_swag, load_swag}; }

}  // namespace slimbayes
