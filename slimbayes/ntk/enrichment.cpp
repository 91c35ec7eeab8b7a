// Computes A^T A = Q^T K_m Q without the n x p matrix Phi_m of gradients, by one of four ways (routes), and
// chooses among them. K_m = Phi_m Phi_m^T holds the inner products of the rows' gradients.
//
// The route gram evaluates K_m in tiles of 256 x 256 rows from the layers' inputs and deltas
// (layer_gradients.cpp, kernel_tile.cpp) and adds up the products Q_i^T K_ij Q_j. K_m is symmetric, so only
// the tiles on and above the diagonal are computed. With M their sum, in which the tiles on the diagonal have
// the weight 1/2, the result is M + M^T. Cost for an MLP with l layers of width w, besides the forward and
// backward passes: n^2 / 2 (4 w l + 2 r) operations. If the gradients of all rows fit into 128 MB they are
// computed once. Otherwise the rows are cut into ranges, and each range is compared with itself and every
// later one; the gradients of the later range are computed anew for each such pair. R processes cut the rows
// into about 2 R ranges or more. Of each 2 R ranges a process takes one from the front and one from the back,
// because an early range has more later ones. It needs gradients of nearly all rows: only the products with
// them are shared.
//
// The route sums (layer_sums.cpp) costs 2 r p operations per row and a forward and a backward pass. It wins
// where there are many rows (its cost grows with n, that of gram with n^2) or many positions. The two routes
// for networks whose layers are not known are in vector_products.cpp.
#include "slimbayes/ntk/enrichment.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/ntk/layer_gradients.h"
#include "slimbayes/ntk/layer_sums.h"
#include "slimbayes/ntk/vector_products.h"

namespace slimbayes {

namespace {

constexpr double kLeastEigenvalue = 1e-10;  // as a share of the largest; smaller eigenvalues count as 0

using Blocks = std::vector<GradientBlock>;

/// Adds the sum of Q_i^T K_ij Q_j over the blocks i of x and j of y to m [r, r]. If x and y are the same
/// object, only the pairs with i <= j are added, and those with i = j count half: layer_gram adds the
/// transpose.
void add_tiles(const Blocks& x, const Blocks& y, const at::Tensor& q, const at::Tensor& m) {
  const bool same = &x == &y;
  for (size_t i = 0; i < x.size(); ++i) {
    const at::Tensor sum = at::zeros({x[i].to - x[i].from, q.size(1)}, q.options());  // sum_j K_ij Q_j
    for (size_t j = same ? i : 0; j < y.size(); ++j) {
      const double share = same && i == j ? 0.5 : 1;
      sum.addmm_(kernel_tile(x[i], y[j]), q.slice(0, y[j].from, y[j].to), 1, share);
    }
    m.addmm_(q.slice(0, x[i].from, x[i].to).t(), sum);
  }
}

at::Tensor layer_gram(const PlannedRows& planned, const at::Tensor& own, int64_t kept,
                      const GradientShare& share) {
  const GradientRows& rows = planned.rows;
  const at::Tensor q = on_device(share.joined(own), planned.model.device()),
                   half = at::zeros({q.size(1), q.size(1)}, q.options());
  const int64_t turns = 2 * share.parts;
  int64_t step = rows_at_once(planned.plan, planned.model, rows.size, kept);
  if (share.parts > 1) step = std::min(step, (rows.size + turns - 1) / turns);
  const auto range = [&](int64_t from) {
    return gradient_blocks(planned, from, std::min(rows.size, from + step));
  };
  share.sum([&] {
    for (int64_t i = 0; i < rows.size; i += step) {
      if (const int64_t turn = i / step % turns; share.part != std::min(turn, turns - 1 - turn)) continue;
      const Blocks x = range(i);
      add_tiles(x, x, q, half);
      for (int64_t j = i + step; j < rows.size; j += step) add_tiles(x, range(j), q, half);
    }
    return std::vector{half};
  });
  return on_cpu(half + half.t());
}

/// The number of floating-point operations that each exact route takes.
struct Flops {
  double gram, sums, weighted;
};

Flops flops_of(const PlannedRows& planned, int64_t columns, int64_t kept) {
  const auto& [model, rows, plan] = planned;
  const auto n = static_cast<double>(rows.size), r = static_cast<double>(columns),
             p = static_cast<double>(model.parameter_count());
  const double ranges = std::ceil(n / static_cast<double>(rows_at_once(plan, model, rows.size, kept)));
  const double row = 2 * plan.forward_flops + plan.gradient_flops;  // forward, backward, gradient vectors
  return {n * row * (ranges + 1) / 2 + n * n / 2 * (plan.pair_flops + 2 * r) + 2 * n * r * r,
          n * (row + plan.forming_flops + r * plan.column_flops) + 2 * p * r * r,
          n * plan.forward_flops * (1 + 2 * r) + 2 * p * r * r};
}

/// Returns the route for a matrix q of r columns and the reason for it; the field `gram` stays undefined.
/// Throws std::invalid_argument if the options ask for gram or sums and a layer is not known.
Enrichment route_of(const PlannedRows& planned, int64_t r, const EnrichmentOptions& options) {
  const auto& [model, rows, plan] = planned;
  const double held = 8.0 * static_cast<double>(r) * static_cast<double>(model.parameter_count());
  const bool fits = held <= static_cast<double>(options.bytes);
  const std::string too_large = fmt::format("a budget of {:.3g} MB does not hold the {:.3g} MB of A",
                                            static_cast<double>(options.bytes) / 1e6, held / 1e6);
  if (!plan.unknown.empty()) {
    const std::string& route = options.route;
    const std::string why = fmt::format("the routes gram and sums do not know {}", plan.unknown);
    check(route != "gram" && route != "sums", "enrichment", "a network of layers that the route knows",
          plan.unknown, "choose the route weighted, sketch or auto");
    if (route != "auto") return {{}, route, "as asked for; " + why};
    return {{}, fits ? "weighted" : "sketch", fits ? why : why + ", and " + too_large};
  }
  const Flops flops = flops_of(planned, r, options.kept);
  const std::string counts = fmt::format("gram {:.3g} GFLOP, sums {:.3g} GFLOP, weighted {:.3g} GFLOP",
                                         flops.gram / 1e9, flops.sums / 1e9, flops.weighted / 1e9);
  if (options.route != "auto") return {{}, options.route, "as asked for; " + counts};
  if (flops.gram <= flops.sums) return {{}, "gram", counts};
  return {{}, fits ? "sums" : "gram", fits ? counts : counts + "; " + too_large};
}

}  // namespace

at::Tensor projector(const at::Tensor& features, double ridge, const GradientShare& share,
                     const at::Tensor& weights) {
  check_shape(features, {-1, -1}, "projector", "features");
  const at::NoGradGuard no_grad;
  const at::Tensor phi = features.to(at::kDouble);
  at::Tensor counted = phi, rows = at::full({}, phi.size(0), at::kDouble);
  if (weights.defined()) {
    check_shape(weights, {phi.size(0)}, "projector", "weights");
    counted = phi * on_device(weights, phi.device()).to(at::kDouble).unsqueeze(1);
    rows = on_cpu(weights.sum(at::kDouble));
  }
  if (!(ridge >= 0 && std::isfinite(ridge)))
    refuse("projector", "a finite ridge of at least 0", fmt::format("{}", ridge));
  at::Tensor gram, n = rows;
  share.sum([&] {
    gram = on_cpu(phi.t().mm(counted));
    return std::vector{gram, n};
  });
  const auto [values, vectors] = spectrum(gram);
  const double all = n.item<double>(), of_a_row = all > 0 ? values.sum().item<double>() / all : 0;
  const at::Tensor inverse = at::where(values > kLeastEigenvalue * values.max(),
                                       (values + ridge * of_a_row).reciprocal(), at::zeros_like(values));
  return counted.mm(on_device(vectors * inverse, phi.device())).mm(on_device(vectors.t(), phi.device()));
}

Enrichment enrichment(const GradientModel& model, const GradientRows& rows, const at::Tensor& q,
                      const EnrichmentOptions& options, const Stream& stream, const GradientShare& share) {
  check_rows(rows, "enrichment");
  check_shape(q, {share.parts == 1 ? rows.size : -1, -1}, "enrichment", "q");
  if (q.scalar_type() != at::kDouble) refuse("enrichment", "q in float64", at::toString(q.scalar_type()));
  const std::string& route = options.route;
  constexpr std::array kRoutes = {"auto", "gram", "sums", "weighted", "sketch"};
  if (std::ranges::find(kRoutes, route) == kRoutes.end())
    refuse("enrichment", "a route of auto, gram, sums, weighted and sketch", "'" + route + "'");
  if (!(options.sketch >= 1 && options.sketch <= 1 << 30))
    refuse("enrichment", "a sketch of 1 to 2^30 dimensions", fmt::format("{}", options.sketch));
  const at::NoGradGuard no_grad;
  const int64_t r = q.size(1);
  if (rows.size == 0 || r == 0 || model.parameters.empty())
    return {at::zeros({r, r}, at::kDouble), "gram", "there are no gradients"};
  const PlannedRows planned{model, rows, gradient_plan(model, rows)};
  Enrichment result = route_of(planned, r, options);
  if (result.route == "gram")
    result.gram = layer_gram(planned, q, options.kept, share);
  else if (result.route == "sums")
    result.gram = summed_gram(planned, q, options.kept, share);
  else if (result.route == "weighted")
    result.gram = weighted_gram(planned, q, share);
  else
    result.gram = sketched_gram(planned, q, options.sketch, stream, share);
  return result;
}

double enrichment_flops(const GradientModel& model, const GradientRows& rows, int64_t columns,
                        const EnrichmentOptions& options) {
  check_rows(rows, "enrichment_flops");
  if (rows.size == 0 || columns == 0 || model.parameters.empty()) return 0;
  const at::NoGradGuard no_grad;
  PlannedRows planned{model, rows, gradient_plan(model, rows)};
  GradientPlan& plan = planned.plan;
  // The operations of unknown layers are not known. A forward pass uses each parameter at least once.
  plan.forward_flops = std::max(plan.forward_flops, 2.0 * static_cast<double>(model.parameter_count()));
  const Flops flops = flops_of(planned, columns, options.kept);
  const std::string route = route_of(planned, columns, options).route;
  return route == "gram" ? flops.gram : route == "sums" ? flops.sums : flops.weighted;
}

}  // namespace slimbayes
