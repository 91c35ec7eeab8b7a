#include "slimbayes/data/dataset.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"

namespace slimbayes {

namespace {

/// A source with the rows of another source and weights of its own.
class WeightedSource : public Source {
 public:
  /// `weights` [n] float64 are those of the rows of `whole`, all > 0.
  WeightedSource(std::shared_ptr<const Source> whole, at::Tensor weights)
      : whole_(std::move(whole)), weights_(std::move(weights)) {}

  int64_t size() const override { return whole_->size(); }
  Batch rows(const at::Tensor& indices, const RowContext& context) const override {
    Batch batch = whole_->rows(indices, context);
    batch.weight = on_device(weights_.index_select(0, indices), device());
    return batch;
  }
  at::Tensor lengths() const override { return whole_->lengths(); }
  at::Tensor weights() const override { return weights_; }
  at::Device device() const override { return whole_->device(); }
  bool fixed_rows() const override { return whole_->fixed_rows(); }
  std::optional<OnDisk> on_disk() const override { return whole_->on_disk(); }

 private:
  std::shared_ptr<const Source> whole_;
  at::Tensor weights_;
};

Dataset of_tensors(Task task, const at::Tensor& x, const at::Tensor& y, const char* function) {
  if (!(x.defined() && x.dim() >= 2))
    refuse(function, "inputs x [n, ...] with at least one axis beside the rows",
           x.defined() ? fmt::format("{} axes", x.dim()) : "none",
           "unsqueeze(1) makes one column of numbers");
  const bool column = y.defined() && y.dim() == 2 && y.size(1) == 1;
  const at::Tensor target = column ? y.squeeze(1) : y;
  check_shape(target, {x.size(0)}, function, "y");
  Schema schema{std::move(task), {}, {x.sizes().slice(1).vec(), x.scalar_type() == at::kLong}};
  return dataset_of(std::move(schema), {{x}, target.to(at::kDouble)});
}

}  // namespace

Batch Dataset::rows(const at::Tensor& indices, const RowContext& context) const {
  check(source != nullptr, "Dataset::rows", "a dataset with rows", "an empty one");
  return source->rows(indices, context);
}

Batch Dataset::all() const {
  if (const auto* in_memory = dynamic_cast<const TensorSource*>(source.get())) return in_memory->all();
  return source ? source->rows(at::arange(size()), {}) : Batch{};
}

Dataset Dataset::subset(const at::Tensor& indices) const {
  return {schema, std::make_shared<SubsetSource>(source, indices)};
}

double Dataset::total_weight() const {
  const at::Tensor all = weights();
  return all.defined() ? all.sum().item<double>() : static_cast<double>(size());
}

Dataset weighted(const Dataset& data, const at::Tensor& weights) {
  check_shape(weights, {data.size()}, "weighted", "weights");
  const at::Tensor own = weights.to(at::kDouble).contiguous();
  check_finite(own, "weighted", "weights");
  if (own.numel() > 0 && !(own.min().item<double>() > 0))
    refuse("weighted", "weights above 0", fmt::format("{}", own.min().item<double>()),
           "leave the rows of weight 0 out");
  if (own.numel() > 0 && own.max().item<double>() > kLargestWeight)
    refuse("weighted", fmt::format("weights up to {:g}", kLargestWeight),
           fmt::format("{:g} of row {}", own.max().item<double>(), own.argmax().item<int64_t>() + 1),
           "divide all weights by one number: sums of larger ones overflow");
  const bool each_once = (own == 1).all().item<bool>();
  if (each_once && !data.weights().defined()) return data;
  if (const auto* in_memory = dynamic_cast<const TensorSource*>(data.source.get())) {
    Batch all = in_memory->all();
    all.weight = each_once ? at::Tensor() : own;
    return {data.schema, std::make_shared<TensorSource>(std::move(all))};
  }
  return {data.schema, std::make_shared<WeightedSource>(data.source, own)};
}

Dataset dataset_of(Schema schema, Batch all) {
  auto source = std::make_shared<TensorSource>(std::move(all));
  if (schema.input.sizes.empty()) schema.input.sizes = source->all().inputs[0].sizes().slice(1).vec();
  return {std::move(schema), std::move(source)};
}

Dataset regression_data(const at::Tensor& x, const at::Tensor& y) {
  return of_tensors({}, x, y, "regression_data");
}

Dataset class_data(const at::Tensor& x, const at::Tensor& y, int64_t classes, LikelihoodKind likelihood) {
  const bool two = likelihood == LikelihoodKind::bernoulli;
  if (!two && likelihood != LikelihoodKind::softmax)
    refuse("class_data", "the likelihood softmax or bernoulli", name_of(likelihood));
  if (!(two ? classes == 2 : classes >= 2))
    refuse("class_data", two ? "two classes" : "at least two classes", fmt::format("{}", classes));
  Task task{TaskKind::classification, likelihood, two ? 1 : classes};
  for (int64_t c = 0; c < classes; ++c) task.levels.push_back(fmt::format("{}", c));
  return of_tensors(std::move(task), x, y, "class_data");
}

Dataset joined(const Dataset& a, const Dataset& b) {
  if (a.size() == 0) return b;
  if (b.size() == 0) return a;
  return {a.schema, std::make_shared<JoinedSource>(a.source, b.source)};
}

}  // namespace slimbayes
