#include "slimbayes/method/stored_statistics.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

constexpr const char* kStatistics = "model file";
constexpr double kMostRows = 9007199254740992;  // 2^53: doubles hold every whole number up to this one

}  // namespace

void store_statistics(const LinearStatistics& s, Weights& weights, const std::string& prefix) {
  weights[prefix + "S"] = s.S;
  weights[prefix + "c"] = s.c;
  weights[prefix + "ones_phi"] = s.ones_phi;
  std::vector<double> sums = {s.yy, s.ones_y, s.ones_ones, s.log_det_d, s.n, s.y_shift};
  weights[prefix + "sums"] = at::tensor(sums, at::kDouble);
}

LinearStatistics statistics_from(const Network::Lookup& given, int64_t rank, const std::string& prefix) {
  // A damaged file may name another type.
  const auto lookup = [&](const std::string& name) { return given(name).to(at::kDouble); };
  LinearStatistics s;
  s.S = lookup(prefix + "S");
  s.c = lookup(prefix + "c");
  s.ones_phi = lookup(prefix + "ones_phi");
  at::Tensor sums = lookup(prefix + "sums");
  check_shape(s.S, {rank, rank}, kStatistics, prefix + "S");
  check_shape(s.c, {rank}, kStatistics, prefix + "c");
  check_shape(s.ones_phi, {rank}, kStatistics, prefix + "ones_phi");
  check_shape(sums, {6}, kStatistics, prefix + "sums");
  const double* value = sums.const_data_ptr<double>();
  s.yy = value[0];
  s.ones_y = value[1];
  s.ones_ones = value[2];
  s.log_det_d = value[3];
  if (!(value[4] >= 0 && value[4] <= kMostRows))
    refuse(kStatistics, fmt::format("a number of rows in {}sums", prefix), fmt::format("{}", value[4]),
           "the model file is damaged");
  s.n = value[4];
  s.y_shift = value[5];
  return s;
}

bool same_but_statistics(const Weights& a, const Weights& b) {
  const auto others = [](const Weights& all) {
    std::vector<Weights::const_iterator> found;
    for (auto one = all.begin(); one != all.end(); ++one) {
      if (!one->first.starts_with("statistics.")) found.push_back(one);
    }
    return found;
  };
  return std::ranges::equal(others(a), others(b), [](const auto& x, const auto& y) {
    return x->first == y->first && x->second.scalar_type() == y->second.scalar_type() &&
           at::equal(x->second, y->second);
  });
}

}  // namespace slimbayes
