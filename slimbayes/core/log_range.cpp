#include "slimbayes/core/log_range.h"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

namespace slimbayes {

namespace {

constexpr int kSteps = 24;

}  // namespace

int LogRange::points() const { return given() ? 1 : kSteps + 1; }

double LogRange::point(int i) const {
  return i == kSteps ? high : low * std::pow(high / low, static_cast<double>(i) / kSteps);
}

LeastScore least_score(const LogRange& range, const std::function<double(double)>& score) {
  constexpr double kNoScore = 1e100;  // stands for NaN and infinity, which Brent's method cannot take
  constexpr int kBits = 16;           // to which the logarithm is found
  std::uintmax_t most = 100;          // most scores that Brent's method may compute
  const auto finite = [&](double x) {
    const double value = score(x);
    return std::isfinite(value) ? value : kNoScore;
  };
  int best = 0;
  LeastScore found{range.point(0), finite(range.point(0))};
  for (int i = 1; i < range.points(); ++i) {
    const double now = finite(range.point(i));
    if (now < found.score) best = i, found = {range.point(i), now};
  }
  if (!range.given() && found.score < kNoScore) {
    const auto number = [&](double log) { return std::clamp(std::exp(log), range.low, range.high); };
    const auto [log, value] = boost::math::tools::brent_find_minima(
        [&](double x) { return finite(number(x)); }, std::log(range.point(std::max(best - 1, 0))),
        std::log(range.point(std::min(best + 1, kSteps))), kBits, most);
    if (value < found.score) found = {number(log), value};
  }
  if (found.score == kNoScore) found.score = std::numeric_limits<double>::infinity();
  return found;
}

}  // namespace slimbayes
