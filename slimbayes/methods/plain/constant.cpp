#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/disk_rows.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/row_answers.h"
#include "slimbayes/method/row_weights.h"
#include "slimbayes/methods/plain/plain_options.h"
#include "slimbayes/methods/plain/rows.h"
#include "slimbayes/nn/weights.h"

// constant: one distribution for every row, that of the training targets (conjugate posteriors).
//
// Model       Numbers: a Gaussian with the sample mean m and the variance (1 + 1 / n) v for the sample
//             variance v, which counts the error of m. Classes: probabilities with the prior
//             Dirichlet(a, ..., a). Counts: a Poisson rate with the prior Gamma(a, 0); the log rate is
//             answered by its mean and variance.
// Estimator   The posterior, in closed form. a is the option pseudo_count, 1/2 for Jeffreys' prior. With row
//             weights n is their sum, and m and v have the weights in their sums; freedom() says by what v
//             divides.
// When        As the zero of every score: a model that does not beat it has learned nothing.

namespace slimbayes {

namespace {

constexpr const char* kConstant = "constant";

/// Returns by what the sum of the weighted squares is divided in a sample variance: the sum n of the weights
/// less 1, so that whole weights are repeated rows. Weights with a mean below 1 cannot be counts of rows, and
/// n - 1 would be near 0 or below it though there are many rows. They count as if their mean were 1, which
/// gives (rows - 1) n / rows: equal weights of any size up to 1 then have the variance of no weights. 0 if
/// nothing is known of the variance.
double freedom(double n, double rows) {
  const double most = std::max(n, rows);
  return (most - 1) * (n / most);
}

/// Returns the sample variance, for freedom() above 0.
double sample_variance(const at::Tensor& y, const at::Tensor& weights, double divisor) {
  if (!weights.defined()) return y.var().item<double>();
  return (weights * (y - weighted_mean(y, weights)).square()).sum().item<double>() / divisor;
}

/// What is known of some rows: of numbers the mean, the variance, the sum of the weights and the number of
/// rows; of classes the posterior counts of each class; of counts the shape and the rate of the Gamma
/// posterior. A row counts by its weight. [k] float64
at::Tensor known_of(const at::Tensor& y, const at::Tensor& weights, const Task& task, double pseudo_count) {
  const at::Tensor target = y.to(at::kDouble);
  const double n = total_of(weights, target.size(0)), rows = static_cast<double>(target.size(0));
  if (task.kind == TaskKind::regression) {
    // One row says nothing about the variance; the encoded targets have the variance 1.
    const double divisor = freedom(n, rows);
    const double var = divisor > 0 ? std::max(sample_variance(target, weights, divisor), 1e-12) : 1;
    return at::tensor({weighted_mean(target, weights), var, n, rows}, at::kDouble);
  }
  if (task.kind == TaskKind::counts) {
    const at::Tensor events = weights.defined() ? target * weights : target;
    return at::tensor({pseudo_count + events.sum().item<double>(), n}, at::kDouble);
  }
  const int64_t classes = std::max<int64_t>(2, task.outputs);
  return at::bincount(target.to(at::kLong), weights, classes).to(at::kDouble) + pseudo_count;
}

/// Returns what is known of the rows of `a` and `b` together.
at::Tensor of_both(const at::Tensor& a, const at::Tensor& b, TaskKind kind, double pseudo_count) {
  const at::Tensor prior = at::full({}, pseudo_count, at::kDouble);
  if (kind == TaskKind::classification) return a + b - prior;
  if (kind == TaskKind::counts) return at::stack({a[0] + b[0] - prior, a[1] + b[1]});
  const auto divisor = [](const at::Tensor& weight, const at::Tensor& size) {
    return freedom(weight.item<double>(), size.item<double>());
  };
  const at::Tensor n = a[2] + b[2], rows = a[3] + b[3], between = a[2] * b[2] / n * (a[0] - b[0]).square();
  const at::Tensor squares = divisor(a[2], a[3]) * a[1] + divisor(b[2], b[3]) * b[1] + between;
  return at::stack({(a[2] * a[0] + b[2] * b[0]) / n, squares / divisor(n, rows), n, rows});
}

/// Returns what is stored: of numbers the mean, the variance and the sum of the weights, of others all.
at::Tensor stored_of(const at::Tensor& known, TaskKind kind) {
  return kind == TaskKind::regression ? known.slice(0, 0, 3).clone() : known;
}

/// Returns what is stored of all rows; of those on disk it is added up block by block.
at::Tensor posterior_at(const Dataset& rows, double pseudo_count, const Collective* ranks) {
  const Task& task = rows.schema.task;
  if (!are_on_disk(rows))
    return stored_of(known_of(targets_of(rows), rows.weights(), task, pseudo_count), task.kind);
  at::Tensor all;
  const auto add = [&](const at::Tensor& some) {
    all = all.defined() ? of_both(all, some, task.kind, pseudo_count) : some;
  };
  const RankRows own = readable_rows(rows, ranks);
  on_all_ranks(own.ranks, [&] {
    over_batches(own.rows, {},
                 [&](const Batch& batch) { add(known_of(batch.target, batch.weight, task, pseudo_count)); });
  });
  if (own.ranks == nullptr) return stored_of(all, task.kind);
  const at::Tensor of_ranks = own.ranks->gather(all);
  all = at::Tensor();
  for (int64_t rank = 0; rank < of_ranks.size(0); ++rank) add(of_ranks[rank]);
  return stored_of(all, task.kind);
}

/// Returns the answer for n rows.
Predictive answer_of(const at::Tensor& posterior, TaskKind kind, int64_t n) {
  const auto each = [n](const at::Tensor& value) { return value.expand({n}).contiguous(); };
  if (kind == TaskKind::regression)
    return Regression{each(posterior[0]), each(posterior[1] * (1 + 1 / posterior[2])),
                      at::zeros({n}, at::kDouble)};
  if (kind == TaskKind::counts)
    return Counts{{each(posterior[0].digamma() - posterior[1].log()), each(posterior[0].polygamma(1))}};
  const at::Tensor total = posterior.sum(), p = posterior / total;
  // E[-sum p log p] under a Dirichlet distribution.
  const at::Tensor expected = (total + 1).digamma() - (p * (posterior + 1).digamma()).sum();
  return Classes{p.unsqueeze(0).expand({n, -1}).contiguous(), each(-(p * p.log()).sum()), each(expected)};
}

class ConstantFitted : public Fitted {
 public:
  ConstantFitted(const ConstantOptions& options, Shape input, TaskKind kind, at::Tensor posterior,
                 Summary summary)
      : options_(options),
        input_(std::move(input)),
        kind_(kind),
        posterior_(std::move(posterior)),
        summary_(std::move(summary)) {}

  static std::unique_ptr<Fitted> load(const TensorFile& file) {
    at::Tensor posterior = stored_tensor(file, "posterior");
    const TaskKind kind = task_named(stored_text(file, "task"));
    const int64_t size = posterior.numel(), needed = kind == TaskKind::regression ? 3 : 2;
    const bool fits = kind == TaskKind::classification ? size >= 2 : size == needed;
    check(posterior.dim() == 1 && posterior.scalar_type() == at::kDouble && fits, kConstant,
          "the numbers of a posterior", "others", "the model file is damaged");
    const at::Tensor positive = kind == TaskKind::regression ? posterior.narrow(0, 1, 2) : posterior;
    check(posterior.isfinite().all().item<bool>() && positive.gt(0).all().item<bool>(), kConstant,
          "a posterior of finite numbers above 0", "others", "the model file is damaged");
    return std::make_unique<ConstantFitted>(
        options_from_json<ConstantOptions>(stored_json(file, "options"), kConstant),
        shape_from_json(stored_json(file, "input")), kind, std::move(posterior),
        summary_from_json(stored_json(file, "summary")));
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    return predict_rows(data, input_, at::kFloat, options.on_host(), kConstant,
                        [this](const Input& rows) { return answer_of(posterior_, kind_, rows.x.size(0)); });
  }

  TensorFile save() const override {
    TensorFile file;
    file.metadata["options"] = options_to_json(options_).dump();
    file.metadata["summary"] = to_json(summary_).dump();
    file.metadata["task"] = name_of(kind_);
    file.metadata["input"] = to_json(input_).dump();
    file.tensors["posterior"] = to_stored(posterior_);
    return file;
  }

  const Summary& summary() const override { return summary_; }

  std::optional<engine::RowSpec> row_spec() const override {
    if (kind_ != TaskKind::regression || input_.is_image()) return {};
    const std::vector<double> p = numbers_of(posterior_);
    engine::LinearRows rows;
    rows.features.inputs = input_.numel();
    rows.head = {.constant = p[0], .noise_var = p[1] * (1 + 1 / p[2])};
    return engine::RowSpec{std::move(rows)};
  }

  std::optional<engine::AnswerSpec> answer_spec() const override {
    if (kind_ == TaskKind::regression || input_.is_image()) return row_spec();
    const Predictive answer = answer_of(posterior_, kind_, 1);
    if (const auto* p = std::get_if<Classes>(&answer))
      return engine::ClassSpec{engine::FixedClasses{input_.numel(), numbers_of(p->probabilities),
                                                    p->expected_entropy.item<double>()}};
    const LogNormalRate& rate = std::get<Counts>(answer).rate;
    const engine::LinearHead head{.constant = rate.log_mean.item<double>(),
                                  .constant_var = rate.log_var.item<double>()};
    return engine::RateSpec{{{{{{.inputs = input_.numel()}, head}}}}};
  }

 private:
  ConstantOptions options_;
  Shape input_;
  TaskKind kind_;
  at::Tensor posterior_;
  Summary summary_;
};

class ConstantMethod : public Method {
 public:
  explicit ConstantMethod(const ConstantOptions& options) : options_(options) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    at::NoGradGuard no_grad;
    const Dataset rows = training_rows(split.train, kConstant);
    Summary summary;
    summary.rows = rows.size();
    summary.stopped = Stopped::converged;
    return std::make_unique<ConstantFitted>(options_, rows.schema.input, rows.schema.task.kind,
                                            posterior_at(rows, options_.pseudo_count, context.ranks),
                                            std::move(summary));
  }

 private:
  ConstantOptions options_;
};

std::unique_ptr<Method> make_constant(const nlohmann::json& options) {
  return std::make_unique<ConstantMethod>(options_from_json<ConstantOptions>(options, kConstant));
}

std::unique_ptr<Fitted> load_constant(const TensorFile& file) { return ConstantFitted::load(file); }

}  // namespace

RegistryRow constant_row() { return {"constant", make_constant, load_constant}; }

}  // namespace slimbayes
