#include "tests/methods/contract.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/storage/tensor_file.h"
#include "tests/methods/once.h"

namespace slimbayes {
namespace {

using contract::Subject;

/// Runs in the second process, `test_methods --answer MODEL INPUTS OUT`: predicts and writes the answer to
/// OUT.
int answer_elsewhere(const char* model_path, const char* inputs_path, const char* out_path) {
  at::set_num_threads(1);  // as in the first process; bits depend on the threads
  TensorFile model = read_tensor_file(model_path);
  const Dataset data = dataset_of({}, {{stored_tensor(read_tensor_file(inputs_path), "x")}});
  auto fitted = registry_row(stored_text(model, "method")).load(model);
  Regression p = std::get<Regression>(fitted->predict(data));
  TensorFile out;
  out.tensors = {{"mean", to_stored(p.mean)},
                 {"aleatoric_var", to_stored(p.aleatoric_var)},
                 {"epistemic_var", to_stored(p.epistemic_var)}};
  write_tensor_file(out_path, out);
  return 0;
}

Regression ask_another_process(const TensorFile& model, const Dataset& data) {
  std::filesystem::path folder = testing::TempDir();
  std::string stem =
      (folder / fmt::format("contract-{}", ::testing::UnitTest::GetInstance()->random_seed())).string();
  TensorFile inputs;
  inputs.tensors["x"] = to_stored(data.all().inputs[0]);
  write_tensor_file(stem + ".model", model);
  write_tensor_file(stem + ".inputs", inputs);
  std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string command = fmt::format("'{0}' --answer '{1}.model' '{1}.inputs' '{1}.out'", self, stem);
  if (std::system(command.c_str()) != 0) throw contract::Violation("the second process failed");
  TensorFile out = read_tensor_file(stem + ".out");
  for (const char* ending : {".model", ".inputs", ".out"}) std::filesystem::remove(stem + ending);
  return {stored_tensor(out, "mean"), stored_tensor(out, "aleatoric_var"),
          stored_tensor(out, "epistemic_var")};
}

Subject subject_of(const RegistryRow& row) {
  const MethodInfo& info = find_method(row.name);
  nlohmann::json quick = nlohmann::json::object();
  if (info.candidates) quick["candidates"] = "ridge,vbll";
  const std::vector<OptionDoc> options = options_of(info, quick);
  bool mini_batches = std::ranges::any_of(options, [](const OptionDoc& o) { return o.name == "batch"; });
  for (const OptionDoc& option : options) {
    if (option.name == "members") quick["members"] = 2;
    if (option.name == "steps") quick["steps"] = mini_batches ? 600 : 100;
    if (option.name == "iterations") quick["iterations"] = 20;
    if (option.name == "sketch") quick["sketch"] = 64;
    if (option.name == "inducing_rows")  // a step costs much for each layer, however small
      quick.update({{"hidden", 32}, {"blocks", 1}});
  }
  nlohmann::json brief = quick;
  if (quick.contains("steps")) brief["steps"] = mini_batches ? 120 : 50;
  nlohmann::json briefest = brief;
  if (quick.contains("steps") && !info.candidates) briefest["steps"] = contract::kBriefestSteps;
  return {&info,
          [&row, quick] { return row.make(quick); },
          row.load,
          ask_another_process,
          [&row, brief] { return row.make(brief); },
          [&row, briefest] { return row.make(briefest); }};
}

/// Returns the indices in the registry of the methods that take the regression of a table.
std::vector<size_t> on_tables() {
  std::vector<size_t> all;
  for (size_t i = 0; i < registry().size(); ++i)
    if (const MethodInfo& info = find_method(registry()[i].name);
        takes(info, InputKind::table) && takes(info, TaskKind::regression))
      all.push_back(i);
  return all;
}

class Contract : public testing::TestWithParam<std::tuple<size_t, size_t>> {};

TEST_P(Contract, Holds) {
  const RegistryRow& row = registry()[std::get<0>(GetParam())];
  const contract::Clause& clause = contract::clauses()[std::get<1>(GetParam())];
  const Subject subject = subject_of(row);
  const Fitted& fitted = contract::fitted_once("rows " + std::string(row.name), [&] {
    return subject.make()->fit(contract::toy_split(), {Stream(contract::kSeed), nullptr, {}});
  });
  EXPECT_NO_THROW(clause.hold(subject, fitted));
}

INSTANTIATE_TEST_SUITE_P(Registry, Contract,
                         testing::Combine(testing::ValuesIn(on_tables()),
                                          testing::Range<size_t>(0, contract::clauses().size())),
                         [](const auto& info) {
                           return contract::test_name(std::string(registry()[std::get<0>(info.param)].name) +
                                                      "_" +
                                                      contract::clauses()[std::get<1>(info.param)].name);
                         });

TEST(Registry, ListsWhatTheCatalogueLists) {
  std::vector<std::string> rows, catalogue;
  for (const RegistryRow& row : registry()) rows.emplace_back(row.name);
  for (const MethodInfo& info : method_catalog()) catalogue.push_back(info.name);
  EXPECT_EQ(rows, catalogue);
}

TEST(Registry, RefusesOptionsThatTheMethodDoesNotKnow) {
  for (const RegistryRow& row : registry())
    EXPECT_THROW(row.make({{"no_such_option", 1}}), std::invalid_argument);
}

// The tests of the clauses: a method with one deliberate fault must fail the clause named beside the fault.

struct Fault {
  std::string name, clause;
};

const Fault kFaults[] = {{"float32", "shapes"},       {"negative", "positive_variance"},
                         {"unseeded", "seeds"},       {"constant", "beats_constant"},
                         {"shrinks", "grows_away"},   {"forgets", "persists"},
                         {"careless", "bad_input"},   {"overflows", "odd_data"},
                         {"batched", "rows_apart"},   {"meddles", "leaves_the_world_alone"},
                         {"silent", "tells_progress"}};

/// A fitted gp-exact with one deliberate fault.
class BrokenFitted : public Fitted {
 public:
  BrokenFitted(std::string fault, std::unique_ptr<Fitted> inner)
      : fault_(std::move(fault)), inner_(std::move(inner)) {}

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    if (fault_ == "careless" && data.all().inputs[0].isnan().any().item<bool>())
      return inner_->predict(data.subset(at::zeros({1}, at::kLong)));
    PredictOptions own = options;
    if (fault_ == "silent") own.progress = nullptr;
    Regression p = std::get<Regression>(inner_->predict(data, own));
    if (fault_ == "float32") p.mean = p.mean.to(at::kFloat);
    if (fault_ == "negative") p.epistemic_var = p.epistemic_var - 1;
    if (fault_ == "unseeded") p.mean = p.mean + 1e-9 * at::randn_like(p.mean);
    if (fault_ == "constant") p.mean = at::zeros_like(p.mean);
    if (fault_ == "shrinks") p.epistemic_var = at::zeros_like(p.mean);
    if (fault_ == "overflows") p.mean = p.mean / p.mean.abs().max();
    if (fault_ == "batched") p.mean = p.mean + 1e-3 * at::arange(p.mean.numel());
    return p;
  }
  TensorFile save() const override {
    TensorFile file = inner_->save();
    if (fault_ == "forgets")
      file.tensors["theta"] = to_stored(from_stored(file.tensors["theta"]).to(at::kFloat).to(at::kDouble));
    return file;
  }
  const Summary& summary() const override { return inner_->summary(); }

 private:
  std::string fault_;
  std::unique_ptr<Fitted> inner_;
};

class BrokenMethod : public Method {
 public:
  explicit BrokenMethod(std::string fault) : fault_(std::move(fault)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    if (fault_ == "meddles") at::randn({1});
    return std::make_unique<BrokenFitted>(
        fault_, registry_row("gp-exact").make({{"iterations", 20}})->fit(split, context));
  }

 private:
  std::string fault_;
};

TEST(BrokenMethod, FailsTheClauseOfEachOfItsFaults) {
  for (const Fault& fault : kFaults) {
    Subject subject{&find_method("gp-exact"),
                    [&] { return std::make_unique<BrokenMethod>(fault.name); },
                    [&](const TensorFile& file) -> std::unique_ptr<Fitted> {
                      return std::make_unique<BrokenFitted>(fault.name, registry_row("gp-exact").load(file));
                    },
                    {},
                    {}};
    auto fitted = subject.make()->fit(contract::toy_split(), {Stream(contract::kSeed), nullptr, {}});
    for (const contract::Clause& clause : contract::clauses()) {
      if (clause.name != fault.clause) continue;
      EXPECT_THROW(clause.hold(subject, *fitted), contract::Violation)
          << fault.name << " got through " << clause.name;
    }
  }
}

/// A fitted bll with one deliberate fault in its updates.
class BrokenPosterior : public ExactPosterior {
 public:
  BrokenPosterior(std::string fault, std::shared_ptr<const Fitted> inner)
      : fault_(std::move(fault)), inner_(std::move(inner)) {}

  std::unique_ptr<ExactPosterior> updated(const Dataset& add, const Dataset& drop) const override {
    return broken(exact().updated(fault_ == "deaf" ? Dataset{} : add, fault_ == "keeps" ? Dataset{} : drop));
  }
  std::unique_ptr<ExactPosterior> prior() const override { return broken(exact().prior()); }
  std::unique_ptr<ExactPosterior> merged(const ExactPosterior& other) const override {
    const auto& shard = dynamic_cast<const BrokenPosterior&>(other);
    return broken(exact().merged(fault_ == "twice" ? exact() : shard.exact()));
  }
  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    return inner_->predict(data, options);
  }
  TensorFile save() const override { return inner_->save(); }
  const Summary& summary() const override { return inner_->summary(); }

 private:
  const ExactPosterior& exact() const { return *inner_->exact_posterior(); }
  std::unique_ptr<ExactPosterior> broken(std::shared_ptr<const Fitted> inner) const {
    return std::make_unique<BrokenPosterior>(fault_, std::move(inner));
  }

  std::string fault_;
  std::shared_ptr<const Fitted> inner_;
};

TEST(BrokenPosterior, FailsTheClauseOfUpdates) {
  const auto holds = [](const MethodInfo& info, const Fitted& fitted) {
    const auto clause = std::ranges::find(contract::clauses(), "learns_and_forgets", &contract::Clause::name);
    clause->hold({&info, {}, {}, {}, {}}, fitted);
  };
  const std::shared_ptr<const Fitted> fitted =
      registry_row("bll").make({{"steps", 300}})->fit(contract::toy_split(), {Stream(contract::kSeed)});
  const MethodInfo& bll = find_method("bll");
  EXPECT_NO_THROW(holds(bll, BrokenPosterior("", fitted)));
  for (const char* fault : {"deaf", "keeps", "twice"})
    EXPECT_THROW(holds(bll, BrokenPosterior(fault, fitted)), contract::Violation) << fault;
  EXPECT_THROW(holds(find_method("dnn"), *fitted), contract::Violation);  // not listed as exact
}

}  // namespace
}  // namespace slimbayes

int main(int argc, char** argv) {
  if (argc == 5 && std::string(argv[1]) == "--answer")
    return slimbayes::answer_elsewhere(argv[2], argv[3], argv[4]);
  at::set_num_threads(1);  // the toy data are too small for more threads
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
