// Whether the inputs tell which rows an interval covers.
//
// Problem     Intervals that hold their level on average may miss it given the inputs. The coverage given the
//             inputs cannot be counted: each input occurs once.
// Method      A classifier of "covered" that beats the constant level shows that the coverage given the
//             inputs is not the level, and its excess risk bounds by how much from below (excess_risk).
//             The classifier is cross-fitted, so that its flexibility cannot flatter it.
// Cost        Five fits of `logistic` on at most 20,000 rows: seconds.
// Source      arXiv 2512.11779 (excess risk of the target coverage).
// Deviations  The classifier is an additive logistic regression. Forests of trees, whose probabilities vary
//             with the rows of the leaves, have a Brier score clearly worse than the constant's where the
//             coverage is the level everywhere: the estimate is then negative by several standard errors.
#include "slimbayes/model/conditional/coverage_classifier.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/core/random.h"
#include "slimbayes/data/split/folds.h"
#include "slimbayes/method/registry.h"

namespace slimbayes {

namespace {

constexpr int64_t kRiskFolds = 5, kLeastRisk = 100, kMostRisk = 20000;
constexpr int64_t kMostHinged = 300, kMostEncoded = 1000;
constexpr uint64_t kRiskSeed = 2512;  // of the folds: the same rows get the same estimate

/// Returns the group of each row, rows with equal inputs in one. x [n, m] float32
std::vector<int64_t> equal_rows(const at::Tensor& x) {
  const at::Tensor own = (x + 0.0).contiguous();  // -0 and 0 are equal inputs
  const auto* bytes = reinterpret_cast<const char*>(own.const_data_ptr<float>());
  const size_t size = static_cast<size_t>(own.size(1)) * sizeof(float);
  std::unordered_map<std::string, int64_t> known;
  std::vector<int64_t> groups;
  for (int64_t i = 0; i < own.size(0); ++i)
    groups.push_back(known
                         .try_emplace(std::string(bytes + static_cast<size_t>(i) * size, size),
                                      static_cast<int64_t>(known.size()))
                         .first->second);
  return groups;
}

/// Returns the probability of z = 1 at `held` by a fit on x and z. [m]
at::Tensor fitted_probability(const at::Tensor& x, const at::Tensor& z, const at::Tensor& held) {
  const double n = static_cast<double>(z.numel()), ones = z.sum().item<double>();
  if (ones == 0 || ones == n) return at::full({held.size(0)}, (ones + 0.5) / (n + 1), at::kDouble);
  const Dataset rows = class_data(x, z, 2);
  const auto fitted = registry_row("logistic").make(nlohmann::json::object())->fit({rows, {}}, {});
  const Dataset asked = class_data(held, at::zeros({held.size(0)}, at::kDouble), 2);
  return std::get<Classes>(fitted->predict(asked)).probabilities.select(1, 1).to(at::kDouble);
}

ExcessRisk no_risk(std::string why) {
  ExcessRisk out;
  out.says = "There is no estimate: " + why + ".";
  out.absent = std::move(why);
  return out;
}

}  // namespace

at::Tensor with_hinges(const at::Tensor& x) {
  check_shape(x, {-1, -1}, "with_hinges", "x");
  check(x.size(0) > 0, "with_hinges", "rows", "none");
  const auto [sorted, order] = x.sort(0);
  std::vector<at::Tensor> columns = {x};
  int64_t count = x.size(1);
  for (int64_t j = 0; j < x.size(1); ++j) {
    const at::Tensor own = sorted.select(1, j);
    const double low = own[0].item<double>(), high = own[-1].item<double>();
    double last = low;
    for (int64_t k = 1; k < 5; ++k) {
      const double knot = own[k * x.size(0) / 5].item<double>();
      if (knot <= last || knot >= high) continue;
      columns.push_back((x.select(1, j) - knot).clamp_min(0).unsqueeze(1));
      last = knot;
      if (++count > kMostHinged) return x;
    }
  }
  return at::cat(columns, 1);
}

CoverageProbability cross_fitted_probability(const at::Tensor& x, const at::Tensor& z) {
  check_shape(x, {-1, -1}, "cross_fitted_probability", "x");
  check_shape(z, {x.size(0)}, "cross_fitted_probability", "z");
  const at::Tensor all = with_hinges(x.to(at::kFloat));
  const std::vector<Fold> folds = deal_folds(equal_rows(x.to(at::kFloat)), kRiskFolds, 0, Stream(kRiskSeed));
  CoverageProbability out{at::empty({x.size(0)}, at::kDouble), at::empty({x.size(0)}, at::kLong)};
  for (size_t k = 0; k < folds.size(); ++k) {
    const at::Tensor held = at::tensor(folds[k].held, at::kLong),
                     train = at::tensor(folds[k].train, at::kLong);
    out.p.index_copy_(
        0, held,
        fitted_probability(all.index_select(0, train), z.index_select(0, train), all.index_select(0, held)));
    out.fold.index_fill_(0, held, static_cast<int64_t>(k));
  }
  out.p.clamp_(0, 1);  // rounding of the averaged probabilities
  return out;
}

ExcessRisk coverage_risk(const Model& model, const Examples& examples, const Answers& answers,
                         const RowScores& scores) {
  if (!scores.covered.defined()) return no_risk("the classes have no sets, as the model is not calibrated");
  if (kind_of(model.encoder()) != InputKind::table)
    return no_risk("only rows of a table have inputs that a simple classifier takes one by one");
  if (scores.rows() < kLeastRisk) return no_risk(fmt::format("it needs {} rows", kLeastRisk));
  const Examples answered = answers.bad.empty() ? examples : take(examples, answers.rows);
  const Batch batch = dataset_of(model.encoder(), answered, /*with_target=*/false).all();
  at::Tensor x = batch.inputs.at(0).to(at::kCPU);
  if (x.size(1) > kMostEncoded)
    return no_risk(fmt::format("the inputs have more than {} encoded columns", kMostEncoded));
  RowScores some = scores;
  if (x.size(0) > kMostRisk) {
    const at::Tensor rows = Stream(kRiskSeed).permutation(x.size(0)).slice(0, 0, kMostRisk);
    x = x.index_select(0, rows);
    some = take(scores, rows);
  }
  const std::vector<int64_t> groups = equal_rows(x.to(at::kFloat));
  if (*std::ranges::max_element(groups) + 1 < kRiskFolds)
    return no_risk(fmt::format("it needs {} different inputs", kRiskFolds));
  const CoverageProbability fitted = cross_fitted_probability(x, some.covered);
  return excess_risk(some.covered, fitted.p, fitted.fold, answers.levels.front().level, some.weight);
}

}  // namespace slimbayes
