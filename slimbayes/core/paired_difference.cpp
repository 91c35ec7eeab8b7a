#include "slimbayes/core/paired_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "slimbayes/core/check.h"

namespace slimbayes {

bool PairedDifference::decided() const { return std::abs(mean) > bound; }

PairedDifference paired_difference(const std::vector<double>& differences, double test_share) {
  const bool finite = std::ranges::all_of(differences, [](double x) { return std::isfinite(x); });
  if (!(differences.size() >= 2 && finite))
    refuse("paired_difference", "at least two finite differences",
           fmt::format("{}{}", differences.size(), finite ? "" : ", not all finite"));
  if (!(test_share >= 0))
    refuse("paired_difference", "a share of test rows of at least 0", fmt::format("{}", test_share));
  const auto n = static_cast<double>(differences.size());
  const double mean = std::accumulate(differences.begin(), differences.end(), 0.0) / n;
  double squares = 0;
  for (const double x : differences) squares += (x - mean) * (x - mean);
  const double error = std::sqrt((1 / n + test_share) * squares / (n - 1));
  const double quantile = boost::math::quantile(boost::math::students_t(n - 1), 0.975);
  return {mean, error, quantile * error, static_cast<int64_t>(differences.size())};
}

}  // namespace slimbayes
