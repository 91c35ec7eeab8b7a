#include "tests/methods/task_contract.h"

#include <ATen/ATen.h>

#include <cmath>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/answers/count_metrics.h"
#include "slimbayes/data/synthetic_counts.h"
#include "slimbayes/encoding/target.h"
#include "tests/methods/served_answer.h"

namespace slimbayes::contract {

namespace {

std::unique_ptr<Fitted> fit_task(const Subject& subject, const Split& split) {
  return brief_fit(subject, split, kSeed);
}

/// Returns the numbers of an answer. [n, columns]
at::Tensor numbers_of(const Predictive& answer) {
  if (const auto* p = std::get_if<Classes>(&answer))
    return at::cat({p->probabilities, p->predictive_entropy.unsqueeze(1), p->expected_entropy.unsqueeze(1)},
                   1);
  const LogNormalRate* rate = nullptr;
  if (const auto* p = std::get_if<Counts>(&answer)) rate = &p->rate;
  if (const auto* p = std::get_if<Intensity>(&answer)) rate = &p->rate;
  require(rate != nullptr, "the answer of another task");
  return at::stack({rate->log_mean, rate->log_var}, 1);
}

void task_shapes(const Subject& subject, LikelihoodKind likelihood, const Fitted& fitted) {
  Dataset data = task_toy(likelihood, 33, 3);
  Predictive answer = fitted.predict(data);
  at::Tensor all = numbers_of(answer);
  require(all.scalar_type() == at::kDouble, "an answer that is not float64");
  require(all.size(0) == 33, "an answer that is not [n]");
  require(at::isfinite(all).all().item<bool>(), "answers that are not finite");
  const auto* p = std::get_if<Classes>(&answer);
  require((p != nullptr) == (task_of(likelihood) == TaskKind::classification),
          "classes for another task, or none");
  if (p != nullptr) {
    int64_t classes = static_cast<int64_t>(data.schema.task.levels.size());
    require(p->probabilities.size(1) == classes, "other classes than the task's");
    require((p->probabilities >= 0).all().item<bool>(), "a negative probability");
    at::Tensor sums = p->probabilities.sum(1);
    require(at::allclose(sums, at::ones_like(sums), 0, 1e-12), "probabilities that do not sum to 1");
    require((mutual_information(*p) >= 0).all().item<bool>(), "a negative mutual information");
  } else {
    require((all.select(1, 1) >= 0).all().item<bool>(), "a negative variance");
  }
  Scores all_scores = scores(answer, ood_score(*subject.info, nlohmann::json::object()));
  const auto known = all_scores.size();
  const Scores own = fitted.ood(data);
  all_scores.insert(own.begin(), own.end());
  require(all_scores.size() == known + own.size(), "a score of its own with the name of another");
  for (const auto& [name, score] : all_scores) {
    require(score.scalar_type() == at::kDouble, "a score that is not float64: " + name);
    require(score.sizes() == at::IntArrayRef{33} && at::isfinite(score).all().item<bool>(),
            "no score " + name);
  }
}

void task_seeds(const Subject& subject, LikelihoodKind likelihood, const Fitted&) {
  Dataset data = task_toy(likelihood, 50, 3);
  Split split = task_split(likelihood);
  const auto numbers_with = [&](uint64_t seed) {
    return numbers_of(briefest_fit(subject, split, seed)->predict(data));
  };
  at::Tensor first = numbers_with(kSeed);
  require(at::equal(first, numbers_with(kSeed)), "other bits from the same seed");
  const bool other = !at::equal(first, numbers_with(6));
  require(other == subject.info->seeded, "the same bits from another seed");
}

/// Requires an NLL on new rows that is lower than the NLL of the best constant answer; of a plain method, one
/// that is no higher.
void task_beats_constant(const Subject& subject, LikelihoodKind likelihood, const Fitted& fitted) {
  Dataset data = task_toy(likelihood, 400, 3);
  Predictive answer = fitted.predict(data);
  const at::Tensor y = data.all().target;
  double ours = 0, constant = 0;
  if (const auto* p = std::get_if<Classes>(&answer)) {
    at::Tensor share = at::bincount(y.to(at::kLong)).to(at::kDouble) / y.size(0);
    ours = class_nll(*p, y);
    constant = -at::special_xlogy(share, share).sum().item<double>();
  } else if (const auto* p = std::get_if<Counts>(&answer)) {
    ours = count_nll(*p, y);
    constant = count_nll({{y.mean().log().expand({400}), at::zeros({400}, at::kDouble)}}, y);
  } else {  // NLL of the events' places against the uniform density on the square of area 4
    at::Tensor axis = at::linspace(-0.975, 0.975, 40, at::kDouble);
    const Dataset grid = dataset_of(data.schema, {{at::cartesian_prod({axis, axis})}});
    at::Tensor everywhere = mean(std::get<Intensity>(fitted.predict(grid)).rate);
    at::Tensor here = mean(std::get<Intensity>(answer).rate);
    ours = std::log(4 * everywhere.mean().item<double>()) - here.log().mean().item<double>();
    constant = std::log(4.0);
    double expected = 4 * everywhere.mean().item<double>();
    require(std::abs(expected / 240 - 1) < 0.15, "an expected count far from that of the training events");
  }
  require(ours < constant + (subject.info->plain ? 0.05 : -0.05), "an NLL no better than the constant's");
}

void task_persists(const Subject& subject, LikelihoodKind likelihood, const Fitted& fitted) {
  Dataset data = task_toy(likelihood, 50, 3);
  TensorFile file = fitted.save();
  file.metadata["method"] = subject.info->name;
  at::Tensor here = numbers_of(fitted.predict(data));
  require(at::equal(here, numbers_of(subject.load(file)->predict(data))),
          "other predictions after save and load");
  const Scores before = fitted.ood(data), after = subject.load(file)->ood(data);
  require(before.size() == after.size(), "other scores after save and load");
  for (const auto& [name, score] : before)
    require(at::equal(score, after.at(name)), "another score after save and load: " + name);
}

void task_rows_apart(const Subject&, LikelihoodKind likelihood, const Fitted& fitted) {
  Dataset data = task_toy(likelihood, 101, 3);
  at::Tensor whole = numbers_of(fitted.predict(data)), order = Stream(9).permutation(101);
  require(at::allclose(whole, numbers_of(fitted.predict(data, {7})), 1e-5, 1e-8),
          "answers that depend on the batch");
  at::Tensor sorted = numbers_of(fitted.predict(data.subset(order))).index_select(0, at::argsort(order));
  require(at::allclose(whole, sorted, 1e-5, 1e-8), "answers that depend on the order of the rows");
  require(numbers_of(fitted.predict(task_toy(likelihood, 0, 3))).size(0) == 0,
          "no empty answer to empty data");
}

void task_bad_input(const Subject& subject, LikelihoodKind likelihood, const Fitted& fitted) {
  Split split = task_split(likelihood);
  const Dataset nan = changed(split.train, [](Batch& b) {
    b.inputs[0] = b.inputs[0].clone();
    b.inputs[0][2][1] = std::nan("");
  });
  refuses([&] { fit_task(subject, {nan, split.valid}); }, "a non-finite input to fit");
  refuses([&] { fitted.predict(nan); }, "a non-finite input to predict");
  refuses([&] { fit_task(subject, {task_toy(likelihood, 0, 1), split.valid}); }, "an empty training set");
  if (likelihood == LikelihoodKind::cox) return;
  for (double bad : {-1.0, 0.5}) {
    const Dataset data = changed(split.train, [bad](Batch& b) {
      b.target = b.target.clone();
      b.target[2] = bad;
    });
    refuses([&] { fit_task(subject, {data, split.valid}); }, "a class or count that is none");
  }
}

/// Requires finite answers on odd data: eight rows, fewer than the rank; a constant input; no validation
/// rows; for counts, only zeros.
void task_odd_data(const Subject& subject, LikelihoodKind likelihood, const Fitted&) {
  Dataset few = task_toy(likelihood, 8, 4);
  const int64_t classes = std::max<int64_t>(1, std::ssize(few.schema.task.levels));
  few = changed(few, [&](Batch& b) {
    b.inputs[0] = b.inputs[0].clone();
    b.inputs[0].select(1, 1).fill_(0.25);
    // For counts `classes` is 1, so every count is zero.
    if (likelihood != LikelihoodKind::cox) b.target = at::arange(8, at::kDouble).remainder(classes);
  });
  auto fitted = fit_task(subject, {few, task_toy(likelihood, 0, 2)});
  require(at::isfinite(numbers_of(fitted->predict(few))).all().item<bool>(), "answers that are not finite");
}

void task_served(const Subject& subject, LikelihoodKind likelihood, const Fitted& fitted) {
  const bool known = fact_of(likelihood) == nullptr;  // the engine knows Poisson counts alone
  serves(fitted, task_toy(likelihood, 33, 3), known && is_served(subject.info->name, task_of(likelihood)));
}

}  // namespace

Dataset task_toy(LikelihoodKind likelihood, int64_t rows, uint64_t seed) {
  Stream stream(seed);
  at::Tensor x = 2 * stream.split("x").uniform({rows, 2}) - 1, wave = at::sin(3 * x.select(1, 0));
  Schema schema{{}, {"x0", "x1"}};
  Task& task = schema.task;
  task.kind = task_of(likelihood);
  task.likelihood = likelihood;
  at::Tensor y;
  if (likelihood == LikelihoodKind::bernoulli) {
    task.levels = {"no", "yes"};
    y = (stream.split("y").uniform({rows}) < at::sigmoid(4 * wave)).to(at::kDouble);
  } else if (likelihood == LikelihoodKind::softmax) {
    task.levels = {"a", "b", "c"};
    task.outputs = 3;
    at::Tensor logits = at::stack({3 * wave, -3 * wave, 0 * wave}, 1);
    at::Tensor gumbel = -at::log(-at::log(stream.split("y").uniform({rows, 3})));
    y = (logits + gumbel).argmax(1).to(at::kDouble);
  } else if (task.kind == TaskKind::counts) {
    // Of a negative binomial the rates have a gamma factor of the shape 2, so that the dispersion is 0.5.
    const at::Tensor own_noise = stream.split("noise").uniform({rows, 2}).to(at::kDouble).clamp_min(1e-12);
    if (likelihood == LikelihoodKind::negative_binomial) wave = wave + (-own_noise.log().mean(1)).log();
    y = wave.to(at::kDouble).clone(at::MemoryFormat::Contiguous);
    const Stream own = stream.split("y");
    double* cells = y.mutable_data_ptr<double>();  // a tensor operation for each of 10,000 rows takes long
    for (int64_t i = 0; i < rows; ++i)
      cells[i] = static_cast<double>(poisson_draw(std::exp(1 + cells[i]), own, static_cast<uint64_t>(i)));
    if (likelihood == LikelihoodKind::zero_inflated_poisson)
      y = at::where(own_noise.select(1, 0) < 0.2, 0.0, y);
  } else {  // `rows` places with density proportional to 1 + 0.9 wave, by rejection
    x = 2 * stream.split("places").uniform({8 * rows, 2}) - 1;
    at::Tensor keep = stream.split("keep").uniform({8 * rows}) * 1.9 < 1 + 0.9 * at::sin(3 * x.select(1, 0));
    x = x.index_select(0, keep.nonzero().squeeze(1)).narrow(0, 0, rows);
  }
  return dataset_of(schema, {{x}, y});
}

Split task_split(LikelihoodKind likelihood) {
  return {task_toy(likelihood, 240, 1), task_toy(likelihood, 60, 2)};
}

const std::vector<TaskClause>& task_clauses() {
  static const std::vector<TaskClause> all = {
      {"shapes", task_shapes},       {"seeds", task_seeds},
      {"persists", task_persists},   {"beats_constant", task_beats_constant},
      {"bad_input", task_bad_input}, {"rows_apart", task_rows_apart},
      {"odd_data", task_odd_data},   {"served", task_served}};
  return all;
}

}  // namespace slimbayes::contract
