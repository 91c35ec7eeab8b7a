// Fits by several ranks, each a thread here: every rank has the same model, which is that of one process
// where no random number belongs to a row.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"
#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/shared_step.h"
#include "tests/methods/contract.h"
#include "tests/train/thread_ranks.h"

namespace slimbayes {
namespace {

using nlohmann::json;

struct RankCase {
  const char *name, *method;
  json options;
  Execution execution = Execution::engine;
  bool as_alone = true;  // whether the model is that of one process
  LikelihoodKind likelihood = LikelihoodKind::gaussian;
};

const json kShort = {{"hidden", 12}, {"steps", 30}, {"batch", 40}};

json short_with(json more) {
  json all = kShort;
  all.update(more);
  return all;
}

std::vector<RankCase> rank_cases() {
  std::vector<RankCase> cases;
  for (const Execution by : {Execution::engine, Execution::libtorch}) {
    const char* const suffix = by == Execution::engine ? "Engine" : "Libtorch";
    const auto add = [&](const std::string& name, const char* method, const json& more) {
      static std::vector<std::unique_ptr<std::string>> names;
      names.push_back(std::make_unique<std::string>(name + suffix));
      cases.push_back({names.back()->c_str(), method, short_with(more), by});
    };
    add("Silu", "dbk", {{"rank", 8}, {"alpha", 0.5}, {"focus", 0}});
    add("Focused", "dbk", {{"rank", 8}, {"alpha", 0.5}, {"focus", 1}});
    add("Rbf", "dbk", {{"basis", "rbf"}, {"rank", 8}, {"alpha", 0.5}});
    add("SvDbk", "sv-dbk", {{"rank", 8}});
    add("Vbll", "vbll", {{"rank", 8}});
    add("PpDkl", "pp-dkl", {{"rank", 8}});
    add("Dnn", "dnn", json::object());
  }
  const auto of_task = [&](const char* name, const char* method, const json& more, LikelihoodKind likelihood,
                           bool as_alone = true) {
    cases.push_back({name, method, short_with(more), Execution::engine, as_alone, likelihood});
  };
  of_task("Student", "dbk", {{"rank", 8}, {"alpha", 0.5}}, LikelihoodKind::student);
  of_task("Bernoulli", "vbll", {{"rank", 8}}, LikelihoodKind::bernoulli);
  of_task("Softmax", "sv-dkl", {{"rank", 8}}, LikelihoodKind::softmax, /*as_alone=*/false);
  of_task("Poisson", "vbll", {{"rank", 8}}, LikelihoodKind::poisson);
  of_task("Classes", "dnn", {{"class_weights", "balanced"}, {"label_smoothing", 0.1}},
          LikelihoodKind::softmax);
  of_task("Laplace", "last-layer-laplace", json::object(), LikelihoodKind::softmax);
  of_task("FidGp", "fid-gp", json::object(), LikelihoodKind::softmax, /*as_alone=*/false);
  of_task("BatchNorm", "dnn", {{"network", "mlp"}, {"batch_norm", true}}, LikelihoodKind::gaussian,
          /*as_alone=*/false);
  cases.push_back({"Bll", "bll", kShort});
  cases.push_back({"RichBll", "rich-bll", kShort});
  of_task("BllClasses", "bll", json::object(), LikelihoodKind::softmax);
  of_task("RichClasses", "rich-bll", json::object(), LikelihoodKind::softmax);
  of_task("SketchClasses", "ntk-sketch", json::object(), LikelihoodKind::softmax);
  cases.push_back({"Ridge", "ridge", json::object()});
  for (const Execution by : {Execution::engine, Execution::libtorch}) {
    const bool engine = by == Execution::engine;
    const json exact = {{"hidden", 12}, {"rank", 8}, {"steps", 20}, {"alpha", 0.5}};
    cases.push_back({engine ? "ExactEngine" : "ExactLibtorch", "dbk-exact", exact, by});
  }
  cases.push_back({"ExactChunks",
                   "dbk-exact",
                   {{"hidden", 12}, {"rank", 8}, {"steps", 20}, {"chunk", 17}, {"correction", true}}});
  cases.push_back({"NtkSketch", "ntk-sketch", short_with({{"sketch", 20}})});
  cases.push_back({"GpExact", "gp-exact", json::object()});
  cases.push_back({"Ensemble", "ensemble", short_with({{"members", 2}})});
  cases.push_back({"Dropout", "mc-dropout", kShort, Execution::engine, false});
  cases.push_back({"LowRank", "low-rank", kShort, Execution::engine, false});
  cases.push_back({"BatchEnsemble", "batch-ensemble", kShort});
  return cases;
}

void PrintTo(const RankCase& of, std::ostream* out) { *out << of.name; }

class OnRanks : public testing::TestWithParam<RankCase> {};

Split split_for(LikelihoodKind likelihood) {
  Split split = contract::toy_split();
  const bool classes = task_of(likelihood) == TaskKind::classification;
  for (Dataset* part : {&split.train, &split.valid}) {
    Batch rows = part->all();
    if (classes) {
      const at::Tensor y = rows.target;
      rows.target = y.gt(0).to(at::kLong);
      if (likelihood == LikelihoodKind::softmax) rows.target = rows.target + y.gt(0.5).to(at::kLong);
    }
    if (likelihood == LikelihoodKind::poisson) rows.target = rows.target.abs().mul(3).round();
    Schema schema = part->schema;
    schema.task.likelihood = likelihood;
    schema.task.kind = task_of(likelihood);
    if (likelihood == LikelihoodKind::softmax) schema.task.outputs = 3;
    *part = dataset_of(schema, std::move(rows));
  }
  return split;
}

TensorFile fitted_by(const RankCase& of, const Collective* ranks) {
  const Split split = split_for(of.likelihood);
  FitContext context{Stream(5)};
  context.ranks = ranks;
  context.execution = of.execution;
  TensorFile file =
      registry_row(of.method).make(find_method(of.method).resolve(of.options))->fit(split, context)->save();
  file.metadata.erase("summary");  // its seconds differ
  return file;
}

double farthest(const TensorFile& a, const TensorFile& b) {
  double most = 0;
  for (const auto& [name, x] : a.tensors) {
    const at::Tensor one = stored_tensor(a, name).to(at::kDouble),
                     other = stored_tensor(b, name).to(at::kDouble);
    if (one.numel() > 0)
      most = std::max(
          most,
          ((one - other).abs() / (one.abs() + other.abs() + 0.1)).nan_to_num(INFINITY).max().item<double>());
  }
  return most;
}

TEST_P(OnRanks, HasOneModel) {
  const RankCase& of = GetParam();
  const TensorFile alone = fitted_by(of, nullptr);
  for (const int64_t size : {2, 3}) {
    std::vector<TensorFile> files(static_cast<size_t>(size));
    const auto thrown = run_ranks(size, [&](const Collective& ranks) {
      files[static_cast<size_t>(ranks.rank())] = fitted_by(of, &ranks);
    });
    ASSERT_EQ(thrown, std::vector<std::string>(static_cast<size_t>(size), ""));
    for (const TensorFile& file : files) EXPECT_EQ(farthest(file, files[0]), 0) << size;
    if (of.as_alone) {
      EXPECT_LT(farthest(files[0], alone), 2e-3) << size;
    }
  }
}

/// The gradients of a network's parameters on a batch, and its running averages after it.
std::vector<at::Tensor> gradients_at(const NetworkSpec& spec, const at::Tensor& x, const at::Tensor& y,
                                     const ForwardContext& context) {
  const Parameters parameters(network_parameters(spec, "net", "all", Stream(1)), at::kFloat);
  const BoundNetwork network(
      spec, "net", [&](const std::string& name) { return parameters[name]; }, Execution::libtorch);
  (network(x, context).sum(1) - y).square().mean().backward();
  return {parameters.grads("all").clone(), parameters.values(kBuffers).clone()};
}

// Not the weights after some steps: the bias before a batch norm has no gradient but rounding, which AdamW
// scales to steps of any sign.
TEST(BatchNormOnRanks, HasTheGradientOfTheWholeBatch) {
  const NetworkSpec spec = mlp(4, 12, 2, "silu", 0, /*batch_norm=*/true);
  const at::Tensor x = 3 + Stream(2).normal({50, 4}, at::kFloat), y = Stream(3).normal({50}, at::kFloat);
  const std::vector<at::Tensor> whole = gradients_at(spec, x, y, {true});
  const auto thrown = run_ranks(3, [&](const Collective& ranks) {
    const std::vector<int64_t> parts = {0, 7, 30, 50};
    const auto r = static_cast<size_t>(ranks.rank());
    const int64_t first = parts[r], count = parts[r + 1] - first;
    const double share = static_cast<double>(count) / 50;
    ForwardContext context{true};
    context.total = [&](const at::Tensor& sums) { return total_over_ranks(sums, ranks, share); };
    const std::vector<at::Tensor> own =
        gradients_at(spec, x.narrow(0, first, count), y.narrow(0, first, count), context);
    const at::Tensor gradient = own[0] * share;
    ranks.sum(gradient);
    EXPECT_TRUE(at::allclose(gradient, whole[0], 1e-4, 1e-5)) << (gradient - whole[0]).abs().max();
    EXPECT_TRUE(at::allclose(own[1], whole[1], 1e-5, 1e-5));
  });
  EXPECT_EQ(thrown, std::vector<std::string>(3, ""));
}

// What is a sum over rows is exact: the ranks add what one process adds, in another order.
std::vector<RankCase> sum_cases() {
  std::vector<RankCase> cases = {{"Ridge", "ridge", json::object()}};
  const auto add = [&](const char* name, const char* method, json more, LikelihoodKind likelihood) {
    more["steps"] = 5;
    cases.push_back({name, method, short_with(std::move(more)), Execution::engine, true, likelihood});
  };
  using enum LikelihoodKind;
  const auto by_route = [](const char* route) {  // with a ridge so small that the gradients are float64
    return json{{"ridge", 9e-7}, {"route", route}};
  };
  add("Bll", "bll", json::object(), gaussian);
  add("Sketch", "ntk-sketch", json::object(), gaussian);
  add("Laplace", "last-layer-laplace", json::object(), gaussian);
  add("RichGram", "rich-bll", by_route("gram"), gaussian);
  add("RichSums", "rich-bll", by_route("sums"), gaussian);
  add("RichWeighted", "rich-bll", by_route("weighted"), gaussian);
  add("RichHashed", "rich-bll", by_route("sketch"), gaussian);
  add("BllOfTwo", "bll", json::object(), bernoulli);
  add("BllOfClasses", "bll", json::object(), softmax);
  add("BllOfDrawnRows", "bll", {{"class_rows", 7}}, softmax);
  add("RichOfTwo", "rich-bll", by_route("weighted"), bernoulli);
  add("RichOfClasses", "rich-bll", by_route("sums"), softmax);
  add("RichGramOfClasses", "rich-bll", by_route("gram"), softmax);
  add("LaplaceOfTwo", "last-layer-laplace", json::object(), bernoulli);
  add("LaplaceOfClasses", "last-layer-laplace", {{"structure", "full"}}, softmax);
  add("LaplaceKronecker", "last-layer-laplace", {{"structure", "kronecker"}}, softmax);
  add("SketchOfClasses", "ntk-sketch", json::object(), softmax);
  return cases;
}

class RankSums : public testing::TestWithParam<RankCase> {};

std::shared_ptr<const Fitted> fit_around(const RankCase& of, const Split& split, const Collective* ranks,
                                         std::shared_ptr<const TrainedNetwork> start) {
  FitContext context{Stream(5)};
  context.ranks = ranks;
  context.start = std::move(start);
  return registry_row(of.method).make(find_method(of.method).resolve(of.options))->fit(split, context);
}

std::shared_ptr<const TrainedNetwork> network_for_sums(const RankCase& of) {
  if (std::string(of.method) == "ridge") return nullptr;
  return fit_around(of, split_for(of.likelihood), nullptr, nullptr)->network();
}

/// Compares the sums of three ranks over `split` with those of one process. Statistics may differ by a share
/// of `of_statistics`.
void expect_sums_of_one(const RankCase& of, const Split& split, double of_statistics) {
  const std::shared_ptr<const TrainedNetwork> network = network_for_sums(of);
  const TensorFile alone = fit_around(of, split, nullptr, network)->save();
  const auto thrown = run_ranks(3, [&](const Collective& ranks) {
    const TensorFile file = fit_around(of, split, &ranks, network)->save();
    for (const auto& [name, tensor] : alone.tensors) {
      // The variances of ridge and the prior sds come from a search for the flat top of a score. The prior
      // of rich-bll is as sensitive as its projector, whose ridge is small here.
      const double most = name.find("statistics") != std::string::npos ? of_statistics : 1e-8;
      EXPECT_LT(farthest({{}, {{name, tensor}}}, file), most) << of.method << ": " << name;
    }
  });
  EXPECT_EQ(thrown, std::vector<std::string>(3, ""));
}

TEST_P(RankSums, AreThoseOfOneProcess) {
  expect_sums_of_one(GetParam(), split_for(GetParam().likelihood), 1e-14);
}

// Each rank has the weights of its own rows.
TEST_P(RankSums, OfRowsWithWeightsAreThoseOfOneProcess) {
  Split split = split_for(GetParam().likelihood);
  for (Dataset* part : {&split.train, &split.valid})
    *part = weighted(*part, 0.3 + at::arange(part->size()).remainder(7).to(at::kDouble));
  expect_sums_of_one(GetParam(), split, 1e-12);
}

/// Rows that count how often they are read, and cannot be read again after `most` reads.
class CountedRows : public Source {
 public:
  CountedRows(std::shared_ptr<const Source> rows, int64_t most) : rows_(std::move(rows)), most_(most) {}

  int64_t size() const override { return rows_->size(); }
  Batch rows(const at::Tensor& indices, const RowContext& context) const override {
    count_ += indices.size(0);
    if (count_ > most_) throw std::runtime_error("unreadable rows");
    return rows_->rows(indices, context);
  }
  int64_t count() const { return count_; }

 private:
  std::shared_ptr<const Source> rows_;
  int64_t most_;
  mutable int64_t count_ = 0;
};

// Every rank checks all rows; then each reads its own, once for the features and once for the gradients.
TEST(RankRows, AreReadByTheirRankAlone) {
  for (const RankCase& of : sum_cases()) {
    const std::string name = of.name;
    if (name.starts_with("RichGram")) continue;  // its pairs of rows need the gradients of all
    const Split split = split_for(of.likelihood);
    const int64_t n = split.train.size(), passes = std::string(of.method) == "rich-bll" ? 2 : 1;
    const std::shared_ptr<const TrainedNetwork> network = network_for_sums(of);
    const auto thrown = run_ranks(3, [&](const Collective& ranks) {
      Split counted = split;
      const auto rows = std::make_shared<CountedRows>(split.train.source, 100 * n);
      counted.train.source = rows;
      fit_around(of, counted, &ranks, network);
      EXPECT_LE(rows->count(), n + passes * (n / 3 + 1) + 4) << name;  // rows of the plans of gradients: 4
    });
    EXPECT_EQ(thrown, std::vector<std::string>(3, ""));
  }
}

TEST(RankRows, ThatCannotBeReadEndTheFitOfEveryRank) {
  for (const RankCase& of : sum_cases()) {
    const Split split = split_for(of.likelihood);
    const std::shared_ptr<const TrainedNetwork> network = network_for_sums(of);
    const auto thrown = run_ranks(3, [&](const Collective& ranks) {
      Split counted = split;
      const int64_t n = split.train.size(), most = ranks.rank() == 1 ? n + 1 : 100 * n;
      counted.train.source = std::make_shared<CountedRows>(split.train.source, most);
      fit_around(of, counted, &ranks, network);
    });
    EXPECT_EQ(thrown, (std::vector<std::string>{"rank 1: unreadable rows", "unreadable rows",
                                                "rank 1: unreadable rows"}))
        << of.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, RankSums, testing::ValuesIn(sum_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Methods, OnRanks, testing::ValuesIn(rank_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace slimbayes
