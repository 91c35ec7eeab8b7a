// Methods that know next to nothing of networks: what every other method must beat.
#include <algorithm>
#include <cmath>

#include "slimbayes/catalog/families.h"
#include "slimbayes/catalog/method_entry.h"
#include "slimbayes/methods/plain/bag_of_words_options.h"
#include "slimbayes/methods/plain/plain_options.h"

namespace slimbayes {
namespace {

/// The Gram matrix of the columns, its spectrum and the posterior.
FitCost ridge_cost(const FitSize& size, const nlohmann::json&) {
  constexpr double kSpectrum = 30;  // of d^3 operations, with the posterior
  const auto n = static_cast<double>(size.rows), d = static_cast<double>(size.input.numel());
  const double all = 2 * n * d * d + kSpectrum * d * d * d;
  return {all, all, 2 * d * d, 3 * 8 * d * d};
}

/// A hundred passes over the rows of the search and ten over all, with the full Hessian of m coefficients or,
/// if they are many, without it.
FitCost logistic_cost(const FitSize& size, const nlohmann::json&) {
  constexpr double kSearch = 100, kPasses = 10, kSlow = 10, kMostFull = 2000, kSearchWork = 4e9;
  constexpr double kOfElement = 250;  // of a row's probabilities and curvature
  constexpr double kLeftOut = 1e6;    // of a left-out row and class: draws for some priors and spreads
  const auto n = static_cast<double>(size.rows), d = static_cast<double>(size.input.numel());
  const auto classes = static_cast<double>(std::max<int64_t>(2, size.outputs)), m = (classes - 1) * (d + 1);
  const double of_row = 2 * m * m + kOfElement * d * classes, some = std::min(n, kSearchWork / (m * m));
  const double all = m <= kMostFull ? kSearch * (some * of_row + m * m * m) + kPasses * n * of_row
                                    : (kSearch + kPasses) * kSlow * n * d * classes + 30 * d * d * d;
  const double search = all + kLeftOut * some * classes;
  return {search, search, 2 * std::min(m * m, classes * d * d), 3 * 8 * std::min(m, kMostFull) * m};
}

/// The trees of the first fold of the choice, on some of the rows, and a tenth of the forest: both end early
/// if they must. Each tree has a pass over its rows and columns at every depth, and numbers of all classes in
/// each node.
FitCost extra_trees_cost(const FitSize& size, const nlohmann::json& options) {
  constexpr double kOfElement = 60, kOfClass = 10, kOfPosterior = 120, kOfStep = 500,
                   kOfTree = 3e4;  // operations
  constexpr double kChoice = 64, kMostRows = 8000, kMostCells = 2e5, kLeast = 0.1;
  const auto n = static_cast<double>(size.rows), d = static_cast<double>(size.input.numel());
  const auto classes = static_cast<double>(std::max<int64_t>(2, size.outputs));
  const double trees = options.value("trees", 200.0), most = std::max(100.0, 1e5 / classes);
  const double rows = std::min({n, most, options.value("tree_rows", 20000.0)});
  const auto tree = [&](double of, double posteriors) {
    return kOfTree + of * (d * (kOfElement * std::log2(of + 2) + kOfClass * classes) +
                           kOfPosterior * classes * posteriors);
  };
  const double some = std::min({n, kMostRows, rows, std::max(500.0, kMostCells / d)});
  const double finish = trees * kOfPosterior * classes * rows;
  return {kChoice * tree(some, 7) + kLeast * trees * tree(rows, 1), finish,
          trees * (kOfStep * std::log2(rows + 2) + classes), 16 * trees * rows * classes};
}

MethodInfo ridge() {
  MethodInfo info;
  info.name = "ridge";
  info.summary =
      "Bayesian linear regression on the encoded columns, in closed form: the rival that every network must "
      "beat.";
  info.tasks = {TaskKind::regression};
  info.inputs = {InputKind::table, InputKind::windows};
  info.paper = "MacKay 1992 (evidence of a linear model)";
  info.input_scale = "standard";
  info.seeded = false;
  info.needs_validation = false;
  info.variance_grows_away = true;
  info.plain = true;
  info.streams = true;
  info.cost = ridge_cost;
  return with_options<RidgeOptions>(std::move(info));
}

MethodInfo logistic() {
  MethodInfo info;
  info.name = "logistic";
  info.summary =
      "Bayesian logistic regression on the encoded columns: the rival that every classifier must beat.";
  info.tasks = {TaskKind::classification};
  info.inputs = {InputKind::table, InputKind::windows};
  info.paper = "MacKay 1992 (evidence of a classifier), Laplace approximation";
  info.input_scale = "standard";
  info.seeded = false;
  info.needs_validation = false;
  info.variance_grows_away = true;
  info.plain = true;
  info.streams = true;
  info.cost = logistic_cost;
  return with_options<LogisticOptions>(std::move(info));
}

MethodInfo extra_trees() {
  MethodInfo info;
  info.name = "extra-trees";
  info.summary =
      "A forest of random trees with posteriors in the leaves: the rival for classes with sharp borders, "
      "ready in a second.";
  info.tasks = {TaskKind::classification};
  info.inputs = {InputKind::table, InputKind::windows};
  info.paper = "Geurts et al. 2006 (extremely randomised trees)";
  info.input_scale = "standard";
  info.needs_validation = false;
  info.plain = true;
  info.cost = extra_trees_cost;
  return with_options<ExtraTreesOptions>(std::move(info));
}

/// Three epochs over texts of some 64 words.
FitCost bag_of_words_cost(const FitSize& size, const nlohmann::json& options) {
  constexpr double kEpochs = 3, kPasses = 3, kSlow = 20, kWords = 64;
  const double pass = kSlow * kWords * options.value("hidden", 64.0);
  const double epoch = pass * static_cast<double>(size.rows);
  return {kEpochs * kPasses * epoch, epoch, pass,
          40 * options.value("hidden", 64.0) * static_cast<double>(size.tokens)};
}

MethodInfo bag_of_words() {
  MethodInfo info = network_method("bag-of-words", {TaskKind::regression, TaskKind::classification});
  info.inputs = {InputKind::text};
  info.summary =
      "A text as the mean of trained vectors of its words, in any order: the rival that a transformer must "
      "beat.";
  info.paper = "Joulin et al. 2017 (fastText)";
  info.parts = SdParts::noise_only;
  info.plain = true;
  info.cost = bag_of_words_cost;
  return with_options<BagOfWordsOptions>(std::move(info));
}

MethodInfo constant() {
  MethodInfo info;
  info.name = "constant";
  info.summary = "The distribution of the training targets for every row: the score of knowing nothing.";
  info.tasks = {TaskKind::regression, TaskKind::classification, TaskKind::counts};
  info.inputs = every_input();
  info.paper = "slimbayes (conjugate posteriors of a constant)";
  info.input_scale = "standard";
  info.parts = SdParts::noise_only;
  info.seeded = false;
  info.needs_validation = false;
  info.plain = true;
  info.streams = true;
  return with_options<ConstantOptions>(std::move(info));
}

}  // namespace

std::vector<MethodInfo> plain_methods() {
  return {ridge(), logistic(), extra_trees(), bag_of_words(), constant()};
}

}  // namespace slimbayes
