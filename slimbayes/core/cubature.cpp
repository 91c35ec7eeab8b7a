// Adaptive integrals of a positive function over the cube.
//
// Problem     An intensity may hold most of its mass in a peak that lies between the nodes of any fixed rule.
// Method      Boxes that share out the cube, each with a value and an error; in each round the boxes whose errors make up
//             the excess over the tolerance are halved, all at once, so that the integrand sees thousands of places a call.
//             Up to three axes: tensor products of a Gauss-Kronrod rule (of 15 nodes on one axis, of 7 on two or three).
//             The error of a box is what the Gauss rule in place of Kronrod's on one axis changes, summed over the axes;
//             it is halved along the axis of the largest change. Beyond: uniform points in each box, their standard
//             error, and the axis on which the means of the two halves differ most (Press and Farrar, Computers in
//             Physics 1990).
// Peaks       A peak that no node of the first boxes sees has an error estimate of 0. So the integrand is also asked for
//             at the probes: a box in which a probe's value is above twice the greatest at its nodes has not seen the
//             probe's peak, and its volume times the difference counts as error until it has. Before the search ends,
//             places just outside the boxes that hold most are probes too: the flank of a peak that small boxes have
//             found may lie in a large neighbour.
// Sources     Berntsen, Espelid and Genz (ACM TOMS 1991) for the scheme; the rules are Boost.Math's. No library
//             has all of it: Boost.Math's adaptive rules are for one axis and one place a call, cubature is under the GPL,
//             which this library is not.
#include "slimbayes/core/cubature.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <limits>

#include "slimbayes/core/check.h"
#include "slimbayes/core/quadrature.h"
#include "slimbayes/core/random.h"

namespace slimbayes {

namespace {

using Integrand = std::function<at::Tensor(const at::Tensor& x)>;

constexpr int64_t kRuleAxes = 3;   // beyond, a product rule has too many nodes
constexpr int64_t kDraws = 64;     // of a box beyond them
constexpr int64_t kSplitAxes = 5;  // that the first boxes halve, beyond them
constexpr int64_t kBusiest = 512;  // boxes whose surroundings are looked at
constexpr int kRounds = 500;       // a bound never reached

/// Boxes [c, d] with what is known of each. [c]
struct Boxes {
  at::Tensor low, high;
  at::Tensor value, error, axis, greatest;  // greatest: of the values at the nodes

  int64_t size() const { return low.size(0); }
  at::Tensor volume() const { return (high - low).prod(1); }
};

Boxes joined(const Boxes& a, const Boxes& b) {
  auto cat = [](const at::Tensor& x, const at::Tensor& y) { return at::cat({x, y}); };
  return {cat(a.low, b.low),     cat(a.high, b.high), cat(a.value, b.value),
          cat(a.error, b.error), cat(a.axis, b.axis), cat(a.greatest, b.greatest)};
}

Boxes chosen(const Boxes& a, const at::Tensor& which) {
  auto pick = [&](const at::Tensor& x) { return x.index_select(0, which); };
  return {pick(a.low), pick(a.high), pick(a.value), pick(a.error), pick(a.axis), pick(a.greatest)};
}

/// On [-1, 1]: the nodes, Kronrod's weights and those of the Gauss rule on every second node, 0 on the
/// others. [q]
struct Pair {
  at::Tensor nodes, kronrod, gauss;
};

template <unsigned q>
Pair pair_of() {
  using Kronrod = boost::math::quadrature::gauss_kronrod<double, q>;
  using Gauss = boost::math::quadrature::gauss<double, (q - 1) / 2>;
  Pair pair{at::zeros({q}, at::kDouble), at::zeros({q}, at::kDouble), at::zeros({q}, at::kDouble)};
  const size_t half = q / 2;            // odd: the Gauss rule has a node at 0
  for (size_t i = 0; i <= half; ++i) {  // Boost gives the half from 0 up
    for (size_t at : {half - i, half + i}) {
      const auto k = static_cast<int64_t>(at);
      pair.nodes[k] = (at < half ? -1 : 1) * Kronrod::abscissa()[i];
      pair.kronrod[k] = Kronrod::weights()[i];
      if (i % 2 == 0) pair.gauss[k] = Gauss::weights()[i / 2];
    }
  }
  return pair;
}

const Pair& pair_for(int64_t d) {
  static const Pair one = pair_of<15>(), several = pair_of<7>();
  return d == 1 ? one : several;
}

/// The product of a vector for each axis. [q^d], the last axis fastest
at::Tensor product(const std::vector<at::Tensor>& axes) {
  at::Tensor all = axes[0];
  for (size_t i = 1; i < axes.size(); ++i) all = at::outer(all, axes[i]).reshape({-1});
  return all;
}

/// Value, error and axis from values [c, q] at the nodes of a product rule.
void apply_rule(Boxes& boxes, const at::Tensor& values) {
  const int64_t d = boxes.low.size(1);
  const Pair& pair = pair_for(d);
  const std::vector<at::Tensor> kronrod(static_cast<size_t>(d), pair.kronrod);
  const at::Tensor scale = boxes.volume() / std::pow(2.0, static_cast<double>(d));
  std::vector<at::Tensor> changes;
  for (size_t i = 0; i < kronrod.size(); ++i) {
    std::vector<at::Tensor> other = kronrod;
    other[i] = pair.kronrod - pair.gauss;
    changes.push_back((scale * at::mv(values, product(other))).abs());
  }
  const at::Tensor change = at::stack(changes, 1);  // [c, d]
  boxes.value = scale * at::mv(values, product(kronrod));
  boxes.error = change.sum(1);
  boxes.axis = change.argmax(1);
}

/// Value, error and axis from values [c, q] at random places, in shares [c, q, d] of a box's sides.
void apply_draws(Boxes& boxes, const at::Tensor& values, const at::Tensor& share) {
  const at::Tensor upper = (share > 0.5).to(at::kDouble), lower = 1 - upper, each = values.unsqueeze(2);
  auto mean_where = [&](const at::Tensor& in) { return (each * in).sum(1) / in.sum(1).clamp_min(1); };
  const at::Tensor volume = boxes.volume();
  boxes.value = volume * values.mean(1);
  boxes.error = volume * values.std(1) / std::sqrt(static_cast<double>(kDraws));
  boxes.axis = (mean_where(upper) - mean_where(lower)).abs().argmax(1);
}

class Search {
 public:
  Search(const Integrand& f, const at::Tensor& probes)
      : f_(f), probes_(probes.to(at::kDouble)), d_(probes.size(1)) {
    at_probes_ = probes_.size(0) > 0 ? values(probes_) : at::zeros({0}, at::kDouble);
  }

  Integral run(const Accuracy& accuracy) {
    measure(start());
    for (int round = 0; round < kRounds; ++round) {
      const Integral now = total();
      const double tolerance = accuracy.relative * std::abs(now.value);
      const int64_t room = (accuracy.nodes - nodes_) / (2 * nodes_of_box());
      if (!std::isfinite(now.error) || room < 1) return now;
      if (now.error <= tolerance && (d_ > kRuleAxes || look_about() <= tolerance / 2)) return total();
      halve(worst(tolerance, room));
    }
    return total();
  }

 private:
  int64_t nodes_of_box() const {
    if (d_ > kRuleAxes) return kDraws;
    return static_cast<int64_t>(std::pow(static_cast<double>(pair_for(d_).nodes.size(0)), d_));
  }

  at::Tensor values(const at::Tensor& x) {
    nodes_ += x.size(0);
    return f_(x).to(at::kDouble);
  }

  /// The first boxes: 16 of an axis, 6 x 6, 2 x 2 x 2, or the halves of five axes.
  Boxes start() const {
    const int64_t pieces = d_ == 1 ? 16 : d_ == 2 ? 6 : 2;
    const int64_t cut = std::min(d_, d_ > kRuleAxes ? kSplitAxes : d_);
    const at::Tensor corner = at::arange(pieces, at::kDouble) * (2.0 / static_cast<double>(pieces)) - 1;
    at::Tensor low = tensor_grid({corner, at::ones_like(corner)}, cut).nodes;
    at::Tensor high = low + 2.0 / static_cast<double>(pieces);
    const at::Tensor rest = at::ones({low.size(0), d_ - cut}, at::kDouble);
    return {at::cat({low, -rest}, 1), at::cat({high, rest}, 1), {}, {}, {}, {}};
  }

  /// Asks for the integrand in these boxes and adds them.
  void measure(Boxes boxes) {
    const int64_t c = boxes.size(), q = nodes_of_box();
    const bool rule = d_ <= kRuleAxes;
    at::Tensor share;  // of a box's sides, [c, q, d]
    if (rule) {
      const at::Tensor nodes = pair_for(d_).nodes;
      share = ((tensor_grid({nodes, nodes}, d_).nodes + 1) / 2).unsqueeze(0);
    } else {
      share = Stream(0).split("cubature").split(static_cast<uint64_t>(drawn_++)).uniform({c, q, d_});
    }
    const at::Tensor side = boxes.high - boxes.low;
    const at::Tensor x = boxes.low.unsqueeze(1) + side.unsqueeze(1) * share;
    const at::Tensor f = values(x.reshape({c * q, d_})).reshape({c, q});
    if (rule)
      apply_rule(boxes, f);
    else
      apply_draws(boxes, f, share);
    boxes.greatest = std::get<0>(f.max(1));
    count_unseen(boxes, probes_, at_probes_);
    boxes_ = boxes_.low.defined() ? joined(boxes_, boxes) : boxes;
  }

  /// Adds to each box's error its volume times what a probe's value is above the greatest at its nodes, where
  /// it is more than the double. The sum of what was added.
  static double count_unseen(Boxes& boxes, const at::Tensor& probes, const at::Tensor& at_probes) {
    if (probes.size(0) == 0) return 0;
    const at::Tensor place = probes.unsqueeze(0);
    const at::Tensor inside =
        ((place >= boxes.low.unsqueeze(1)) & (place <= boxes.high.unsqueeze(1))).all(2);  // [c, p]
    const at::Tensor most = std::get<0>(at::where(inside, at_probes.unsqueeze(0), 0.0).max(1));
    const at::Tensor missed =
        at::where(most > 2 * boxes.greatest, boxes.volume() * (most - boxes.greatest), 0.0);
    // The nodes know no direction there: the longest side.
    boxes.axis = at::where(missed > boxes.error, (boxes.high - boxes.low).argmax(1), boxes.axis);
    boxes.error = boxes.error + missed;
    return missed.sum().item<double>();
  }

  /// Makes probes of the places a quarter of a side outside each face of the boxes that hold most.
  double look_about() {
    const auto busiest = std::get<1>(boxes_.value.topk(std::min(kBusiest, boxes_.size())));
    const Boxes some = chosen(boxes_, busiest);
    const at::Tensor step = 0.75 * at::diag_embed(some.high - some.low);  // [c, d, d]
    const at::Tensor middle = ((some.low + some.high) / 2).unsqueeze(1);
    at::Tensor places = at::cat({middle - step, middle + step}, 1).reshape({-1, d_});
    places = places.index_select(0, (places.abs() < 1).all(1).nonzero().squeeze(1));
    const at::Tensor there = values(places);
    probes_ = at::cat({probes_, places});
    at_probes_ = at::cat({at_probes_, there});
    return count_unseen(boxes_, places, there);
  }

  Integral total() const {
    const double value = boxes_.value.sum().item<double>();
    const at::Tensor e = boxes_.error;
    // Errors of draws are independent of each other; those of a rule may all have one sign.
    double error = (d_ > kRuleAxes ? e.square().sum().sqrt() : e.sum()).item<double>();
    if (!std::isfinite(value)) error = std::numeric_limits<double>::infinity();
    return {value, error, nodes_};
  }

  /// The fewest boxes without which the sum of errors is below half the tolerance, `room` of them at most.
  at::Tensor worst(double tolerance, int64_t room) const {
    const auto [error, order] = boxes_.error.sort(/*dim=*/0, /*descending=*/true);
    const at::Tensor rest = error.sum() - error.cumsum(0);  // of those behind each
    const int64_t enough = (rest > tolerance / 2).sum().item<int64_t>() + 1;
    return order.narrow(0, 0, std::min({enough, room, boxes_.size()}));
  }

  void halve(const at::Tensor& which) {
    at::Tensor kept = at::ones({boxes_.size()}, at::kBool);
    kept.index_fill_(0, which, false);
    Boxes both = chosen(boxes_, which);
    boxes_ = chosen(boxes_, kept.nonzero().squeeze(1));
    const at::Tensor axis = both.axis.unsqueeze(1);
    const at::Tensor middle = ((both.low + both.high) / 2).gather(1, axis);
    measure({at::cat({both.low, both.low.scatter(1, axis, middle)}),
             at::cat({both.high.scatter(1, axis, middle), both.high}),
             {},
             {},
             {},
             {}});
  }

  const Integrand& f_;
  at::Tensor probes_, at_probes_;  // [p, d], [p]
  int64_t d_, nodes_ = 0, drawn_ = 0;
  Boxes boxes_;
};

}  // namespace

Integral integral(const Integrand& f, const at::Tensor& probes, const Accuracy& accuracy) {
  check_shape(probes, {-1, -1}, "integral", "probes");
  check(probes.size(1) >= 1, "integral", "at least one axis", "none");
  at::NoGradGuard no_grad;
  return Search(f, probes).run(accuracy);
}

}  // namespace slimbayes
