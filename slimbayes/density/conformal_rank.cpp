#include "slimbayes/density/conformal_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/density/philox.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

// The factor 1 - 1e-14 keeps a rounding error of the product from raising the rank by 1: 20 * 0.95 must give
// 19.
int64_t conformal_rank(int64_t groups, double level) {
  return static_cast<int64_t>(std::ceil(static_cast<double>(groups + 1) * level * (1 - 1e-14)));
}

int64_t conformal_rows(double level) {
  check_level(level, "conformal_rows");
  int64_t m = std::max<int64_t>(1, static_cast<int64_t>(level / (1 - level)) - 1);
  while (conformal_rank(m, level) > m) ++m;
  return m;
}

void check_conformal_rows(int64_t groups, double level, int64_t rows) {
  check_level(level, "conformal");
  const bool repeated = groups < rows;
  if (!(conformal_rank(groups, level) <= groups))
    refuse(
        "conformal",
        fmt::format("at least {} {} for a level of {:g}", conformal_rows(level),
                    repeated ? "groups of identical inputs among the calibration rows" : "calibration rows",
                    level),
        repeated ? fmt::format("{} groups ({} rows)", groups, rows) : fmt::format("{}", rows),
        "give more rows, fit with a larger `.calibration_fraction`, or lower `.level`");
}

void check_calibration_weight(std::span<const double> weight, std::string_view function,
                              std::string_view hint) {
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
  if (!(total <= kMostCalibrationWeight))
    refuse(function, "weights of the calibration rows that sum to at most 2^53, about 9e15",
           fmt::format("a sum of {:.3g}", total), hint);
}

namespace {

constexpr const char* kTooHeavy =
    "are the weights counts of rows? If they only say how much more frequent a row is than another, give "
    "`.weights_are=importance`";

/// Returns the factor of weighted rows. A sum of m weights has a relative rounding error of about m times
/// 1e-16, so both comparisons have a slack of 1e-10.
double weighted_factor(std::span<const double> scores, double level, std::span<const double> weight) {
  check_calibration_weight(weight, "conformal", kTooHeavy);
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
  check_conformal_rows(static_cast<int64_t>(std::floor(total * (1 + 1e-10))), level, std::ssize(scores));
  const double needed = (total + 1) * level * (1 - 1e-10);  // 1: the weight of the new row
  double upto = 0;
  size_t reached = 0;
  for (; reached + 1 < scores.size(); ++reached) {
    upto += weight[reached];
    if (upto >= needed) break;
  }
  return scores[reached];
}

}  // namespace

double conformal_factor(std::span<const double> scores, std::span<const int64_t> group, int64_t groups,
                        double level, std::span<const double> weight) {
  if (!weight.empty()) return weighted_factor(scores, level, weight);
  const auto m = std::ssize(scores);
  check_conformal_rows(groups, level, m);
  if (groups == m) return scores[static_cast<size_t>(conformal_rank(m, level) - 1)];
  std::vector<double> size(static_cast<size_t>(groups));
  for (const int64_t g : group) ++size[static_cast<size_t>(g)];
  // Rounding may leave a sum of weights 1 / n slightly below its exact value, so the weight that is needed is
  // lowered by a relative 1e-12.
  const double needed = static_cast<double>(groups + 1) * level * (1 - 1e-12);
  double upto = 0;  // weight of the rows up to a score; a row of a group of n rows weighs 1 / n
  size_t reached = 0;
  for (; reached + 1 < scores.size(); ++reached) {
    upto += 1 / size[static_cast<size_t>(group[reached])];
    if (upto >= needed) break;
  }
  return scores[reached];
}

double row_uniform(std::string_view bytes) {
  static const uint64_t key = philox::split(0, "prediction set");
  return philox::uniform(philox::split(key, bytes), 0);
}

double row_uniform(std::span<const float> inputs) {
  thread_local std::vector<float> own;
  own.assign(inputs.begin(), inputs.end());
  for (float& one : own) one += 0;  // turns -0 into 0
  return row_uniform(std::string_view(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(float)));
}

void mark_set(std::span<const double> p, double u, double factor, std::span<unsigned char> set) {
  // The factor 1 + 1e-9 is for rounding: a class whose score equals the threshold must be in the set.
  for (size_t c = 0; c < p.size(); ++c) {
    double before = 0;  // sum over the more probable classes
    for (size_t d = 0; d < p.size(); ++d)
      if (p[d] > p[c] || (p[d] == p[c] && d < c)) before += p[d];
    set[c] = before + u * p[c] <= factor * (1 + 1e-9);
  }
}

}  // namespace slimbayes
