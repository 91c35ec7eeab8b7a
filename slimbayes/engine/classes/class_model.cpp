#include "slimbayes/engine/classes/class_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "slimbayes/density/class_average.h"
#include "slimbayes/engine/classes/softmax_draws.h"
#include "slimbayes/engine/features.h"
#include "slimbayes/engine/packed_head.h"
#include "slimbayes/engine/row_model.h"

namespace slimbayes::engine {

using kernels::padded;

namespace {

std::span<double> span_of(double* from, int64_t count) { return {from, static_cast<size_t>(count)}; }

class KnownClassModel : public ClassModel {
 public:
  explicit KnownClassModel(std::shared_ptr<const Features> features) : features_(std::move(features)) {
    check_parts(features_->outputs() == 0 && features_->rank() >= 1, "logits", "none");
  }

  int64_t inputs() const override { return features_->inputs(); }
  int64_t classes() const override { return std::max<int64_t>(2, features_->rank()); }
  int64_t scratch() const override { return padded(features_->scratch()); }

  ClassRow answer(const double* x, double* p, double* scratch) const override {
    const double* logits = features_->run(x, 1, scratch).phi;
    softmax({logits, static_cast<size_t>(features_->rank())}, span_of(p, classes()));
    return {entropy_of(span_of(p, classes()))};
  }

 private:
  std::shared_ptr<const Features> features_;
};

class IndependentClassModel : public ClassModel {
 public:
  IndependentClassModel(std::shared_ptr<const Features> features, const std::vector<LinearHead>& heads,
                        uint64_t draws)
      : features_(std::move(features)), draws_(draws, std::ssize(heads)) {
    const int64_t outputs = features_->outputs();
    check_parts(!heads.empty() && (outputs == 0 || outputs == std::ssize(heads)),
                "a head for each output of the network", "another number");
    for (const LinearHead& head : heads) heads_.emplace_back(head, features_->rank());
  }

  int64_t inputs() const override { return features_->inputs(); }
  int64_t classes() const override { return std::max<int64_t>(2, logits()); }
  int64_t scratch() const override {
    return padded(features_->scratch()) + padded(kChunkRows) + 2 * padded(logits()) + draws_.work_doubles();
  }

  ClassRow answer(const double* x, double* p, double* scratch) const override {
    const int64_t k = logits();
    const Features::Rows f = features_->run(x, 1, part_of(scratch, features_->scratch()));
    double *work = part_of(scratch, kChunkRows), *mean = part_of(scratch, k), *var = part_of(scratch, k);
    int64_t zeroed = 0;
    for (int64_t c = 0; c < k; ++c) {
      double out[3];
      zeroed += heads_[static_cast<size_t>(c)].answer(f.phi, 1, out, 1, work);
      mean[c] = out[0] + (f.output != nullptr ? f.output[c] : 0);
      var[c] = out[2];
    }
    if (k == 1) return {average_sigmoid(mean[0], var[0], span_of(p, 2)), zeroed};
    for (int64_t c = 0; c < k; ++c) var[c] = std::sqrt(var[c]);
    return {draws_.average(span_of(mean, k), span_of(var, k), span_of(p, k), scratch), zeroed};
  }

 private:
  int64_t logits() const { return std::ssize(heads_); }

  std::shared_ptr<const Features> features_;
  std::vector<PackedHead> heads_;
  SoftmaxDraws draws_;
};

class ForestClassModel : public ClassModel {
 public:
  explicit ForestClassModel(const ForestSpec& spec) : inputs_(spec.inputs), classes_(spec.classes) {
    std::vector<Tree> trees = trees_of(spec);
    nodes_.reserve(spec.columns.size());
    mean_.reserve(spec.counts.size());
    entropy_.reserve(spec.counts.size() / static_cast<size_t>(classes_));
    for (Tree& tree : trees) {
      const LeafPosterior leaves = leaf_posterior(tree, classes_, spec.parent_rows);
      first_.push_back({nodes_.size(), entropy_.size()});
      nodes_.insert(nodes_.end(), tree.nodes.begin(), tree.nodes.end());
      mean_.insert(mean_.end(), leaves.mean.begin(), leaves.mean.end());
      entropy_.insert(entropy_.end(), leaves.entropy.begin(), leaves.entropy.end());
      tree = {};
    }
  }

  int64_t inputs() const override { return inputs_; }
  int64_t classes() const override { return classes_; }
  int64_t scratch() const override { return padded((inputs_ + 1) / 2); }

  ClassRow answer(const double* x, double* p, double* scratch) const override {
    auto* row = reinterpret_cast<float*>(scratch);
    std::transform(x, x + inputs_, row, [](double one) { return static_cast<float>(one); });
    std::fill_n(p, classes_, 0.0);
    double expected = 0;
    for (const First& tree : first_) {
      const size_t leaf = tree.leaf + static_cast<size_t>(leaf_of(std::span(nodes_).subspan(tree.node), row));
      const float* mean = mean_.data() + leaf * static_cast<size_t>(classes_);
      for (int64_t c = 0; c < classes_; ++c) p[c] += mean[c];
      expected += entropy_[leaf];
    }
    double sum = 0;
    for (int64_t c = 0; c < classes_; ++c) sum += p[c];
    for (int64_t c = 0; c < classes_; ++c) p[c] /= sum;
    return {expected / static_cast<double>(first_.size())};
  }

 private:
  struct First {
    size_t node, leaf;
  };

  // The trees one after another: so they take the memory of their numbers alone.
  int64_t inputs_, classes_;
  std::vector<First> first_;  // of each tree
  std::vector<Tree::Node> nodes_;
  std::vector<float> mean_;     // [leaves * classes]
  std::vector<float> entropy_;  // [leaves]
};

class FixedClassModel : public ClassModel {
 public:
  explicit FixedClassModel(const FixedClasses& spec) : spec_(spec) {
    const std::vector<double>& p = spec.probabilities;
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    check_parts(p.size() >= 2 && std::abs(sum - 1) < 1e-9 &&
                    std::ranges::all_of(p, [](double one) { return one >= 0 && one <= 1; }) &&
                    std::isfinite(spec.expected_entropy),
                "probabilities of two classes or more", "others");
  }

  int64_t inputs() const override { return spec_.inputs; }
  int64_t classes() const override { return std::ssize(spec_.probabilities); }
  int64_t scratch() const override { return 0; }

  ClassRow answer(const double*, double* p, double*) const override {
    std::ranges::copy(spec_.probabilities, p);
    return {spec_.expected_entropy};
  }

 private:
  FixedClasses spec_;
};

struct ModelOf {
  using Made = std::shared_ptr<const ClassModel>;

  Made operator()(const KnownLogits& spec) const {
    std::shared_ptr<const Features> features = features_without_sketch(spec.features);
    return features ? std::make_shared<KnownClassModel>(std::move(features)) : nullptr;
  }
  Made operator()(const IndependentLogits& spec) const {
    check_parts(!spec.heads.empty(), "a head for each logit", "none");
    if (!draws_fit(std::ssize(spec.heads))) return nullptr;
    if (!fits_in_memory(spec.features, std::ssize(spec.heads.front().root))) return nullptr;
    std::shared_ptr<const Features> features = features_of(spec.features);
    if (!features) return nullptr;
    return std::make_shared<IndependentClassModel>(std::move(features), spec.heads, spec.draws);
  }
  Made operator()(const CorrelatedLogits& spec) const { return correlated_class_model(spec); }
  Made operator()(const ForestSpec& spec) const { return std::make_shared<ForestClassModel>(spec); }
  Made operator()(const FixedClasses& spec) const { return std::make_shared<FixedClassModel>(spec); }
  Made operator()(const PooledClasses& spec) const { return pooled_class_model(spec); }
};

}  // namespace

std::shared_ptr<const ClassModel> class_model(const ClassSpec& spec) {
  return std::visit(ModelOf{}, spec.of);
}

}  // namespace slimbayes::engine
