#include "slimbayes/methods/weight_space/inducing/inducing_plan.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/methods/weight_space/draw_stack.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

/// Returns the labels of the layers that can have inducing weights, in their order.
std::vector<std::string> layers_with_matrices(const NetworkLayout& layout) {
  std::vector<std::string> labels;
  for (const MapSite& site : layout.sites)
    if (site.use != MapUse::rows && (labels.empty() || labels.back() != site.label))
      labels.push_back(site.label);
  return labels;
}

/// Returns the labels of the layers that the option bayesian_layers names.
std::set<std::string> chosen_layers(const NetworkLayout& layout, const std::vector<std::string>& given) {
  const std::vector<std::string> known = layers_with_matrices(layout);
  std::set<std::string> chosen;
  for (const std::string& entry : given)  // the flag gives "a,b" as one entry
    for (const std::string& name : split_list(entry)) {
      if (name == "all") return {known.begin(), known.end()};
      if (std::ranges::find(known, name) == known.end())
        refuse("bayesian_layers", "all or layers of the network",
               fmt::format("'{}'", foreign_text(name.substr(0, 80))),
               fmt::format("its layers are {}", fmt::join(known, ", ")));
      chosen.insert(name);
    }
  if (chosen.empty())
    refuse("bayesian_layers", "all or at least one layer", "none",
           fmt::format("the layers are {}", fmt::join(known, ", ")));
  return chosen;
}

/// Returns the number of weights of a site whose structure makes the bias too, where no other shares it.
int64_t weights_of(const NetworkLayout& layout, const MapSite& site) {
  const bool bias = !site.bias.empty() && layout.tensors[layout.tensor(site.bias)].sizes[0] == site.out;
  return site.out * (site.in + (bias ? 1 : 0));
}

/// Returns the number of inducing rows or columns for one side of a matrix: `given`, or for 0 half of the
/// smaller side, at least kFewest and at most kMost, but no more than this side. The smaller side counts
/// because it bounds the rank of the matrix.
int64_t inducing_size(int64_t given, int64_t side, int64_t other) {
  constexpr int64_t kFewest = 32, kMost = 128;
  return given > 0 ? given : std::min(side, std::clamp(std::min(side, other) / 2, kFewest, kMost));
}

}  // namespace

WeightPlan inducing_plan(const NetworkLayout& layout, const FidGpOptions& options,
                         const std::string& conditional) {
  const InducingOptions& o = options.inducing;
  if (!(o.start_noise < o.most_noise))
    refuse("start_noise", "start_noise below most_noise",
           fmt::format("{} and {}", o.start_noise, o.most_noise), "lower the first or raise the second");
  if (!(o.inducing_sd < o.most_inducing_sd))
    refuse("inducing_sd", "inducing_sd below most_inducing_sd",
           fmt::format("{} and {}", o.inducing_sd, o.most_inducing_sd),
           "lower the first or raise the second");
  const std::set<std::string> chosen = chosen_layers(layout, o.bayesian_layers);
  WeightPlan plan;
  for (const MapSite& site : layout.sites) {
    if (site.use == MapUse::rows || !chosen.contains(site.label)) continue;
    const bool convolution = layout.tensors[layout.tensor(site.tensor)].sizes.size() == 4;
    const bool is_output = site.label == "output";
    const int64_t columns = is_output && o.output_columns > 0 ? o.output_columns : o.inducing_columns;
    const bool flow = options.flow_layers == "all" || convolution;
    const int64_t inputs = weights_of(layout, site) / site.out;
    plan.sites[site.name] = {
        .structure = "inducing",
        .prior = NormalPrior{o.prior_scale / std::sqrt(static_cast<double>(inputs))},
        .inducing = {.rows = is_output ? site.out : inducing_size(o.inducing_rows, site.out, inputs),
                     .columns = inducing_size(columns, inputs, site.out),
                     .conditional = conditional,
                     .flow = flow ? options.flow : "none",
                     .start_noise = o.start_noise,
                     .most_noise = o.most_noise,
                     .start_sd = o.inducing_sd,
                     .most_sd = o.most_inducing_sd,
                     .start_diagonal = o.start_diagonal,
                     .noisy_z = o.noisy_z}};
  }
  return plan;
}

double least_kl(const NetworkLayout& layout, const WeightPlan& plan) {
  double sum = 0;
  for (const MapSite& site : layout.sites) {
    const auto planned = plan.sites.find(site.name);
    if (planned == plan.sites.end()) continue;
    const double limit = planned->second.inducing.most_noise;
    sum += static_cast<double>(weights_of(layout, site)) * (limit * limit / 2 - std::log(limit) - 0.5);
  }
  return sum;
}

std::string note_on_kl(const TrainedPlan& trained) {
  at::NoGradGuard no_grad;
  constexpr int64_t kDraws = 8;  // with a flow, the KL is a mean over draws
  double kl = 0;
  for (int64_t s = 0; s < kDraws; ++s)
    kl += trained.weights.kl(trained.weights.draw(draw_stream(s))).item<double>() / kDraws;
  const auto rows = static_cast<double>(trained.rows);
  const bool estimated = std::ranges::any_of(
      trained.plan.sites, [](const auto& one) { return one.second.inducing.flow != "none"; });
  return fmt::format(
      "the KL to the prior is {:.3g} nats a training {}{}; {:.3g} of them are the price of the limit of the "
      "weights' noise (`.most_noise`)",
      kl / rows, trained.pixels ? "pixel" : "row",
      estimated ? fmt::format(", the mean of {} draws", kDraws) : "",
      least_kl(trained.layout, trained.plan) / rows);
}

}  // namespace slimbayes
