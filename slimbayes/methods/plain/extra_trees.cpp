#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/data/split/folds.h"
#include "slimbayes/engine/spec/answer_spec.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/methods/plain/plain_options.h"
#include "slimbayes/methods/plain/rows.h"
#include "slimbayes/methods/plain/tree.h"
#include "slimbayes/train/until_deadline.h"

// extra-trees: a forest of extremely randomised trees whose leaves have posteriors (Geurts, Ernst and
// Wehenkel 2006; the leaves as in the Mondrian forest of Lakshminarayanan, Roy and Teh 2014).
//
// Model       P(c | x) = mean over the trees of E[p_c], with the probabilities p of the leaf of x in the
//             tree. p ~ Dirichlet with the mean of the node above (methods/plain/tree). x are the encoded
//             columns, of a window those of all its rows.
// Estimator   The trees are random. Two numbers are chosen by the log score of left-out rows: how many
//             columns a split tries, and for how many rows the node above counts.
// Cost        O(n d (log n + K)) per tree of n rows, d columns and K classes, some 450 times with the choice.
//             A leaf has K numbers. A prediction follows one path in each tree.
// When        As the rival for classes with sharp borders, or with many columns that say nothing. It is the
//             answer of the nearest leaf for rows far from the data, however far: the ignorance does not
//             grow.
// Deviations  A split is chosen by the entropy. Trees of large tables, and of many classes, grow on random
//             rows of them.
// Weights     A tree grows on whole rows: those with weights are repeated for each tree anew, a row of weight
//             w floor(w) or ceil(w) times and w times on average. The counts of its leaves stay whole
//             numbers; whole weights are exact.

namespace slimbayes {

namespace {

constexpr const char* kExtraTrees = "extra-trees";

/// What the left-out rows choose.
struct ForestChoice {
  int64_t tried;       // columns of a split
  double parent_rows;  // as which the node above counts
};

/// Returns how many rows a tree grows on at most: every leaf has a number for each class.
int64_t rows_of_tree(const ExtraTreesOptions& options, int64_t classes) {
  constexpr int64_t kMostCounts = 100000, kFewest = 100;
  return std::min(options.tree_rows, std::max(kFewest, kMostCounts / classes));
}

/// The rows of a forest: their columns and classes, and their weights, empty if each counts once.
struct ForestRows {
  ClassRows classes;
  std::vector<double> weights;
};

/// x [n, d] float32, y [n], weights [n] or undefined. A tree grows on at most `most` rows.
ForestRows forest_rows(const at::Tensor& x, const at::Tensor& y, int64_t classes, const at::Tensor& weights,
                       int64_t most) {
  if (!weights.defined()) return {ClassRows(x, y, classes), {}};
  const at::Tensor own = weights.to(at::kDouble).contiguous();
  return {ClassRows(x, y, classes, repeated_count(own.sum().item<double>(), most)),
          {own.const_data_ptr<double>(), own.const_data_ptr<double>() + own.numel()}};
}

/// Grows trees, each on all rows of `of` or on `most` random ones of them, in parallel blocks; rows with
/// weights are repeated for each tree anew (repeated_rows). If the time is over it ends with the trees that
/// there are, at least eight.
std::vector<Tree> grown(const ForestRows& all, const std::vector<int32_t>& of, int64_t trees, int64_t most,
                        int64_t tried, const Stream& stream, Callback* callback) {
  constexpr int64_t kFewest = 8;
  std::vector<Tree> forest;
  const ClassRows& rows = all.classes;
  const auto one = [&](int64_t k) {
    const Stream own = stream.split(static_cast<uint64_t>(k));
    if (!all.weights.empty())
      return grown_tree(rows, repeated_rows(of, all.weights, most, own.split("rows")), tried,
                        own.split("cuts"));
    if (std::ssize(of) <= most) return grown_tree(rows, of, tried, own.split("cuts"));
    const at::Tensor order = own.split("rows").permutation(std::ssize(of));
    std::vector<int32_t> some;
    for (int64_t i = 0; i < most; ++i)
      some.push_back(of[static_cast<size_t>(order.const_data_ptr<int64_t>()[i])]);
    return grown_tree(rows, std::move(some), tried, own.split("cuts"));
  };
  const auto block = std::max<int64_t>(1, at::get_num_threads());
  for (int64_t k = 0; k < trees && (k < kFewest || !asked_to_end(callback)); k += block) {
    const int64_t end = std::min(trees, k + block);
    forest.resize(static_cast<size_t>(end));
    on_library_threads(end - k, [&](int64_t i) { forest[static_cast<size_t>(k + i)] = one(k + i); });
  }
  return forest;
}

/// The rows that choose, all or equally spaced ones of a large table, dealt into folds. Rows with equal
/// inputs are dealt apart: where inputs repeat, new rows will repeat them too.
struct LeftOut {
  at::Tensor x;        // [n, d] float32
  at::Tensor y;        // [n]
  at::Tensor weights;  // [n]; undefined: each counts once
  std::vector<Fold> folds;
};

LeftOut left_out_rows(const Dataset& rows, const Stream& stream) {
  constexpr int64_t kMost = 8000, kFewest = 500, kMostCells = 200000, kFolds = 5;
  LeftOut some;
  const int64_t n = rows.size(), d = rows.schema.input.numel();
  const int64_t most = std::min({n, kMost, std::max(kFewest, kMostCells / d)});
  const Dataset chosen =
      most == n ? rows : rows.subset(at::floor_divide(at::arange(most, at::kLong) * n, most));
  const RowTensors tensors = tensors_of(chosen, at::kFloat);
  some.x = tensors.x.reshape({tensors.x.size(0), -1}).contiguous();
  some.y = tensors.y.to(at::kLong);
  some.weights = chosen.weights();
  std::vector<int64_t> each(static_cast<size_t>(most));
  std::iota(each.begin(), each.end(), 0);
  if (most >= 2) some.folds = deal_folds(each, std::min(kFolds, most), 0, stream);
  return some;
}

/// Returns the sum of the log probabilities of a fold's held-out rows, each times its weight, for each of
/// `parent_rows`, by trees on its other rows; nothing if the time ends before.
std::optional<std::vector<double>> log_scores(const ForestRows& all, const LeftOut& some, const Fold& fold,
                                              int64_t tried, int64_t most,
                                              const std::vector<double>& parent_rows, const Stream& stream,
                                              Callback* callback) {
  constexpr int64_t kTrees = 32;
  const ClassRows& rows = all.classes;
  const std::vector<int32_t> train(fold.train.begin(), fold.train.end());
  const std::vector<Tree> forest = grown(all, train, kTrees, most, tried, stream, callback);
  std::vector<double> scores;
  for (const double parent : parent_rows) {
    std::vector<double> p(fold.held.size(), 0.0);
    for (const Tree& tree : forest) {
      if (asked_to_end(callback)) return {};
      const engine::LeafPosterior leaves = leaf_posterior(tree, rows.classes, parent);
      for (size_t i = 0; i < p.size(); ++i) {
        const auto row = static_cast<size_t>(fold.held[i]);
        const float* x = some.x.const_data_ptr<float>() + fold.held[i] * rows.columns;
        p[i] += leaves.mean[static_cast<size_t>(leaf_of(tree.nodes, x) * rows.classes + rows.y[row])];
      }
    }
    double score = 0;
    for (size_t i = 0; i < p.size(); ++i) {
      const double log_p = std::log(p[i] / static_cast<double>(forest.size()));
      score += all.weights.empty() ? log_p : all.weights[static_cast<size_t>(fold.held[i])] * log_p;
    }
    scores.push_back(score);
  }
  return scores;
}

/// Returns the numbers of columns and of rows that the options leave open, chosen by left-out rows: those of
/// the folds that end within half of the time.
ForestChoice choice(const Dataset& rows, int64_t classes, const ExtraTreesOptions& options,
                    const Stream& stream, Callback* callback) {
  const int64_t all = rows.schema.input.numel();
  const auto root = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(all))));
  std::vector<ForestChoice> choices;
  std::vector<double> parents = {0.3, 0.03, 0.1, 1, 3, 10, 30};
  if (options.parent_rows > 0) parents = {options.parent_rows};
  for (const int64_t tried : {all, root})
    if (options.split_columns == "auto" || tried == (options.split_columns == "root" ? root : all))
      for (const double parent : parents) choices.push_back({tried, parent});
  if (choices.size() == 1) return choices[0];
  const LeftOut some = left_out_rows(rows, stream.split("left out"));
  const ForestRows columns =
      forest_rows(some.x, some.y, classes, some.weights, rows_of_tree(options, classes));
  UntilDeadline half(callback, callback ? callback->seconds_left() / 2 : INFINITY);
  std::vector<double> total(choices.size(), 0.0);
  for (size_t f = 0; f < some.folds.size(); ++f) {
    std::vector<double> of_fold;
    for (size_t i = 0; i < choices.size(); i += parents.size()) {
      const auto scores =
          log_scores(columns, some, some.folds[f], choices[i].tried, rows_of_tree(options, classes), parents,
                     stream.split("trees of folds").split(f), &half);
      if (scores) of_fold.insert(of_fold.end(), scores->begin(), scores->end());
    }
    if (of_fold.size() < total.size()) break;  // the time is over
    for (size_t i = 0; i < total.size(); ++i) total[i] += of_fold[i];
  }
  return choices[static_cast<size_t>(std::ranges::max_element(total) - total.begin())];
}

class ExtraTreesFitted : public Fitted {
 public:
  ExtraTreesFitted(ExtraTreesOptions options, Shape input, int64_t classes, double parent_rows,
                   std::vector<Tree> forest, Summary summary)
      : options_(std::move(options)),
        input_(std::move(input)),
        classes_(classes),
        parent_rows_(parent_rows),
        forest_(std::move(forest)),
        summary_(std::move(summary)) {
    for (const Tree& tree : forest_) leaves_.push_back(leaf_posterior(tree, classes_, parent_rows_));
  }

  static std::unique_ptr<Fitted> load(const TensorFile& file) {
    at::NoGradGuard no_grad;
    Shape input = shape_from_json(stored_json(file, "input"));
    const at::Tensor columns = stored_tensor(file, "columns"), thresholds = stored_tensor(file, "thresholds"),
                     rights = stored_tensor(file, "rights"), counts = stored_tensor(file, "counts"),
                     sizes = stored_tensor(file, "sizes"), parent = stored_tensor(file, "parent_rows");
    check_shape(columns, {-1}, kExtraTrees, "columns");
    check_shape(thresholds, {columns.size(0)}, kExtraTrees, "thresholds");
    check_shape(rights, {columns.size(0)}, kExtraTrees, "rights");
    check_shape(counts, {-1, -1}, kExtraTrees, "counts");
    check_shape(sizes, {-1, 2}, kExtraTrees, "sizes");
    check_shape(parent, {}, kExtraTrees, "parent_rows");
    const bool types = columns.scalar_type() == at::kInt && thresholds.scalar_type() == at::kFloat &&
                       rights.scalar_type() == at::kInt && counts.scalar_type() == at::kInt &&
                       sizes.scalar_type() == at::kLong && parent.scalar_type() == at::kDouble;
    check(types, kExtraTrees, "trees in their types", "others", "the model file is damaged");
    const auto rows = parent.item<double>();
    check(rows > 0 && std::isfinite(rows) && counts.size(1) >= 2, kExtraTrees,
          "two classes or more, and parent_rows above 0", "others", "the model file is damaged");
    const auto list = [](const at::Tensor& t, auto* first) { return std::vector(first, first + t.numel()); };
    const engine::ForestSpec spec{.inputs = input.numel(),
                                  .classes = counts.size(1),
                                  .columns = list(columns, columns.const_data_ptr<int32_t>()),
                                  .thresholds = list(thresholds, thresholds.const_data_ptr<float>()),
                                  .rights = list(rights, rights.const_data_ptr<int32_t>()),
                                  .counts = list(counts, counts.const_data_ptr<int32_t>()),
                                  .sizes = list(sizes, sizes.const_data_ptr<int64_t>()),
                                  .parent_rows = rows};
    std::vector<Tree> forest = engine::trees_of(spec);
    return std::make_unique<ExtraTreesFitted>(
        options_from_json<ExtraTreesOptions>(stored_json(file, "options"), kExtraTrees), std::move(input),
        spec.classes, rows, std::move(forest), summary_from_json(stored_json(file, "summary")));
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    return predict_rows(data, input_, at::kFloat, options.on_host(), kExtraTrees,
                        [this](const Input& rows) { return answer(rows.x); });
  }

  TensorFile save() const override {
    const engine::ForestSpec spec = as_data();
    TensorFile file;
    file.metadata["options"] = options_to_json(options_).dump();
    file.metadata["summary"] = to_json(summary_).dump();
    file.metadata["input"] = to_json(input_).dump();
    file.tensors["columns"] = to_stored(at::tensor(spec.columns, at::kInt));
    file.tensors["thresholds"] = to_stored(at::tensor(spec.thresholds, at::kFloat));
    file.tensors["rights"] = to_stored(at::tensor(spec.rights, at::kInt));
    file.tensors["counts"] = to_stored(at::tensor(spec.counts, at::kInt).view({-1, classes_}));
    file.tensors["sizes"] = to_stored(at::tensor(spec.sizes, at::kLong).view({-1, 2}));
    file.tensors["parent_rows"] = to_stored(at::full({}, parent_rows_, at::kDouble));
    return file;
  }

  const Summary& summary() const override { return summary_; }

  std::optional<engine::AnswerSpec> answer_spec() const override {
    if (input_.is_image()) return {};
    return engine::ClassSpec{as_data()};
  }

 private:
  engine::ForestSpec as_data() const {
    return engine::forest_spec(forest_, input_.numel(), classes_, parent_rows_);
  }

  /// Returns the mean of the trees' answers. x [b, ...] float32.
  Classes answer(const at::Tensor& inputs) const {
    constexpr int64_t kGrain = 64;
    const int64_t b = inputs.size(0), d = input_.numel();
    const at::Tensor x = inputs.reshape({b, d}).contiguous();
    at::Tensor mean = at::zeros({b, classes_}, at::kDouble), expected = at::zeros({b}, at::kDouble);
    auto* const p = mean.mutable_data_ptr<double>();
    auto* const h = expected.mutable_data_ptr<double>();
    over_range(b, kGrain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        for (size_t t = 0; t < forest_.size(); ++t) {
          const int64_t leaf = leaf_of(forest_[t].nodes, x.const_data_ptr<float>() + i * d);
          for (int64_t k = 0; k < classes_; ++k)
            p[i * classes_ + k] += leaves_[t].mean[static_cast<size_t>(leaf * classes_ + k)];
          h[i] += leaves_[t].entropy[static_cast<size_t>(leaf)];
        }
      }
    });
    mean /= mean.sum(1, true);
    expected /= static_cast<double>(forest_.size());
    return {mean, -at::xlogy(mean, mean).sum(1), expected};
  }

  ExtraTreesOptions options_;
  Shape input_;
  int64_t classes_;
  double parent_rows_;
  std::vector<Tree> forest_;
  std::vector<engine::LeafPosterior> leaves_;
  Summary summary_;
};

class ExtraTreesMethod : public Method {
 public:
  explicit ExtraTreesMethod(ExtraTreesOptions options) : options_(std::move(options)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    at::NoGradGuard no_grad;
    const auto begin = std::chrono::steady_clock::now();
    const Dataset data = training_rows(split.train, kExtraTrees);
    const int64_t classes = std::max<int64_t>(2, data.schema.task.outputs);
    Callback* const callback = context.callback;
    const auto [tried, parent_rows] =
        choice(data, classes, options_, context.stream.split("choice"), callback);
    const RowTensors tensors = tensors_of(data, at::kFloat);
    const int64_t most = rows_of_tree(options_, classes);
    const ForestRows rows =
        forest_rows(tensors.x.reshape({data.size(), -1}), tensors.y, classes, data.weights(), most);
    std::vector<int32_t> all(static_cast<size_t>(data.size()));
    std::iota(all.begin(), all.end(), 0);
    const std::vector<Tree> forest =
        grown(rows, all, options_.trees, most, tried, context.stream.split("trees"), callback);
    Summary summary;
    summary.rows = data.size();
    summary.stopped = asked_to_end(callback).value_or(Stopped::converged);
    summary.steps = std::ssize(forest);
    summary.facts.push_back(fact_of(forest, classes, tried, rows.classes.columns, parent_rows));
    summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::make_unique<ExtraTreesFitted>(options_, data.schema.input, classes, parent_rows, forest,
                                              std::move(summary));
  }

 private:
  static std::string fact_of(const std::vector<Tree>& forest, int64_t classes, int64_t tried, int64_t columns,
                             double parent_rows) {
    double leaves = 0;
    for (const Tree& tree : forest) leaves += static_cast<double>(std::ssize(tree.counts) / classes);
    return fmt::format(
        "{} trees with {:.3g} leaves on average; {} of {} columns tried at a split; the node above "
        "counts as {:.3g} rows",
        forest.size(), leaves / static_cast<double>(forest.size()), tried, columns, parent_rows);
  }

  ExtraTreesOptions options_;
};

std::unique_ptr<Method> make_extra_trees(const nlohmann::json& options) {
  return std::make_unique<ExtraTreesMethod>(options_from_json<ExtraTreesOptions>(options, kExtraTrees));
}

std::unique_ptr<Fitted> load_extra_trees(const TensorFile& file) { return ExtraTreesFitted::load(file); }

}  // namespace

RegistryRow extra_trees_row() { return {"extra-trees", make_extra_trees, load_extra_trees}; }

}  // namespace slimbayes
