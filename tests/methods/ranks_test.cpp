// Fits by several ranks, each a thread here: every rank has the same model, which is that of one process
// where no random number belongs to a row.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/storage/tensor_file.h"
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
  of_task("BatchNorm", "dnn", {{"network", "tabular_resnet"}, {"batch_norm", true}}, LikelihoodKind::gaussian,
          /*as_alone=*/false);
  cases.push_back({"Bll", "bll", kShort});
  cases.push_back({"RichBll", "rich-bll", kShort});
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

TensorFile fitted_by(const RankCase& of, const Collective* ranks) {
  Split split = contract::toy_split();
  const bool classes = task_of(of.likelihood) == TaskKind::classification;
  for (Dataset* part : {&split.train, &split.valid}) {
    Batch rows = part->all();
    if (classes) {
      const at::Tensor y = rows.target;
      rows.target = y.gt(0).to(at::kLong);
      if (of.likelihood == LikelihoodKind::softmax) rows.target = rows.target + y.gt(0.5).to(at::kLong);
    }
    if (of.likelihood == LikelihoodKind::poisson) rows.target = rows.target.abs().mul(3).round();
    Schema schema = part->schema;
    schema.task.likelihood = of.likelihood;
    schema.task.kind = task_of(of.likelihood);
    if (of.likelihood == LikelihoodKind::softmax) schema.task.outputs = 3;
    *part = dataset_of(schema, std::move(rows));
  }
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

// What is a sum over rows is exact: the ranks add what one process adds, in another order.
TEST(RankSums, AreThoseOfOneProcess) {
  const Split split = contract::toy_split();
  for (const char* method : {"ridge", "bll", "ntk-sketch"}) {
    const json options = std::string(method) == "ridge" ? json::object() : short_with({{"steps", 5}});
    const auto fitted = [&](const Collective* ranks, std::shared_ptr<const TrainedNetwork> start) {
      FitContext context{Stream(5)};
      context.ranks = ranks;
      context.start = std::move(start);
      return registry_row(method).make(find_method(method).resolve(options))->fit(split, context);
    };
    const std::shared_ptr<const TrainedNetwork> network =
        std::string(method) == "ridge" ? nullptr : fitted(nullptr, nullptr)->network();
    const TensorFile alone = fitted(nullptr, network)->save();
    const auto thrown = run_ranks(3, [&](const Collective& ranks) {
      const TensorFile file = fitted(&ranks, network)->save();
      for (const auto& [name, tensor] : alone.tensors) {
        // The variances of ridge come from a search for the flat top of the evidence.
        const double most = name.find("statistics") != std::string::npos ? 1e-14 : 1e-9;
        EXPECT_LT(farthest({{}, {{name, tensor}}}, file), most) << method << ": " << name;
      }
    });
    EXPECT_EQ(thrown, std::vector<std::string>(3, ""));
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, OnRanks, testing::ValuesIn(rank_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace slimbayes
