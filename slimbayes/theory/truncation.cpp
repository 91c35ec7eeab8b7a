#include "slimbayes/theory/truncation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/singular_values.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/theory/lipschitz.h"

namespace slimbayes {

namespace {

constexpr double kReportedShares[] = {0.9, 0.95, 0.99};

/// What a pass over the rows finds.
struct Extremes {
  std::map<std::string, double> input_norm;  // largest norm of the input of each layer, by its name
  double gradient = 0;                       // largest norm of the gradient of the loss in the outputs
};

/// Returns the largest norm of a layer's input over the rows of a batch. Tokens [b, t] count as unit vectors,
/// so that t tokens have the norm sqrt(t). x [b, ...]
double largest_norm(const at::Tensor& x) {
  if (x.scalar_type() == at::kLong) return std::sqrt(static_cast<double>(x.size(1)));
  return x.flatten(1).norm(2, 1).max().item<double>();
}

/// Returns the norm of the gradient of the loss of each row: half squares for a regression, cross entropy for
/// classes. z [b, k], y [b]. [b]
at::Tensor gradient_norms(const Head& head, const at::Tensor& z, const at::Tensor& y) {
  if (head.is_regression()) return (z.squeeze(1) - y).abs();
  if (head.outputs == 1) return (z.squeeze(1).sigmoid() - y).abs();
  return (z.softmax(1) - at::one_hot(y.to(at::kLong), head.outputs)).norm(2, 1);
}

Extremes extremes_of(const ModelNetwork& network, const Binding& weights, const Dataset& rows, bool losses) {
  const at::NoGradGuard no_grad;
  const Network net(network.file.spec, "network");
  Extremes found;
  over_batches(rows, {}, [&](const Batch& batch) {
    const Traced pass = net.traced(input_of(batch, at::kDouble), weights);
    for (const Tap& tap : pass.taps) {
      double& norm = found.input_norm[tap.layer];
      norm = std::max(norm, largest_norm(tap.input));
    }
    check_finite(pass.output, "bounds", "outputs of the network");
    if (!losses) return;
    const at::Tensor norms = gradient_norms(network.file.head, pass.output, batch.target.to(at::kDouble));
    found.gradient = std::max(found.gradient, norms.max().item<double>());
  });
  return found;
}

std::vector<BoundedLoss> losses_of(const ModelNetwork& network, const Task& task, double gradient) {
  const Head& head = network.file.head;
  if (head.is_regression())
    return {{"absolute error", absolute_slope(head.outputs), task.y_scale},
            {"half squared error", half_square_slope(gradient), task.y_scale * task.y_scale}};
  return {{"cross entropy", cross_entropy_slope(gradient, head.outputs == 1), 1}};
}

/// Throws std::invalid_argument if ranks are asked for and no matrix has a higher rank than the least of
/// them.
void check_ranks(const NetworkLayout& layout, const std::vector<int64_t>& ranks) {
  if (ranks.empty()) return;
  for (const int64_t rank : ranks) check_options(RankOptions{.rank = rank}, "bounds");
  int64_t most = 0;
  for (const MapSite& site : layout.sites) most = std::max(most, std::min(site.out, site.in));
  const int64_t least = std::ranges::min(ranks);
  if (!(least < most))
    refuse("bounds", fmt::format("a rank below {}, the highest of a matrix here", most),
           std::to_string(least));
}

RankBound bound_at(const at::Tensor& s, int64_t rank, double factor, const std::vector<BoundedLoss>& losses) {
  RankBound one{rank, spectral_tail(s, rank), frobenius_tail(s, rank), 0, 0, {}};
  one.output_change = factor * one.sigma;
  one.tail_change = factor * one.tail;
  for (const BoundedLoss& loss : losses)
    one.loss_changes.push_back(loss.unit * loss_change(loss.slope, one.output_change));
  return one;
}

}  // namespace

Truncation truncation_of(const ModelNetwork& network, const Dataset& rows,
                         const std::vector<int64_t>& ranks) {
  check(rows.size() > 0, "bounds", "at least one row", "none");
  const Head& head = network.file.head;
  check(!rows.schema.task.bounds, "bounds", "a model of a target without `.bounds`", "one within bounds",
        "the network is one of the transformed target: fit it without `.bounds`");
  const bool has_losses = network.answers && (head.is_regression() || head.is_classes());
  const NetworkLayout layout(network.file.spec, "network");
  check_ranks(layout, ranks);
  const Binding weights = mean_weights(network);
  const Extremes found = extremes_of(network, weights, rows, has_losses);
  Truncation out{network.name, network.answers, network.averaged, {}, {}};
  if (has_losses) out.losses = losses_of(network, rows.schema.task, found.gradient);
  const std::vector<MatrixReach> reaches = matrix_reaches(network.file.spec, layout, weights);
  for (size_t i = 0; i < reaches.size(); ++i) {
    const MatrixReach& reach = reaches[i];
    MatrixTruncation& matrix = out.matrices.emplace_back();
    matrix.name = reach.site;
    matrix.unknown = reach.downstream.unknown;
    if (!matrix.unknown.empty()) continue;
    const at::Tensor s = singular_values(dense(weights.maps[i]).flatten(1));
    matrix.input_norm = found.input_norm.at(layout.sites[i].layer);
    matrix.downstream = reach.inputs * reach.downstream.value;
    std::vector<int64_t> reported = ranks;
    if (ranks.empty())
      for (double share : kReportedShares) reported.push_back(rank_for_energy(s, share));
    std::ranges::sort(reported);
    const auto repeated = std::ranges::unique(reported);
    reported.erase(repeated.begin(), repeated.end());
    for (int64_t rank : reported)
      matrix.ranks.push_back(bound_at(s, rank, matrix.input_norm * matrix.downstream, out.losses));
  }
  return out;
}

}  // namespace slimbayes
