#include "slimbayes/method/batches.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/answers/count_distribution.h"
#include "slimbayes/answers/pixels.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/data/device_source.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/method/class_weights.h"
#include "slimbayes/method/rank_rows.h"
#include "slimbayes/train/plan.h"
#include "slimbayes/train/training_plan.h"

namespace slimbayes {

namespace {

/// While it lives, operations build an autograd graph only if `gradients`. Else they also skip the autograd
/// kernels, which saves a quarter of the time for one row.
struct GradientMode {
  explicit GradientMode(bool gradients) : mode(gradients) {
    if (!gradients) below.emplace();
  }
  at::AutoGradMode mode;
  std::optional<at::AutoDispatchBelowAutograd> below;
};

constexpr int64_t kValidationRows = 4096;
/// The most numbers that the inputs of one batch may hold. It limits the memory of a pass: the activations of
/// a network hold some hundred times as many numbers as its inputs.
constexpr int64_t kNumbers = int64_t{1} << 18;

/// Returns the number of rows per batch: at most `most`, and fewer if the inputs of that many rows hold more
/// than kNumbers numbers. A token counts as kEmbedding numbers, about the width of its embedding.
int64_t batch_rows(const Schema& schema, int64_t most) {
  constexpr int64_t kEmbedding = 64;
  int64_t numbers = schema.input.tokens ? kEmbedding : 1;
  for (int64_t size : schema.input.sizes) numbers *= std::max<int64_t>(1, size);
  return std::clamp<int64_t>(kNumbers / std::max<int64_t>(1, numbers), 1, most);
}

/// Returns the inputs of a batch in `type`. Throws std::invalid_argument for rows whose shape is not `shape`,
/// or numbers that are not finite.
Input checked_input(const Batch& batch, const Shape& shape, at::ScalarType type, std::string_view function) {
  if (batch.inputs.size() != 1)
    refuse(function, "one input tensor", fmt::format("{} input tensors", batch.inputs.size()));
  std::vector<int64_t> sizes = {-1};
  for (int64_t size : shape.sizes) sizes.push_back(shape.tokens ? -1 : size);
  check_shape(batch.inputs[0], sizes, function, "inputs");
  const Input input = input_of(batch, type);
  if (!shape.tokens)
    check_finite(input.x, function, "inputs");  // after the cast, to catch what overflows float32
  return input;
}

/// Throws std::invalid_argument unless all counts are whole numbers of at least 0, or all classes are numbers
/// of classes of the task or, of pixels, kVoid. Other tasks are not checked.
void check_targets(const Task& task, const at::Tensor& target, std::string_view function) {
  const at::Tensor y = task.grid ? target.masked_select(target != kVoid) : target;
  if (task.kind == TaskKind::counts) check_counts(y, function);
  if (task.kind == TaskKind::classification) check_classes(y, std::max<int64_t>(2, task.outputs), function);
}

}  // namespace

Input input_of(const Batch& batch, at::ScalarType type) {
  const at::Tensor& x = batch.inputs.at(0);
  return {x.scalar_type() == at::kLong ? x : x.to(type), batch.mask};
}

BatchPlan batch_plan(const Dataset& data, const TrainingOptions& options) {
  const at::Tensor lengths = data.source->lengths();
  const at::Tensor weights = data.weights();
  if (lengths.defined()) return plan_by_length(lengths, batch_size(options, data.size()), weights);
  // An image of a segmentation is as much work as thousands of rows.
  constexpr int64_t kImages = 8;
  if (data.schema.task.grid && options.batch == 0)
    return plan_of_equal_batches(data.size(), (data.size() + kImages - 1) / kImages);
  if (const auto disk = data.source->on_disk()) {
    const int64_t batch = batch_size(options, data.size());
    internal_check(!weights.defined(), "fit", "weights of rows that lie on disk");
    return plan_of_windows(disk->parts, (data.size() + batch - 1) / batch, disk->window, disk->block);
  }
  if (weights.defined()) {
    const int64_t batch = batch_size(options, data.size());
    return plan_of_weights(weights, (data.size() + batch - 1) / batch);
  }
  return {};
}

void check_task(const Task& task, std::string_view method) {
  const MethodInfo& info = find_method(method);
  if (task.grid && !takes(info, InputKind::segmentation))
    refuse(method, "a task whose examples have one answer", "segmentation, with an answer for each pixel",
           methods_taking(task.kind, InputKind::segmentation) + " take it (`.method`)");
  if (bool MethodInfo::*const fact = fact_of(task.likelihood); fact != nullptr && !(info.*fact))
    refuse(method, fmt::format("a method for the likelihood {}", name_of(task.likelihood)), method,
           methods_that(fact) + " take it (`.method`)");
  if (std::ranges::find(info.tasks, task.kind) != info.tasks.end()) return;
  // Counts, and classes whose names are all numbers, can be fitted as a regression instead.
  const bool of_numbers =
      task.kind == TaskKind::counts || (task.kind == TaskKind::classification &&
                                        std::ranges::all_of(task.levels, [](const std::string& level) {
                                          return parse_number(level).has_value();
                                        }));
  refuse(method, fmt::format("a task that {} takes, {}", method, name_of(info.tasks[0])),
         fmt::format("{} ({})", name_of(task.kind), name_of(task.likelihood)),
         fmt::format("{} take it (`.method`){}", methods_taking(task.kind),
                     of_numbers ? "; `.likelihood=gaussian` makes a regression of the numbers" : ""));
}

Dataset rows_at_hand(const Dataset& data) {
  const auto disk = data.source ? data.source->on_disk() : std::nullopt;
  if (!disk || disk->parts.size() == 2) return data;
  return data.subset(at::arange(disk->first(), disk->end()));
}

Dataset training_rows(const Dataset& data, std::string_view function, at::Device device) {
  const Task& task = data.schema.task;
  check_task(task, function);
  check(data.size() > 0, function, "at least one training row", "an empty dataset");
  const bool events = task.kind == TaskKind::events;
  const bool tables = data.schema.input.is_vector();
  check(!tables || data.schema.input.width() > 0, function, "at least one input", "inputs without columns");
  bool labelled = false;
  over_batches(rows_at_hand(data), {}, [&](const Batch& batch) {
    checked_input(batch, data.schema.input, at::kFloat, function);
    if (events) return;
    check(batch.target.defined(), function, "training rows with a target", "none");
    std::vector<int64_t> sizes = {batch.inputs[0].size(0)};
    if (task.grid) sizes.push_back(rows_per_example(task));
    check_shape(batch.target, sizes, function, "target");
    check_finite(batch.target.to(at::kFloat), function, "target");
    check_targets(task, batch.target, function);
    labelled = labelled || !task.grid || (batch.target != kVoid).any().item<bool>();
  });
  check(labelled || events, function, "a pixel with a class in the images",
        "label maps that are void everywhere", "give images with labels");
  return on_device(data, device);
}

Dataset validation_rows(const Dataset& data, const Dataset& train, std::string_view function) {
  if (data.size() == 0) return {};
  const Shape &own = data.schema.input, &wanted = train.schema.input;
  if (!(own.tokens == wanted.tokens && (own.tokens || own.sizes == wanted.sizes)))
    refuse(function, fmt::format("validation rows like the training rows, {}", text_of(train.schema.input)),
           text_of(data.schema.input));
  return training_rows(data, function, train.device());
}

RowTensors tensors_of(const Dataset& rows, at::ScalarType type) {
  if (rows.size() == 0) return {};
  const Batch all = rows.all();
  return {all.inputs.at(0).to(type), all.target.to(type), all.weight};
}

RowTensors RowTensors::subset(const at::Tensor& indices) const {
  return {x.index_select(0, indices), y.index_select(0, indices),
          weight.defined() ? weight.index_select(0, indices) : weight};
}

RowTensors RowTensors::on(at::Device device) const {
  return {on_device(x, device), on_device(y, device), on_device(weight, device)};
}

at::Tensor targets_of(const Dataset& data) {
  std::vector<at::Tensor> targets;
  over_batches(data, {}, [&](const Batch& batch) { targets.push_back(on_cpu(batch.target)); });
  return targets.front().defined() ? at::cat(targets) : at::Tensor();
}

double labelled_rows(const Dataset& data) {
  if (!data.schema.task.grid) return data.total_weight();
  int64_t count = 0;
  over_batches(data, {}, [&](const Batch& batch) { count += (batch.target != kVoid).sum().item<int64_t>(); });
  return static_cast<double>(count);
}

double mean_over_rows(const Dataset& data,
                      const std::function<at::Tensor(const Input& input, const at::Tensor& y)>& loss,
                      const Collective* ranks) {
  double sum = 0, count = 0;
  const auto over = [&](const Dataset& rows) {
    over_batches(rows, {kValidationRows}, [&](const Batch& batch) {
      const at::Tensor losses = loss(input_of(batch), batch.target.to(at::kFloat)), &w = batch.weight;
      sum += (w.defined() ? losses * w : losses).sum(at::kDouble).item<double>();
      count += w.defined() ? w.sum().item<double>() : static_cast<double>(losses.numel());
    });
  };
  const RankRows own = rows_of_rank(data, ranks);
  on_all_ranks(own.ranks, [&] { over(own.rows); });
  const at::Tensor all = at::tensor({sum, count}, at::kDouble);
  sum_over_ranks({all}, own.ranks);
  return all[0].item<double>() / all[1].item<double>();
}

std::optional<double> nll_of_answers(const Dataset& rows,
                                     const std::function<Predictive(const Dataset& block)>& answer,
                                     const at::Tensor& class_weights) {
  const auto nll = [&](const Predictive& p, const at::Tensor& y,
                       const at::Tensor& weights = {}) -> std::optional<double> {
    if (class_weights.defined()) return weighted_nll(std::get<Classes>(p), y, class_weights, weights);
    return weights.defined() ? weighted_mean(row_nll(p, y), weights) : mean_nll(p, y);
  };
  if (!rows.schema.task.grid) return nll(answer(rows), targets_of(rows), rows.weights());
  double sum = 0, count = 0;
  for (int64_t low = 0; low < rows.size(); low += kImagesAtOnce) {
    const Dataset block = rows.subset(at::arange(low, std::min(rows.size(), low + kImagesAtOnce)));
    const at::Tensor y = targets_of(block).flatten(), known = (y != kVoid).nonzero().squeeze(1);
    if (known.size(0) == 0) continue;
    const auto pixels = static_cast<double>(known.size(0));
    sum += *nll(take(answer(block), known), y.index_select(0, known)) * pixels;
    count += pixels;
  }
  return sum / count;
}

void over_batches(const Dataset& given, const PredictOptions& options,
                  const std::function<void(const Batch& batch)>& each) {
  const GradientMode mode(options.gradients);
  std::optional<Dataset> moved;
  if (!options.device.is_cpu()) moved.emplace(on_device(given, options.device));
  const Dataset& data = moved ? *moved : given;
  const int64_t n = data.size(), size = batch_rows(data.schema, std::max<int64_t>(1, options.batch));
  if (n <= size) {
    each(data.all());
    if (options.progress) options.progress(1);
    return;
  }
  for (int64_t low = 0; low < n; low += size) {
    const int64_t high = std::min(n, low + size);
    each(data.rows(at::arange(low, high)));
    if (options.progress) options.progress(static_cast<double>(high) / static_cast<double>(n));
  }
}

Predictive predict_rows(const Dataset& data, const Shape& input, at::ScalarType type,
                        const PredictOptions& options, std::string_view function,
                        const std::function<Predictive(const Input& input)>& answer) {
  if (!(options.batch > 0)) refuse(function, "a batch of at least one row", std::to_string(options.batch));
  std::vector<Predictive> parts;
  over_batches(data, options, [&](const Batch& batch) {
    parts.push_back(answer(checked_input(batch, input, type, function)));
  });
  return parts.size() == 1 ? parts[0] : concatenated(parts);
}

Predictive predict_groups(const Dataset& data, const Shape& input, at::ScalarType type,
                          const PredictOptions& options, std::string_view function,
                          const AnswerGroup& answers) {
  constexpr size_t kGroup = 16;
  if (!(options.batch > 0)) refuse(function, "a batch of at least one row", std::to_string(options.batch));
  std::vector<Predictive> parts;
  std::vector<Input> group;
  double share = 0;  // of the rows that are answered
  const auto answer_group = [&] {
    const GradientMode mode(options.gradients);
    double rows = 0;
    for (const Input& one : group) rows += static_cast<double>(one.x.size(0));
    const double after = share + rows / static_cast<double>(std::max<int64_t>(1, data.size()));
    for (Predictive& one : answers(group, options.within(share, after).progress))
      parts.push_back(std::move(one));
    share = after;
    group.clear();
  };
  PredictOptions silent = options;  // a batch that is read has not been answered
  silent.progress = nullptr;
  over_batches(data, silent, [&](const Batch& batch) {
    group.push_back(checked_input(batch, input, type, function));
    if (group.size() == kGroup) answer_group();
  });
  if (!group.empty()) answer_group();
  return parts.size() == 1 ? parts[0] : concatenated(parts);
}

Latent latent_rows(const Dataset& data, const Shape& input, at::ScalarType type,
                   const PredictOptions& options, std::string_view function,
                   const std::function<Latent(const Input& input)>& answer) {
  if (!(options.batch > 0)) refuse(function, "a batch of at least one row", std::to_string(options.batch));
  std::vector<at::Tensor> mean, var;
  int64_t zeroed = 0;
  over_batches(data, options, [&](const Batch& batch) {
    Latent f = answer(checked_input(batch, input, type, function));
    mean.push_back(f.mean);
    var.push_back(f.epistemic_var);
    zeroed += f.zeroed;
  });
  if (mean.size() == 1) return {mean[0], var[0], zeroed};
  return {at::cat(mean), at::cat(var), zeroed};
}

}  // namespace slimbayes
