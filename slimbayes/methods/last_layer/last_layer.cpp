#include "slimbayes/methods/last_layer/last_layer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/data/device_source.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/disk_rows.h"
#include "slimbayes/method/fit_jobs.h"
#include "slimbayes/methods/last_layer/class_sums.h"
#include "slimbayes/methods/last_layer/fitted_last_layer.h"
#include "slimbayes/methods/last_layer/last_layer_choice.h"
#include "slimbayes/ntk/enrichment.h"

namespace slimbayes {

namespace {

constexpr const char* kRefit = "refit";
constexpr double kFloatRidge = 1e-6;  // least ridge for which float32 gradients suffice (ntk/enrichment.h)
constexpr double kManyFlops = 2e12;   // about a minute; above this, a note announces the computation

/// What the second training of a refit takes from the first one, which held out the validation rows.
struct Known {
  PosteriorChoice choice;
  double network_noise;  // noise variance of the first network's head
};

/// The first training of a refit.
struct FirstFit {
  Known known;
  int64_t epochs;                                 // at its best score
  std::shared_ptr<const FittedLastLayer> fitted;  // nullptr: from a checkpoint, which holds only the above
};

constexpr const char *kEpochs = "epochs", *kFirstNoise = "noise_var", *kFirstSd = "prior_sd",
                     *kMse = "network_noise_var", *kNotes = "choice_notes";

TensorFile first_to_file(const FirstFit& first) {
  TensorFile file;
  const auto keep = [&file](const char* name, double value) {
    file.tensors[name] = to_stored(at::full({}, value, at::kDouble));
  };
  keep(kFirstNoise, first.known.choice.noise_var);
  keep(kFirstSd, first.known.choice.prior_sd);
  keep(kEpochs, static_cast<double>(first.epochs));
  keep(kMse, first.known.network_noise);
  file.metadata[kNotes] = nlohmann::json(first.known.choice.notes).dump();
  return file;
}

FirstFit first_from_file(const TensorFile& file) {
  const auto kept = [&](const char* name) { return stored_tensor(file, name).item<double>(); };
  FirstFit first{
      {{kept(kFirstNoise), kept(kFirstSd)}, kept(kMse)}, static_cast<int64_t>(kept(kEpochs)), nullptr};
  first.known.choice.notes = stored_json(file, kNotes).get<std::vector<std::string>>();
  check(first.known.choice.noise_var >= 0 && first.known.choice.prior_sd > 0 && first.epochs > 0, kRefit,
        "a noise, a prior sd and epochs that a fit gives", "others");
  return first;
}

/// Returns what an enrichment needs of the ranks that share its rows.
GradientShare gradient_share(const RankRows& own) {
  const Collective* const ranks = own.ranks;
  if (ranks == nullptr) return {};
  const auto sum = [ranks](const GradientShare::Sums& of_rank) {
    std::vector<at::Tensor> sums;
    on_all_ranks(ranks, [&] { sums = of_rank(); });
    sum_over_ranks(sums, ranks);
  };
  return {own.first, ranks->rank(), ranks->size(), sum,
          [ranks](const at::Tensor& rows) { return rows_of_all(rows, ranks); }};
}

/// Returns the features of this rank's rows, beside the rows, or on the CPU if a device should not hold so
/// many.
EvaluatedRows evaluated_on_rank(const LastLayerFeatures& features, const RankRows& own) {
  const int64_t of_a_row = features.rank() * static_cast<int64_t>(sizeof(double));
  const bool fit = own.rows.size() <= kRowsOnDevice / of_a_row;
  EvaluatedRows all;
  on_all_ranks(own.ranks,
               [&] { all = evaluated(features, own.rows, fit ? own.rows.device() : at::Device(at::kCPU)); });
  return all;
}

class LastLayerMethod : public Method {
 public:
  explicit LastLayerMethod(LastLayer layer) : layer_(std::move(layer)) {
    check_prior(layer_.posterior.choice, layer_.method);
    const double share = layer_.posterior.subsample;
    if (!(share < 1 || share == std::floor(share)))
      refuse(layer_.method, "a subsample that is a whole number of rows, or a share below 1",
             fmt::format("{}", share));
  }

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    if (!layer_.posterior.refit) return fitted(split, context, {});
    if (!context.start) return refitted(split, context);
    // The network may have been trained on the validation rows: their residuals say nothing about its noise.
    const PosteriorChoiceOptions& options = layer_.posterior.choice;
    check(options.select == "evidence" || (options.noise == "mse" && options.prior != "select"),
          layer_.method, "a noise and a prior that need no validation rows for `.refit` with `.network_from`",
          "one chosen by their NLL", "add `.noise=mse` or `.select=evidence`, or leave `.refit` out");
    return fitted({joined(split.train, split.valid), {}}, context, {});
  }

 private:
  /// Throws for options that do not apply to this task.
  void check_task(const Task& task) const {
    const bool regression = task.kind == TaskKind::regression;
    check(layer_.posterior.mean == "network" || regression, layer_.method, "mean network for classes",
          layer_.posterior.mean, "leave `.mean` out: the posterior of a logit has no residual");
    check(layer_.posterior.choice.select == "nll" || regression, layer_.method, "select nll for classes",
          layer_.posterior.choice.select,
          "leave `.select` out: last-layer-laplace has an evidence for classes");
    const LastLayerOptions fallback;
    check(!regression || (layer_.posterior.class_noise == fallback.class_noise &&
                          layer_.posterior.class_rows == fallback.class_rows),
          layer_.method, "classes for class_noise and class_rows", "a regression",
          "leave `.class_noise` and `.class_rows` out; `.noise` and `.subsample` are for a regression");
  }

  /// Throws, before any training, for options that do not apply to the network or the rows.
  void check_network(const Dataset& rows, const FitContext& context) const {
    const Schema& schema = rows.schema;
    const bool module = context.start && context.start->module;
    check(!(layer_.enriched && are_on_disk(rows)), layer_.method, "rows in memory", "rows on disk",
          "leave `.cache` out: the gradients of all rows are needed at once");
    const NetworkSpec spec = context.start ? context.start->spec
                                           : trained_network_spec(layer_.network, schema.input, schema.tokens,
                                                                  schema.task.outputs);
    if (const int64_t k = sampled_rows(rows.size()); k < rows.size()) {
      const int64_t rank = layer_.sketch + (module ? output_weights(*context.start).size(1)
                                                   : last_layer_rank(spec, layer_.method));
      if (!(k >= rank))
        refuse(layer_.method, fmt::format("a subsample of at least {} rows, one per feature", rank),
               std::to_string(k), "raise `.subsample`, or leave it out for all rows");
    }
    // A module needs no check here: nothing is trained before its gradients are computed, and that
    // computation checks it.
    if (!layer_.enriched || module || layer_.route == "auto") return;
    Weights start;  // values do not matter: only the sizes are checked
    for (const TensorShape& one : shapes_of(spec, "network"))
      start[one.name] = at::zeros(one.sizes, at::dtype(at::kFloat).device(rows.device()));
    const GradientModel model = gradient_model(
        spec, "network", as_type(start, at::dtype(at::kFloat).device(rows.device())), at::kFloat);
    enrichment_flops(model,
                     {1, [&](int64_t, int64_t) { return input_of(rows.rows(at::zeros({1}, at::kLong))); }}, 1,
                     {layer_.route});
  }

  std::unique_ptr<FittedLastLayer> fitted(const Split& split, const FitContext& context,
                                          const std::optional<Known>& known) const {
    const Dataset rows = training_rows(split.train, layer_.method, device_for(context)),
                  held_out = validation_rows(split.valid, rows, layer_.method);
    check_task(rows.schema.task);
    check_network(rows, context);
    TrainedNetwork network =
        starting_network(layer_.network, split, context, layer_.method, /*takes_modules=*/true);
    if (known) network.head.noise_var = known->network_noise;
    Summary summary = network.summary;
    const LastLayerFeatures features =
        statistics_features(network, layer_.method, layer_.sketch, rows.device());
    const at::Tensor index = subsample(rows, features.rank(), context.stream, summary);
    const Dataset used = index.defined() ? rows.subset(index) : rows;
    const bool regression = rows.schema.task.kind == TaskKind::regression, on_disk = are_on_disk(rows);
    const RankRows own = sample_of_rank(rows, index, context.ranks);
    const EvaluatedRows at_rows = keeps_features(rows) ? evaluated_on_rank(features, own) : EvaluatedRows{};
    const EvaluatedRows at_valid =
        held_out.size() > 0 && !known
            ? evaluated(features, choosing_rows(held_out, on_disk, features.rank(), context.stream))
            : EvaluatedRows{};

    at::Tensor factor = at::eye(features.rank(), at::kDouble);
    if (layer_.enriched)
      factor =
          safe_cholesky(factor + enrichment_at(network, used, own, at_rows, context, summary), /*tries=*/0)
              .factor;
    LastLayerPosterior posterior{factor, {}, layer_.posterior.class_noise, index.defined()};
    PosteriorChoice choice;
    if (regression) {
      const double n = rows.total_weight(), scale = n / used.total_weight();
      posterior.statistics = {residual_statistics(features, own, at_rows, scale, n)};
      const bool unseen = !context.start || context.valid_unseen;
      choice =
          known ? known->choice
                : regression_choice(network, rows.schema.task, posterior, at_valid, layer_.posterior, unseen);
      posterior.noise_var = choice.noise_var;
    } else {
      posterior.statistics = on_disk ? class_sums(features, own, layer_.posterior.class_rows, context.stream)
                                     : class_statistics(at_rows, own, context.stream);
      double held = 0;
      for (const LinearStatistics& one : posterior.statistics) held += one.n;
      const double all = used.total_weight();
      posterior.sampled = posterior.sampled || held < all - rounding_of_rows(all);
      choice = known ? known->choice : class_choice(posterior, at_valid, layer_.posterior.choice);
    }
    posterior.prior_factor = choice.prior_sd * factor;
    std::ranges::copy(choice.notes, std::back_inserter(summary.notes));
    std::string chosen_values =
        fmt::format("prior sd of the {} weights: {:.3g}", layer_.sketch > 0 ? "network's" : "last layer's",
                    choice.prior_sd);
    if (regression)
      chosen_values += fmt::format("; noise sd of the scaled target: {:.3g}", std::sqrt(choice.noise_var));
    summary.facts.push_back(std::move(chosen_values));
    return std::make_unique<FittedLastLayer>(layer_, std::move(network), posterior, std::move(summary),
                                             std::move(choice));
  }

  /// Trains twice. The first fit chooses the number of epochs, the noise and the prior sd; the second trains
  /// on the training and validation rows with these values. Returns the first fit if there are no validation
  /// rows or it was interrupted. A killed fit that resumes does not repeat a finished first fit.
  std::unique_ptr<Fitted> refitted(const Split& split, const FitContext& context) const {
    if (split.valid.size() == 0) return fitted(split, context, {});
    check(rows_at_hand(split.train).size() == split.train.size(), layer_.method,
          "one process for `.refit` on rows on disk", "several, of which each holds its own training rows",
          "leave `.refit` out");
    const auto fit_first = [&](size_t, const JobContext& job) -> FirstFit {
      const std::shared_ptr<const FittedLastLayer> first =
          fitted(split, part_of(context, context.stream, job), {});
      return {{first->choice(), first->network()->head.noise_var},
              std::max<int64_t>(1, first->summary().best_epoch),
              first};
    };
    // The second fit follows from the first: two jobs, one after the other.
    Jobs<FirstFit> jobs(
        plan_of(context, kRefit, [](size_t i) { return fmt::format("{}/2", i + 1); }),
        {fit_first, first_to_file, [](size_t, const TensorFile& file) { return first_from_file(file); },
         [](const FirstFit& first) { return is_whole(*first.fitted); }});
    jobs.begin();
    const FirstFit first = jobs.take(0).value();
    if (first.fitted && !is_whole(*first.fitted)) return std::make_unique<FittedLastLayer>(*first.fitted);
    if (context.callback) context.callback->stage("2/2");
    LastLayer layer = layer_;
    layer.network.training.epochs = first.epochs;
    layer.network.training.patience = 0;
    return LastLayerMethod(std::move(layer))
        .fitted({joined(split.train, split.valid), {}},
                part_of(context, context.stream, {jobs.part(1), context.callback, {}}), first.known);
  }

  /// Returns whether the features of all rows are kept: not those of rows on disk, and on a device not those
  /// of a regression that needs their sums alone.
  bool keeps_features(const Dataset& rows) const {
    const bool sums_alone = rows.schema.task.kind == TaskKind::regression && !layer_.enriched;
    return !are_on_disk(rows) && (rows.device().is_cpu() || !sums_alone);
  }

  /// Returns how many of n rows the variance is computed from (option subsample).
  int64_t sampled_rows(int64_t n) const {
    const double given = layer_.posterior.subsample;
    if (given == 0) return n;
    return std::min(n, static_cast<int64_t>(given < 1 ? std::ceil(given * static_cast<double>(n)) : given));
  }

  /// Returns the indices [k] int64 of the rows that the variance is computed from, drawn without replacement;
  /// undefined if all rows are used. Adds a note if there are fewer than three rows per feature.
  at::Tensor subsample(const Dataset& rows, int64_t rank, const Stream& stream, Summary& summary) const {
    const double given = layer_.posterior.subsample;
    const int64_t n = rows.size(), k = sampled_rows(n);
    if (given > static_cast<double>(n))
      summary.notes.push_back(fmt::format("all {} rows: fewer than `.subsample={:.0f}`", n, given));
    if (k == n) return {};
    if (k < 3 * rank) {
      summary.notes.push_back(fmt::format(
          "{} rows for {} features: the variance is some {:.2g} times that of all rows where the "
          "data decide it; three rows per feature would bring it to 1.5",
          k, rank, static_cast<double>(k) / static_cast<double>(std::max<int64_t>(1, k - rank - 1))));
    }
    return drawn_rows(rows, k, stream.split("subsample"));
  }

  /// Returns the validation rows that choose the noise and the prior. Beside training rows on disk there may
  /// be so many of them that their features do not fit into memory: then a sample.
  static Dataset choosing_rows(const Dataset& held_out, bool on_disk, int64_t rank, const Stream& stream) {
    constexpr int64_t kMostNumbers = int64_t{1} << 24;
    const int64_t k = std::max<int64_t>(1, kMostNumbers / rank);
    if (!on_disk || held_out.size() <= k) return held_out;
    return held_out.subset(drawn_rows(held_out, k, stream.split("choosing")));
  }

  /// Returns A^T A (ntk/enrichment.h), computed from the network's gradients at `rows`. This rank has
  /// the rows `own` of them, with the features and outputs `at_rows`. A^T A adds the variance of the earlier
  /// layers to the prior of the last layer's weights. For classes each row's gradient is that of the logit of
  /// its predicted class (Rich-BLL, section 4.4). [r, r]
  at::Tensor enrichment_at(const TrainedNetwork& network, const Dataset& rows, const RankRows& own,
                           const EvaluatedRows& at_rows, const FitContext& context, Summary& summary) const {
    // Without a ridge the projector is large in directions in which the features hardly vary, and would
    // magnify the rounding errors of float32 gradients.
    const bool precise = layer_.ridge < kFloatRidge && !takes_images(network);
    const GradientModel model =
        last_layer_gradients(network, precise ? at::kDouble : at::kFloat, rows.device());
    GradientRows gradients{rows.size(), [&](int64_t from, int64_t to) {
                             return input_of(rows.rows(at::arange(from, to)), model.type());
                           }};
    if (at_rows.output.size(1) > 1)
      gradients.output = on_cpu(rows_of_all(at_rows.output.argmax(1), own.ranks));
    if (const at::Tensor lengths = rows.source->lengths(); lengths.defined())
      gradients.longest = lengths.argmax().item<int64_t>();
    const EnrichmentOptions options{layer_.route};
    const double flops = enrichment_flops(model, gradients, at_rows.features.size(1), options);
    if (flops > kManyFlops && context.callback)
      context.callback->note(
          fmt::format("the gradients of {} rows take about {:.3g} GFLOP, which may be minutes; `.subsample` "
                      "takes fewer rows",
                      rows.size(), flops / 1e9));
    const GradientShare share = gradient_share(own);
    const Enrichment found =
        enrichment(model, gradients, projector(at_rows.features, layer_.ridge, share, at_rows.weight),
                   options, context.stream.split("enrichment"), share);
    summary.facts.push_back(
        fmt::format("variance of the earlier layers: {} from the gradients of {} rows by the {} route: {}",
                    found.route == "sketch" ? "approximated" : "computed exactly", rows.size(), found.route,
                    found.reason));
    return found.gram;
  }

  /// Returns the statistics of the residuals of all rows, whose weights sum to n, from `own` rows of a share
  /// 1 / scale of that. `kept` are the evaluated own rows, undefined if they are not kept (keeps_features).
  static LinearStatistics residual_statistics(const LastLayerFeatures& features, const RankRows& own,
                                              const EvaluatedRows& kept, double scale, double n) {
    LinearStatistics s = linear_statistics(features.rank());
    const auto add = [&s](const EvaluatedRows& rows) {
      s = added(std::move(s), rows_of_output(rows, 0, true));
    };
    on_all_ranks(own.ranks, [&] { kept.y.defined() ? add(kept) : over_evaluated(features, own.rows, add); });
    s = summed(s, own.ranks);
    return scale == 1 ? s : scaled(s, scale, n);
  }

  /// Returns the statistics of each logit's posterior, from at most class_rows rows of its class. If a class
  /// has more rows, they are drawn at random: every rank draws from those of all ranks and adds its own.
  std::vector<LinearStatistics> class_statistics(const EvaluatedRows& rows, const RankRows& part,
                                                 const Stream& stream) const {
    const at::Tensor y = rows_of_all(rows.y, part.ranks);
    std::vector<LinearStatistics> all;
    on_all_ranks(part.ranks, [&] { all = own_class_statistics(rows, part.first, y, stream); });
    return summed(std::move(all), part.ranks);
  }

  /// Returns the sums of class_statistics() over this rank's rows, of which the first is number `first` of
  /// all rows, whose targets are `y`.
  std::vector<LinearStatistics> own_class_statistics(const EvaluatedRows& rows, int64_t first,
                                                     const at::Tensor& y, const Stream& stream) const {
    const int64_t end = first + rows.y.size(0);
    std::vector<LinearStatistics> all;
    for (int64_t c = 0; c < rows.output.size(1); ++c) {
      // A single logit uses rows of both classes, up to class_rows of each.
      const int64_t classes = rows.output.size(1) == 1 ? 2 : 1;
      LinearStatistics sums = linear_statistics(rows.features.size(1));
      for (int64_t k = 0; k < classes; ++k) {
        at::Tensor own = at::nonzero(y == (classes == 1 ? c : k)).squeeze(1);
        if (own.size(0) > layer_.posterior.class_rows) {
          const Stream draw = stream.split("class").split(static_cast<uint64_t>(c + k));
          const at::Tensor some = draw.permutation(own.size(0)).narrow(0, 0, layer_.posterior.class_rows);
          own = own.index_select(0, on_device(some, own.device()));
        }
        own = own.masked_select(own.ge(first).logical_and(own.lt(end))) - first;
        const at::Tensor weight = rows.weight.defined() ? rows.weight.index_select(0, own) : rows.weight;
        sums = added(
            std::move(sums),
            {rows.features.index_select(0, own), at::zeros({own.size(0)}, rows.y.options()), {}, weight});
      }
      all.push_back(std::move(sums));
    }
    return all;
  }

  LastLayer layer_;
};

}  // namespace

std::unique_ptr<Method> last_layer_method(LastLayer layer) {
  return std::make_unique<LastLayerMethod>(std::move(layer));
}

RegistryRow last_layer_row(std::string_view name,
                           const std::function<LastLayer(const nlohmann::json& options)>& of) {
  return {name, [of](const nlohmann::json& options) { return last_layer_method(of(options)); },
          [of](const TensorFile& file) { return load_last_layer(of(stored_json(file, "options")), file); }};
}

}  // namespace slimbayes
