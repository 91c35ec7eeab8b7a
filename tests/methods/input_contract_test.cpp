// Tests the contract over (method, kind of input, task), one test case per clause. A method with a deliberate
// fault per clause shows that each clause can fail.
#include "tests/methods/input_contract.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "slimbayes/answers/answers.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/engine/spec/answer_spec.h"
#include "slimbayes/method/head.h"
#include "slimbayes/method/registry.h"
#include "tests/methods/once.h"

namespace slimbayes {
namespace {

using contract::InputCase;
using contract::InputSubject;
using nlohmann::json;

InputSubject subject_of(const MethodInfo& info, const InputCase& c) {
  const RegistryRow& row = registry_row(info.name);
  return {&info, &c, [&](int64_t steps) { return row.make(contract::input_options(info, c, steps)); },
          row.load};
}

struct Pair {
  const MethodInfo* info;
  const InputCase* data;
};

void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.info->name << " on " << pair.data->name; }

std::vector<Pair> pairs() {
  std::vector<Pair> all;
  for (const InputCase& c : contract::input_cases()) {
    for (const MethodInfo& info : method_catalog()) {
      if (takes(info, c.kind) && takes(info, c.task)) all.push_back({&info, &c});
    }
  }
  return all;
}

class InputContract : public testing::TestWithParam<std::tuple<Pair, size_t>> {};

TEST_P(InputContract, Holds) {
  const auto& [pair, number] = GetParam();
  const InputSubject subject = subject_of(*pair.info, *pair.data);
  const Fitted& fitted = contract::fitted_once("inputs " + pair.info->name + " " + pair.data->name, [&] {
    return subject.make(subject.data->steps)
        ->fit(contract::input_split(*subject.data), {Stream(contract::kSeed)});
  });
  EXPECT_NO_THROW(contract::input_clauses()[number].hold(subject, fitted));
}

std::string name_of_input_case(const testing::TestParamInfo<InputContract::ParamType>& info) {
  const auto& [pair, clause] = info.param;
  return contract::test_name(pair.data->name + "_" + pair.info->name + "_" +
                             contract::input_clauses()[clause].name);
}

INSTANTIATE_TEST_SUITE_P(All, InputContract,
                         testing::Combine(testing::ValuesIn(pairs()),
                                          testing::Range<size_t>(0, contract::input_clauses().size())),
                         name_of_input_case);

/// Checks that the suite covers every (method, kind of input) of the catalogue, except tables
/// (contract_test.cpp).
TEST(InputContract, CoversTheCatalogue) {
  for (const MethodInfo& info : method_catalog()) {
    for (InputKind kind : info.inputs) {
      const bool covered = std::ranges::any_of(
          pairs(), [&](const Pair& pair) { return pair.info == &info && pair.data->kind == kind; });
      EXPECT_TRUE(covered || kind == InputKind::table) << info.name << " " << name_of(kind);
    }
  }
}

/// dnn on windows with one fault, which has the name of the clause that must fail.
class BrokenInputFitted : public Fitted {
 public:
  BrokenInputFitted(std::string fault, std::unique_ptr<Fitted> inner)
      : fault_(std::move(fault)), inner_(std::move(inner)) {}

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    if (fault_ == "no_rows" && data.size() == 0)
      return Regression{at::zeros({1}), at::ones({1}), at::zeros({1})};
    if (fault_ == "other_shapes" && data.schema.input.width() != 2)
      return Regression{at::zeros({4}), at::ones({4}), at::zeros({4})};
    auto p = std::get<Regression>(inner_->predict(data, options));
    if (fault_ == "answers_are_finite") p.mean = p.mean / 0;
    if (fault_ == "rows_apart") p.mean = p.mean + p.mean.mean();
    if (fault_ == "learns") p.mean = at::zeros_like(p.mean), p.aleatoric_var = at::ones_like(p.mean);
    return p;
  }
  TensorFile save() const override {
    TensorFile file = inner_->save();
    if (fault_ == "persists") file.metadata["head"] = to_json(Head{{.noise_var = 0.25}}).dump();
    return file;
  }
  const Summary& summary() const override { return inner_->summary(); }
  std::optional<engine::AnswerSpec> answer_spec() const override {
    if (fault_ == "served") return {};
    return inner_->answer_spec();
  }

 private:
  std::string fault_;
  std::unique_ptr<Fitted> inner_;
};

class BrokenInputMethod : public Method {
 public:
  BrokenInputMethod(std::string fault, std::unique_ptr<Method> inner)
      : fault_(std::move(fault)), inner_(std::move(inner)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& given) const override {
    static uint64_t calls = 0;
    FitContext context = given;
    if (fault_ == "seeds") context.stream = Stream(++calls);
    if (fault_ == "resumes" && context.checkpoint.resume)
      context.stream = Stream(99), context.checkpoint.resume = false;
    return std::make_unique<BrokenInputFitted>(fault_, inner_->fit(split, context));
  }

 private:
  std::string fault_;
  std::unique_ptr<Method> inner_;
};

class BrokenOnInputs : public testing::TestWithParam<size_t> {};

TEST_P(BrokenOnInputs, IsNoticedByTheClauseOfItsFault) {
  const contract::InputClause& clause = contract::input_clauses()[GetParam()];
  const MethodInfo& dnn = find_method("dnn");
  const InputCase& c = contract::input_cases().front();
  InputSubject subject = subject_of(dnn, c);
  const auto whole = subject.make;
  subject.make = [&](int64_t steps) {
    return std::make_unique<BrokenInputMethod>(clause.name, whole(steps));
  };
  const auto fitted = subject.make(c.steps)->fit(contract::input_split(c), {Stream(contract::kSeed)});
  EXPECT_THROW(clause.hold(subject, *fitted), contract::Violation);
}

INSTANTIATE_TEST_SUITE_P(Clauses, BrokenOnInputs, testing::Range<size_t>(0, contract::input_clauses().size()),
                         [](const auto& info) { return contract::input_clauses()[info.param].name; });

}  // namespace
}  // namespace slimbayes
