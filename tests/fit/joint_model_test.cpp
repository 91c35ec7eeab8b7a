#include "slimbayes/model/joint/joint_model.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "slimbayes/fit/joint_fit.h"
#include "slimbayes/model/answer_table.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

/// Returns a table with the input x, two numbers and a class that depend on it.
Table joint_rows(int64_t rows) {
  std::vector<double> x, a, b, c;
  for (int64_t i = 0; i < rows; ++i) {
    const Stream row = Stream(5).split(static_cast<uint64_t>(i));
    x.push_back(row.normal(0));
    a.push_back(x.back() + row.normal(1));
    b.push_back(5 + row.normal(1) + row.normal(2));
    c.push_back(static_cast<double>(row.bits(3) % 3));
  }
  return table_of({numbers("x", x), numbers("a", a), numbers("b", b), categories("c", c, {"u", "v", "w"})});
}

const JointModel& mixed_model() {
  static const JointModel model = [] {
    JointRequest request;
    request.fit.target = "a,b,c";
    request.fit.method = "constant";
    request.fit.valid_fraction = 0.3;
    Callback silent;
    return *fit_joint(joint_rows(200), request, nullptr, {}, silent).model;
  }();
  return model;
}

using Holds = JointCondition::Holds;

TEST(JointModel, AFileAndItsModelHaveTheSameBits) {
  const TensorFile file = mixed_model().to_file();
  const JointModel again = JointModel::from_file(file, "m");
  EXPECT_EQ(to_bytes(again.to_file()), to_bytes(file));
  EXPECT_EQ(again.targets(), mixed_model().targets());
  EXPECT_EQ(again.parts().split.valid, mixed_model().parts().split.valid);
  EXPECT_EQ(again.parts().data_hash, hash_of(Examples(joint_rows(200))));
}

TEST(JointModel, AReaderOfOneTargetSaysThatTheFileHasSeveral) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "joint_model.safetensors";
  mixed_model().save(path);
  try {
    Model::load(path);
    ADD_FAILURE() << "no error";
  } catch (const DataError& error) {
    expect_has(error.what(), "one of several");
  }
  EXPECT_TRUE(std::holds_alternative<JointModel>(load_any(path)));
  mixed_model().models()[0].save(path);
  EXPECT_TRUE(std::holds_alternative<Model>(load_any(path)));
  EXPECT_THROW(JointModel::load(path), DataError);
}

TEST(JointModel, AFileWhosePartsDoNotFitIsRefused) {
  const TensorFile file = mixed_model().to_file();
  const auto refused = [](const TensorFile& damaged) {
    EXPECT_THROW(JointModel::from_file(damaged, "m"), DataError);
  };
  for (const char* names : {"[\"a\"]", "[\"b\",\"a\",\"c\"]", "[\"a\",\"b\",\"c\",\"d\"]", "7"}) {
    TensorFile damaged = file;
    damaged.metadata["targets"] = names;
    refused(damaged);
  }
  for (const char* facts : {"null", "{}", "{\"shrinkage\":-1,\"rows\":1,\"far\":0,\"data_hash\":\"\"}"}) {
    TensorFile damaged = file;
    damaged.metadata["joint"] = facts;
    refused(damaged);
  }
  TensorFile damaged = file;
  damaged.tensors["joint.correlation"].bytes[7] = std::byte{0x40};  // the first number is no 1
  refused(damaged);
  damaged = file;
  damaged.tensors.erase("joint.correlation");
  refused(damaged);
}

TEST(JointModel, ProbabilitiesAreTheSharesOfTheDraws) {
  const JointModel& model = mixed_model();
  const Table rows = joint_rows(5);
  const JointAnswers answers = model.answers(rows);
  const at::Tensor draws = model.draws(answers, 20000, Stream(3));
  ASSERT_EQ(draws.sizes(), (at::IntArrayRef{20000, 5, 3}));
  EXPECT_TRUE(at::equal(draws, model.draws(answers, 20000, Stream(3))));
  const auto share = [](const at::Tensor& holds) { return holds.to(at::kDouble).mean(0); };
  const at::Tensor a = draws.select(2, 0), b = draws.select(2, 1), c = draws.select(2, 2);
  const auto expect = [&](const std::vector<JointCondition>& conditions, const at::Tensor& holds) {
    const at::Tensor p = model.probability(answers, conditions);
    EXPECT_LT((p - share(holds)).abs().max().item<double>(), 0.02) << p;  // five standard errors
    EXPECT_GT(p.min().item<double>(), 0.01);
  };
  expect({{"a", Holds::above, 0.2}, {"b", Holds::above, 5.5}}, (a > 0.2).logical_and(b > 5.5));
  expect({{"a", Holds::at_most, 1.0}, {"a", Holds::above, -1.0}}, (a <= 1).logical_and(a > -1));
  expect({{"c", Holds::is, 0, "v"}}, c == 1);
  expect({{"c", Holds::is, 0, "w"}, {"b", Holds::at_most, 5.0}}, (c == 2).logical_and(b <= 5));
  const auto none = [&](const std::vector<JointCondition>& conditions) {
    EXPECT_EQ(model.probability(answers, conditions).max().item<double>(), 0);
  };
  none({{"a", Holds::at_most, -1.0}, {"a", Holds::above, 1.0}});
  none({{"c", Holds::is, 0, "u"}, {"c", Holds::is, 0, "v"}});
  const JointRegion region = model.region(answers, 0.9);
  const at::Tensor numbers = draws.narrow(2, 0, 2);
  const at::Tensor inside = (numbers >= region.lower).logical_and(numbers <= region.upper).all(2);
  EXPECT_NEAR(share(inside).mean().item<double>(), 0.9, 0.01);
}

TEST(JointModel, AConditionIsReadByTheKindOfItsTarget) {
  const auto read = [](const char* target, const char* sign, const char* value) {
    return mixed_model().conditions(target, sign, value);
  };
  for (const auto& [sign, holds] : {std::pair(">", Holds::above), std::pair(">=", Holds::above),
                                    std::pair("<", Holds::at_most), std::pair("<=", Holds::at_most)}) {
    const std::vector<JointCondition> one = read("a", sign, "-1.5");
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].target, "a");
    EXPECT_EQ(one[0].holds, holds);
    EXPECT_EQ(one[0].value, -1.5);
  }
  const std::vector<JointCondition> is = read("c", "==", "v");
  ASSERT_EQ(is.size(), 1U);
  EXPECT_EQ(is[0].holds, Holds::is);
  EXPECT_EQ(is[0].label, "v");
  EXPECT_THROW(read("a", "=", "1"), std::invalid_argument);
  EXPECT_THROW(read("a", ">", "high"), std::invalid_argument);
  EXPECT_THROW(read("a", "<", "inf"), std::invalid_argument);
  EXPECT_THROW(read("a", "!=", "1"), std::invalid_argument);
  EXPECT_THROW(read("c", ">", "v"), std::invalid_argument);
  EXPECT_THROW(read("z", ">", "1"), std::invalid_argument);
}

TEST(JointModel, AClassThatIsANumberMayBeSpeltInAnotherWay) {
  Table rows = joint_rows(120);
  rows.columns.back() = categories("c", rows.columns.back().values, {"1", "2", "07"});
  JointRequest request;
  request.fit.target = "a,b,c";
  request.fit.method = "constant";
  Callback silent;
  const JointModel model = *fit_joint(rows, request, nullptr, {}, silent).model;
  const JointAnswers answers = model.answers(Examples(rows));
  const auto p = [&](const char* label) {
    return model.probability(answers, model.conditions("c", "=", label));
  };
  EXPECT_TRUE(at::equal(p("1.0"), p("1")));
  EXPECT_TRUE(at::equal(p("2e0"), p("2")));
  EXPECT_FALSE(at::equal(p("1"), p("2")));
  EXPECT_GT(p("07").min().item<double>(), 0);
  EXPECT_THROW(p("7"), std::invalid_argument);  // 07 is a text
  EXPECT_THROW(p("3.0"), std::invalid_argument);
}

TEST(JointModel, AnswersTellHowMuchIsDone) {
  const Table rows = joint_rows(10);
  std::vector<double> shares;
  PredictOptions options;
  options.progress = [&](double share) { shares.push_back(share); };
  const JointAnswers told = mixed_model().answers(rows, {}, options), silent = mixed_model().answers(rows);
  ASSERT_GE(shares.size(), 3u);  // at least one for each target
  EXPECT_LE(shares.front(), 1.0 / 3 + 1e-12);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_DOUBLE_EQ(shares.back(), 1);
  EXPECT_TRUE(
      at::equal(std::get<Regression>(told.joint[0]).mean, std::get<Regression>(silent.joint[0]).mean));
}

TEST(JointModel, RefusesConditionsThatDoNotSuit) {
  const JointAnswers answers = mixed_model().answers(joint_rows(3));
  const auto refused = [&](const std::vector<JointCondition>& conditions) {
    EXPECT_THROW(mixed_model().probability(answers, conditions), std::invalid_argument);
  };
  refused({});
  refused({{"z", Holds::above, 0.0}});
  refused({{"c", Holds::above, 0.0}});
  refused({{"a", Holds::is, 0, "u"}});
  refused({{"c", Holds::is, 0, "x"}});
  refused({{"a", Holds::above, kMissing}});
}

TEST(JointModel, TablesHaveTheColumnsOfEachTarget) {
  const Table rows = joint_rows(4);
  const JointAnswers answers = mixed_model().answers(rows, {.levels = {0.9}});
  const JointRegion region = mixed_model().region(answers, 0.9);
  TableOptions options;
  options.kept = {"x"};
  const AnswerTable out = joint_answer_table(mixed_model(), rows, answers, options, &region);
  EXPECT_EQ(out.exact, 1u);
  EXPECT_EQ(out.table.columns.front().name, "x");
  for (const char* name :
       {"a.mean", "a.lower", "b.sd", "c.label", "c.p_v", "a.region_lower", "b.region_upper"})
    EXPECT_TRUE(out.table.find(name)) << name;
  EXPECT_EQ(out.table.find("c.region_lower"), nullptr);
  EXPECT_LT(out.table.find("a.region_lower")->values[2], out.table.find("a.lower")->values[2]);
  const Table draws = draws_table(mixed_model(), rows, answers, mixed_model().draws(answers, 3, Stream(1)));
  EXPECT_EQ(draws.names(), (std::vector<std::string>{"row", "draw", "a", "b", "c"}));
  EXPECT_EQ(draws.find("row")->values, (std::vector<double>{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}));
  EXPECT_EQ(draws.find("draw")->values[4], 2);
  EXPECT_EQ(draws.find("c")->kind, ColumnKind::categorical);
}

}  // namespace
}  // namespace slimbayes
