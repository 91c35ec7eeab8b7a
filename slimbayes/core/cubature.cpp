// Adaptive integration of a non-negative function over the cube [-1, 1]^d.
//
// Problem     An intensity may hold most of its integral in a peak that lies between the nodes of any fixed
//             rule.
// Method      The cube is divided into boxes. Each box has a value (its share of the integral) and an
//             estimated error. Each round halves the boxes with the largest errors, so many that the errors
//             of the other boxes sum to at most half the tolerance. All new boxes are evaluated in one call
//             of the integrand, at thousands of places.
//             Up to three axes: tensor products of a Gauss-Kronrod rule (15 nodes on one axis, 7 per axis on
//             two or three). The Kronrod rule on one axis is replaced by the Gauss rule that it contains, and
//             the change of the value is recorded. The error of a box is the sum of these changes over the
//             axes; the box is halved along the axis with the largest change.
//             More axes: uniform random points in each box; the error is the standard error of their mean.
//             The box is halved along the axis on which the means of its two halves differ most (Press and
//             Farrar, Computers in Physics 1990).
// Peaks       If no node of a box lies on a peak, the estimated error of the box is 0. So the integrand is
//             also evaluated at the probes, places given by the caller. If the value at a probe is more than
//             twice the greatest value at the nodes of its box, the nodes have missed a peak, and the error
//             of the box grows by its volume times the difference. The box is then halved until its nodes
//             find the peak. At the end of the search (up to three axes) places just outside the boxes with
//             the largest values become probes too: small boxes may have found a peak whose flank lies in a
//             large neighbouring box.
// Sources     Berntsen, Espelid and Genz (ACM TOMS 1991) for the scheme; the rules are those of Boost.Math.
//             No suitable library does all of this: the adaptive rules of Boost.Math work on one axis and one
//             place per call, and the library "cubature" is under the GPL, unlike this one.
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

constexpr int64_t kRuleAxes = 3;   // most axes for a product rule; on more it has too many nodes
constexpr int64_t kDraws = 64;     // random points per box, on more than kRuleAxes axes
constexpr int64_t kSplitAxes = 5;  // most axes halved by the first boxes, on more than kRuleAxes axes
constexpr int64_t kBusiest = 512;  // boxes next to which places are probed at the end
constexpr int kRounds = 500;       // limit on the rounds, never reached in practice

/// A list of c boxes. Each has its low and high corner [c, d], its estimated integral (value) and error, the
/// axis along which it will be halved, and the greatest value of the integrand at its nodes ([c] each).
struct Boxes {
  at::Tensor low, high;
  at::Tensor value, error, axis, greatest;

  int64_t size() const { return low.size(0); }
  at::Tensor volume() const { return (high - low).prod(1); }
};

Boxes joined(const Boxes& a, const Boxes& b) {
  auto cat = [](const at::Tensor& x, const at::Tensor& y) { return at::cat({x, y}); };
  return {cat(a.low, b.low),     cat(a.high, b.high), cat(a.value, b.value),
          cat(a.error, b.error), cat(a.axis, b.axis), cat(a.greatest, b.greatest)};
}

Boxes selected(const Boxes& a, const at::Tensor& which) {
  auto pick = [&](const at::Tensor& x) { return x.index_select(0, which); };
  return {pick(a.low), pick(a.high), pick(a.value), pick(a.error), pick(a.axis), pick(a.greatest)};
}

/// A Gauss-Kronrod pair on [-1, 1]: the nodes, their weights in the Kronrod rule, and their weights in the
/// Gauss rule. The Gauss rule uses every second node; its weight is 0 at the others. [q] each
struct RulePair {
  at::Tensor nodes, kronrod, gauss;
};

template <unsigned q>
RulePair pair_of() {
  using Kronrod = boost::math::quadrature::gauss_kronrod<double, q>;
  using Gauss = boost::math::quadrature::gauss<double, (q - 1) / 2>;
  RulePair pair{at::zeros({q}, at::kDouble), at::zeros({q}, at::kDouble), at::zeros({q}, at::kDouble)};
  const size_t half = q / 2;            // odd for q = 7 and 15: the Gauss rule then has a node at 0
  for (size_t i = 0; i <= half; ++i) {  // Boost lists the nodes >= 0, ascending
    for (size_t at : {half - i, half + i}) {
      const auto k = static_cast<int64_t>(at);
      pair.nodes[k] = (at < half ? -1 : 1) * Kronrod::abscissa()[i];
      pair.kronrod[k] = Kronrod::weights()[i];
      if (i % 2 == 0) pair.gauss[k] = Gauss::weights()[i / 2];
    }
  }
  return pair;
}

const RulePair& pair_for(int64_t d) {
  static const RulePair one = pair_of<15>(), several = pair_of<7>();
  return d == 1 ? one : several;
}

/// Returns the weights of a product rule: the outer product of d vectors [q], one per axis, flattened so that
/// the last axis varies fastest. [q^d]
at::Tensor product(const std::vector<at::Tensor>& axes) {
  at::Tensor all = axes[0];
  for (size_t i = 1; i < axes.size(); ++i) all = at::outer(all, axes[i]).reshape({-1});
  return all;
}

/// Sets the value, error and axis of c boxes by the Gauss-Kronrod rule, from the values of the
/// integrand [c, q] at the q nodes of each box.
void apply_rule(Boxes& boxes, const at::Tensor& values) {
  const int64_t d = boxes.low.size(1);
  const RulePair& pair = pair_for(d);
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

/// Sets the value, error and axis of c boxes from the values of the integrand [c, q] at q random places in
/// each box. `share` [c, q, d] gives the position of a place between the low (0) and the high (1) corner of
/// its box.
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

  /// Returns the boxes of the first round, without values. One axis is cut into 16 pieces, two axes into 6
  /// each and three into 2 each. On more axes the first kSplitAxes are halved.
  Boxes start() const {
    const int64_t pieces = d_ == 1 ? 16 : d_ == 2 ? 6 : 2;
    const int64_t cut = std::min(d_, d_ > kRuleAxes ? kSplitAxes : d_);
    const at::Tensor corner = at::arange(pieces, at::kDouble) * (2.0 / static_cast<double>(pieces)) - 1;
    at::Tensor low = tensor_grid({corner, at::ones_like(corner)}, cut).nodes;
    at::Tensor high = low + 2.0 / static_cast<double>(pieces);
    const at::Tensor rest = at::ones({low.size(0), d_ - cut}, at::kDouble);
    return {at::cat({low, -rest}, 1), at::cat({high, rest}, 1), {}, {}, {}, {}};
  }

  /// Evaluates the integrand in these boxes, sets their value, error, axis and greatest value, and appends
  /// them to boxes_.
  void measure(Boxes boxes) {
    const int64_t c = boxes.size(), q = nodes_of_box();
    const bool rule = d_ <= kRuleAxes;
    at::Tensor share;  // positions in a box, 0 to 1 on each axis, [c, q, d] or [1, q, d]
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

  /// Raises the error of each box whose nodes have missed a peak, and returns the sum of all increases. A box
  /// has missed a peak if a probe in it has more than twice the greatest value at its nodes. Its error then
  /// grows by its volume times the difference.
  static double count_unseen(Boxes& boxes, const at::Tensor& probes, const at::Tensor& at_probes) {
    if (probes.size(0) == 0) return 0;
    const at::Tensor place = probes.unsqueeze(0);
    const at::Tensor inside =
        ((place >= boxes.low.unsqueeze(1)) & (place <= boxes.high.unsqueeze(1))).all(2);  // [c, p]
    // If the value at a probe is NaN, nothing is known about its box, so the error becomes infinite.
    const at::Tensor values = at::where(at_probes.isnan(), INFINITY, at_probes);
    const at::Tensor most = std::get<0>(at::where(inside, values.unsqueeze(0), 0.0).max(1));
    const at::Tensor missed =
        at::where(most > 2 * boxes.greatest, boxes.volume() * (most - boxes.greatest), 0.0);
    // Nodes that missed the peak cannot tell along which axis to halve, so the longest side is halved.
    boxes.axis = at::where(missed > boxes.error, (boxes.high - boxes.low).argmax(1), boxes.axis);
    boxes.error = boxes.error + missed;
    return missed.sum().item<double>();
  }

  /// Adds probes next to the kBusiest boxes with the largest values: outside each face, at a quarter of the
  /// side's length. Raises the errors of the boxes that these probes show to be wrong (count_unseen) and
  /// returns the sum of the increases.
  double look_about() {
    const auto busiest = std::get<1>(boxes_.value.topk(std::min(kBusiest, boxes_.size())));
    const Boxes some = selected(boxes_, busiest);
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
    // The errors of random points in different boxes are independent, so their squares add up. The errors of
    // a rule may all have the same sign, so they add up themselves.
    double error = (d_ > kRuleAxes ? e.square().sum().sqrt() : e.sum()).item<double>();
    if (!std::isfinite(value)) error = std::numeric_limits<double>::infinity();
    return {value, error, nodes_};
  }

  /// Returns the indices of the boxes to halve: the fewest with the largest errors such that the errors of
  /// all other boxes sum to at most half the tolerance. Returns at most `room` boxes.
  at::Tensor worst(double tolerance, int64_t room) const {
    const auto [error, order] = boxes_.error.sort(/*dim=*/0, /*descending=*/true);
    const at::Tensor rest = error.sum() - error.cumsum(0);  // sum of the errors after each position
    const int64_t enough = (rest > tolerance / 2).sum().item<int64_t>() + 1;
    return order.narrow(0, 0, std::min({enough, room, boxes_.size()}));
  }

  void halve(const at::Tensor& which) {
    at::Tensor kept = at::ones({boxes_.size()}, at::kBool);
    kept.index_fill_(0, which, false);
    Boxes both = selected(boxes_, which);
    boxes_ = selected(boxes_, kept.nonzero().squeeze(1));
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
  at::Tensor probes_, at_probes_;  // places [p, d], values there [p]
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
