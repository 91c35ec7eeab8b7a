#include "tests/methods/contract.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/core/check.h"
#include "tests/methods/served_answer.h"

namespace slimbayes::contract {

namespace {

std::unique_ptr<Fitted> fit(const Subject& subject, uint64_t seed, const Split& split) {
  return brief_fit(subject, split, seed);
}

bool same_bits(const Regression& a, const Regression& b) {
  return at::equal(a.mean, b.mean) && at::equal(a.aleatoric_var, b.aleatoric_var) &&
         at::equal(a.epistemic_var, b.epistemic_var);
}

bool close(const Regression& a, const Regression& b) {
  return at::allclose(a.mean, b.mean, 1e-5, 1e-8) && at::allclose(total_var(a), total_var(b), 1e-5, 1e-10);
}

void finite(const Regression& p, const std::string& when) {
  for (const at::Tensor& x : {p.mean, p.aleatoric_var, p.epistemic_var}) {
    require(at::isfinite(x).all().item<bool>(), "answers that are not finite " + when);
  }
}

void shapes(const Subject& subject, const Fitted& fitted) {
  Regression p = answer(fitted, toy(33, 3));
  for (const at::Tensor& x : {p.mean, p.aleatoric_var, p.epistemic_var}) {
    require(x.scalar_type() == at::kDouble, "an answer that is not float64");
    require(x.sizes() == at::IntArrayRef{33}, "an answer that is not [n]");
  }
  finite(p, "on toy data");
  Scores all = scores(p, ood_score(*subject.info, nlohmann::json::object()));
  all.merge(fitted.ood(toy(33, 3)));
  for (const auto& [name, score] : all) {
    require(score.sizes() == at::IntArrayRef{33} && at::isfinite(score).all().item<bool>(),
            "no score " + name);
    require(score.min().item<double>() < score.max().item<double>(), "a constant score " + name);
  }
  require(fitted.summary().rows >= 240, "a summary without its training rows");
}

void positive_variance(const Subject& subject, const Fitted& fitted) {
  Regression p = answer(fitted, toy(100, 3));
  require((total_var(p) > 0).all().item<bool>(), "a total variance that is not positive");
  require((p.epistemic_var >= 0).all().item<bool>(), "a negative epistemic variance");
  require((p.aleatoric_var >= 0).all().item<bool>(), "a negative aleatoric variance");
}

void seeds(const Subject& subject, const Fitted&) {
  Dataset data = toy(50, 3);
  const auto fit_with = [&](uint64_t seed) { return briefest_fit(subject, toy_split(), seed); };
  Regression first = answer(*fit_with(kSeed), data);
  require(same_bits(first, answer(*fit_with(kSeed), data)), "other bits from the same seed");
  bool other = same_bits(first, answer(*fit_with(6), data));
  require(other != subject.info->seeded, subject.info->seeded
                                             ? "the same bits from another seed"
                                             : "other bits from another seed though deterministic");
}

void beats_constant(const Subject& subject, const Fitted& fitted) {
  Dataset data = toy(400, 3);
  const at::Tensor y = data.all().target;
  Regression constant{y.mean().expand_as(y), y.var(false).expand_as(y), at::zeros_like(y)};
  Regression p = answer(fitted, data);
  if (subject.info->plain) {  // a straight line or a constant: no worse is all that it can promise
    require(regression_nll(p, y) < regression_nll(constant, y) + 0.05, "an NLL worse than the constant's");
    return;
  }
  require(root_mean_squared_error(p, y) < 0.5 * root_mean_squared_error(constant, y),
          "no better than the mean");
  require(regression_nll(p, y) < regression_nll(constant, y) - 0.3, "an NLL no better than the constant's");
}

void grows_away(const Subject& subject, const Fitted& fitted) {
  if (!subject.info->variance_grows_away) return;
  Dataset far = toy(50, 3);
  far = changed(far, [](Batch& b) { b.inputs[0] = b.inputs[0] + 5; });
  double near_var = answer(fitted, toy(50, 3)).epistemic_var.max().item<double>();
  require(answer(fitted, far).epistemic_var.min().item<double>() > near_var,
          "a variance that does not grow away");
}

void persists(const Subject& subject, const Fitted& fitted) {
  Dataset data = toy(50, 3);
  TensorFile file = fitted.save();
  file.metadata["method"] = subject.info->name;
  Regression here = answer(fitted, data);
  require(same_bits(here, answer(*subject.load(file), data)), "other predictions after save and load");
  if (subject.predict_elsewhere) {
    require(same_bits(here, subject.predict_elsewhere(file, data)), "other predictions in a new process");
  }
}

void bad_input(const Subject& subject, const Fitted& fitted) {
  refuses([&] { fitted.predict(toy(5, 3, 3)); }, "a prediction with another number of inputs");
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Dataset data = toy(5, 3);
    data = changed(data, [bad](Batch& b) {
      b.inputs[0] = b.inputs[0].clone();
      b.inputs[0][2][1] = bad;
    });
    refuses([&] { fitted.predict(data); }, "a non-finite input to predict");
    refuses([&] { fit(subject, 5, {data, toy(5, 4)}); }, "a non-finite input to fit");
    Dataset target = toy(50, 3);
    target = changed(target, [bad](Batch& b) {
      b.target = b.target.clone();
      b.target[2] = bad;
    });
    refuses([&] { fit(subject, 5, {target, toy(5, 4)}); }, "a non-finite target");
  }
  refuses([&] { fit(subject, 5, {toy(0, 3), toy(5, 4)}); }, "an empty training set");
  require(answer(fitted, toy(0, 3)).mean.numel() == 0, "no empty answer to empty data");
}

void odd_data(const Subject& subject, const Fitted& fitted) {
  Split constant = toy_split();
  for (Dataset* data : {&constant.train, &constant.valid}) {
    *data = changed(*data, [](Batch& b) {
      b.inputs[0] = b.inputs[0].clone();
      b.inputs[0].select(1, 1).fill_(0.25);
    });
  }
  finite(answer(*fit(subject, 5, constant), constant.valid), "with a constant column");
  Split flat = toy_split();
  for (Dataset* data : {&flat.train, &flat.valid})
    *data = changed(*data, [](Batch& b) { b.target = at::zeros_like(b.target); });
  Regression p = answer(*fit(subject, 5, flat), flat.valid);
  finite(p, "with equal targets");
  require((total_var(p) > 0).all().item<bool>(), "no variance with equal targets");
  Dataset twice = toy(40, 1).subset(at::arange(80).remainder(40));
  finite(answer(*fit(subject, 5, {twice, toy(20, 2)}), twice), "with every row twice");
  finite(answer(*fit(subject, 5, {toy(3, 1, 6), toy(2, 2, 6)}), toy(10, 3, 6)),
         "with fewer rows than inputs");
  finite(answer(*fit(subject, 5, {toy(60, 1), toy(0, 2)}), toy(10, 3)), "without validation rows");
}

void rows_apart(const Subject& subject, const Fitted& fitted) {
  Dataset data = toy(101, 3);
  Regression whole = answer(fitted, data);
  require(close(whole, answer(fitted, data, {5})), "answers that depend on the batch size");  // 21 batches
  at::Tensor order = Stream(9).permutation(101);
  Regression p = answer(fitted, data.subset(order));
  at::Tensor back = at::argsort(order);
  Regression sorted{p.mean.index_select(0, back), p.aleatoric_var.index_select(0, back),
                    p.epistemic_var.index_select(0, back)};
  require(close(whole, sorted), "answers that depend on the order of the rows");
}

void tells_progress(const Subject&, const Fitted& fitted) {
  std::vector<double> shares;
  PredictOptions options;
  options.batch = 5;
  options.progress = [&shares](double share) { shares.push_back(share); };
  answer(fitted, toy(101, 3), options);  // 21 batches
  require(shares.size() > 1 && shares.front() > 0, "no progress of a prediction");
  for (size_t i = 1; i < shares.size(); ++i)
    require(shares[i - 1] < shares[i], "progress that does not ascend");
  require(std::abs(shares.back() - 1) < 1e-9, "progress that does not end at 1");
}

void learns_and_forgets(const Subject& subject, const Fitted& fitted) {
  const ExactPosterior* posterior = fitted.exact_posterior();
  require((posterior != nullptr) == subject.info->updates,
          "an exact posterior that the catalogue does not list, or the reverse");
  if (posterior == nullptr) return;
  const Dataset data = toy(50, 3), more = toy(40, 7);
  const auto with = posterior->updated(more, {});
  const Regression before = answer(fitted, data), after = answer(*with, data);
  require(!close(before, after), "rows that were not learned");
  require(with->summary().rows == fitted.summary().rows + more.size(), "a wrong number of learned rows");
  require(close(before, answer(*with->updated({}, more), data)), "rows that were not forgotten");
  const auto shard = posterior->prior()->updated(more, {});
  require(close(after, answer(*posterior->merged(*shard), data)), "a merge unlike the posterior of all rows");
}

void leaves_the_world_alone(const Subject& subject, const Fitted& fitted) {
  Split split = toy_split();
  at::Tensor x = split.train.all().inputs[0].clone(), y = split.train.all().target.clone();
  at::Tensor random = at::detail::getDefaultCPUGenerator().get_state().clone();
  int threads = at::get_num_threads();
  auto dtype = c10::get_default_dtype();
  answer(*briefest_fit(subject, split, 5), toy(5, 3));
  require(at::equal(x, split.train.all().inputs[0]) && at::equal(y, split.train.all().target),
          "changed inputs");
  require(at::equal(random, at::detail::getDefaultCPUGenerator().get_state()),
          "a changed global random state");
  require(threads == at::get_num_threads(), "a changed thread count");
  require(dtype == c10::get_default_dtype(), "a changed default dtype");
}

void served(const Subject& subject, const Fitted& fitted) {
  serves(fitted, toy(33, 3), is_served(subject.info->name, TaskKind::regression));
}

}  // namespace

Split toy_split(int64_t inputs) { return {toy(240, 1, inputs), toy(60, 2, inputs)}; }

Dataset toy(int64_t rows, uint64_t seed, int64_t inputs) {
  Stream stream(seed);
  at::Tensor x = 2 * stream.split("x").uniform({rows, inputs}) - 1;
  at::Tensor y = at::sin(3 * x.select(1, 0)) + 0.1 * stream.split("noise").normal(at::IntArrayRef{rows});
  Schema schema;
  for (int64_t i = 0; i < inputs; ++i) schema.features.push_back(fmt::format("x{}", i));
  return dataset_of(schema, {{x}, y});
}

const std::vector<Clause>& clauses() {
  static const std::vector<Clause> all = {{"shapes", shapes},
                                          {"positive_variance", positive_variance},
                                          {"seeds", seeds},
                                          {"beats_constant", beats_constant},
                                          {"grows_away", grows_away},
                                          {"persists", persists},
                                          {"bad_input", bad_input},
                                          {"odd_data", odd_data},
                                          {"rows_apart", rows_apart},
                                          {"tells_progress", tells_progress},
                                          {"learns_and_forgets", learns_and_forgets},
                                          {"leaves_the_world_alone", leaves_the_world_alone},
                                          {"served", served}};
  return all;
}

}  // namespace slimbayes::contract
