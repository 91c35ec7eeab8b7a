#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/core/check.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/methods/portfolio/portfolio.h"
#include "tests/methods/contract.h"
#include "tests/methods/portfolio/auto_case.h"

namespace slimbayes {
namespace {

using nlohmann::json;
using namespace auto_case;

/// The logarithm of the target is a straight line with noise.
Dataset log_line(int64_t n, uint64_t seed) {
  const Dataset rows = line(n, seed);
  return regression_data(rows.all().inputs[0], rows.all().target.exp());
}

TEST(Auto, ChoosesTheStraightLineForAStraightLine) {
  const auto model = fitted(line(300, 1), kLines);
  const Dataset fresh = line(3000, 2);
  const Regression p = answer_to(*model, fresh);
  EXPECT_NEAR(root_mean_squared_error(p, fresh.all().target), 0.3, 0.02);
  EXPECT_NEAR(coverage(p, fresh.all().target, 0.95), 0.95, 0.025);
  EXPECT_TRUE(has_fact(*model, "constant: held-out NLL") && has_fact(*model, "not used"));
  EXPECT_EQ(model->summary().valid_rows, 300);  // every row has scored
}

// The held-out score is that of one member a row. The answer is the mixture of all members, which is no worse
// and whose intervals are not much wider: the factor of the variance belongs to a member.
TEST(Auto, TheMixtureOfFoldsIsNoWorseThanItsMembers) {
  const json nets = {{"candidates", "dnn"}, {"steps", 400}, {"hidden", 16}, {"blocks", 1}, {"patience", 0}};
  const auto model = fitted(line(150, 1), nets);
  const Dataset fresh = line(3000, 2);
  const at::Tensor y = fresh.all().target;
  const Regression p = answer_to(*model, fresh);
  EXPECT_LT(regression_nll(p, y), model->summary().best_score + 0.15);
  EXPECT_GT(coverage(p, y, 0.95), 0.92);
  const double rmse = root_mean_squared_error(p, y);
  EXPECT_LT(interval_width(p, 0.95), 1.5 * 2 * 1.96 * rmse);
}

TEST(Auto, TheHeldOutScoreIsThatOfFreshRows) {
  const auto model = fitted(line(1000, 1), kLines);
  const Dataset fresh = line(5000, 2);
  EXPECT_NEAR(model->summary().best_score, regression_nll(answer_to(*model, fresh), fresh.all().target), 0.1);
}

TEST(Auto, LearnsTheLogarithmWhereThatIsTheLine) {
  const auto model = fitted(log_line(400, 1), kLines);
  const Dataset fresh = log_line(3000, 2);
  const Regression p = answer_to(*model, fresh);
  const at::Tensor y = fresh.all().target;
  EXPECT_TRUE(has_fact(*model, "ridge of log y: held-out NLL"));
  EXPECT_GT(interval(p, 0.999).lower.min().item<double>(), 0);
  EXPECT_NEAR(coverage(p, y, 0.95), 0.95, 0.025);
  const auto never = fitted(log_line(400, 1), {{"candidates", "constant,ridge"}, {"log_target", "never"}});
  EXPECT_LT(regression_nll(p, y), regression_nll(answer_to(*never, fresh), y) - 0.3);
}

TEST(Auto, BestIsOneCandidate) {
  const auto model = fitted(line(200, 1), {{"candidates", "constant,ridge"}, {"combine", "best"}});
  EXPECT_EQ(answer_to(*model, line(5, 2)).density.size(), 1u);
}

TEST(Auto, OptionsReachTheCandidatesThatHaveThem) {
  const json few = {{"candidates", "ridge,dnn"}, {"steps", 20}, {"hidden", 8}, {"blocks", 1}};
  EXPECT_EQ(fitted(line(100, 1), few)->summary().stopped, Stopped::converged);
  const json resolved = find_method("auto").resolve(few);
  EXPECT_EQ(find_method("auto").resolve(resolved), resolved);
  for (const json& bad :
       {json{{"steps", -1}}, json{{"no_such", 1}}, json{{"candidates", "ridge"}, {"hidden", 8}},
        json{{"candidates", "auto"}}, json{{"candidates", "rigde"}}, json{{"folds", 1}}})
    EXPECT_THROW(registry_row("auto").make(bad), std::invalid_argument) << bad;
}

TEST(Auto, ACandidateThatFailsIsLeftOut) {
  const auto model = fitted(line(200, 1), {{"candidates", "gp-exact,ridge"}, {"max_rows", 10}});
  EXPECT_TRUE(has_fact(*model, "left out: gp-exact (failed: "));
  EXPECT_THROW(fitted(line(200, 1), {{"candidates", "gp-exact"}, {"max_rows", 10}}), std::invalid_argument);
}

bool says_that_time_decided(const Fitted& model) {
  return std::ranges::any_of(model.summary().notes, [](const std::string& note) {
    return note.starts_with("the time limit decided what was tried");
  });
}

// The clock does not decide this test: the cost of a ridge of 3,000 columns is some hundred times the limit.
TEST(Auto, WhatIsTooLargeForTheTimeIsNotBegun) {
  const at::Tensor x = Stream(1).normal({40, 3000}), y = x.select(1, 0);
  const auto model = fitted(regression_data(x, y), {{"candidates", "constant,ridge"}, {"time_limit", 0.2}});
  EXPECT_TRUE(has_fact(*model, "constant: held-out NLL"));
  EXPECT_TRUE(has_fact(*model, "left out: ridge (would take") || has_fact(*model, "ridge (no time left)"))
      << json(model->summary().facts);
  EXPECT_TRUE(says_that_time_decided(*model));
}

// The limit is one of the user's call, which began before the fit.
TEST(Auto, TheTimeBeforeTheFitCounts) {
  FitContext late{Stream(7)};
  late.until = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_TRUE(has_fact(*fitted(line(100, 1), kLines, late), "left out: ridge (no time left)"));
}

TEST(Auto, AFitThatIsStoppedBeforeItHasParametersIsAnInterruption) {
  StopAt stop(7);  // the six fits of `constant` ask once each, then the second step of the network
  const json few = {{"candidates", "constant,dnn"}, {"steps", 400}, {"hidden", 8}, {"blocks", 1}};
  EXPECT_EQ(fitted(line(90, 1), few, {Stream(7), &stop})->summary().stopped, Stopped::interrupted);
}

/// Says that the time is over once it was asked so often.
struct LateAt : Callback {
  int left;
  explicit LateAt(int asked) : left(asked) {}
  bool late() override { return --left < 0; }
};

// The straight line is the best candidate and answers alone.
TEST(Auto, ACandidateThatTheTimeCutIsNamedWithoutAWeight) {
  LateAt late(3);
  const json best = {
      {"candidates", "ridge,dnn"}, {"combine", "best"}, {"steps", 400}, {"hidden", 8}, {"blocks", 1}};
  const auto model = fitted(line(200, 1), best, {Stream(7), &late});
  EXPECT_TRUE(has_fact(*model, "dnn: held-out NLL")) << json(model->summary().facts);
  EXPECT_TRUE(std::ranges::any_of(model->summary().facts, [](const std::string& fact) {
    return fact.starts_with("dnn: ") && fact.ends_with(", ended early by the time limit, not used");
  })) << json(model->summary().facts);
  EXPECT_TRUE(says_that_time_decided(*model));
}

TEST(Auto, WhatDoesNotEndInTimeIsLeftOut) {
  const json slow = {{"candidates", "ridge,gp-exact,dnn"}, {"time_limit", 1e-6}};
  const auto model = fitted(line(200, 1), slow);
  EXPECT_TRUE(has_fact(*model, "left out: gp-exact, dnn (no time left)")) << json(model->summary().facts);
  EXPECT_TRUE(has_fact(*model, "a longer `.time_limit`"));
  EXPECT_TRUE(says_that_time_decided(*model));
  const auto whole = fitted(line(100, 1), kLines);
  EXPECT_FALSE(has_fact(*whole, "`.time_limit`"));
  EXPECT_FALSE(says_that_time_decided(*whole));
  EXPECT_LT(root_mean_squared_error(answer_to(*model, line(500, 2)), line(500, 2).all().target), 0.4);
}

bool says_that_nothing_was_learnt(const Fitted& model) {
  return std::ranges::any_of(model.summary().notes, [](const std::string& note) {
    return note.find("is not clearly better than that of one answer for every row") != note.npos;
  });
}

TEST(Auto, SaysInFoldsThatTheInputsSayLittle) {
  const at::Tensor x = Stream(1).split("x").normal({200, 3}), y = Stream(1).split("y").normal({200});
  EXPECT_TRUE(says_that_nothing_was_learnt(*fitted(regression_data(x, y), kLines)));
  EXPECT_FALSE(says_that_nothing_was_learnt(*fitted(line(200, 1), kLines)));
  // Without another candidate there is nothing to compare.
  EXPECT_FALSE(says_that_nothing_was_learnt(*fitted(regression_data(x, y), {{"candidates", "constant"}})));
  const at::Tensor noise = (y > 0).to(at::kLong), signal = (x.select(1, 0) > 0).to(at::kLong);
  const json classes = {{"candidates", "constant,logistic"}};
  EXPECT_TRUE(says_that_nothing_was_learnt(*fitted(class_data(x, noise, 2), classes)));
  EXPECT_FALSE(says_that_nothing_was_learnt(*fitted(class_data(x, signal, 2), classes)));
}

// A straight line is solved without steps, and its held-out score makes it worth keeping.
TEST(Auto, AStoppedFitAnswersWithTheCandidatesThatEnded) {
  const json slow = {{"candidates", "constant,ridge,gp-exact"}, {"log_target", "never"}, {"folds", 3}};
  struct StopsAtGp : Callback {
    bool begun = false;
    void stage(const std::string& name) override { begun = begun || name.starts_with("gp-exact"); }
    bool stop() override { return begun; }
  } stop;
  const auto model = fitted(line(200, 1), slow, {Stream(7), &stop});
  EXPECT_EQ(model->summary().stopped, Stopped::interrupted);
  EXPECT_EQ(model->summary().steps, 0);
  EXPECT_TRUE(is_usable(model->summary()));
  EXPECT_TRUE(has_fact(*model, "ridge: held-out NLL")) << json(model->summary().facts);
  EXPECT_TRUE(has_fact(*model, "left out: gp-exact (interrupted)")) << json(model->summary().facts);
  EXPECT_LT(root_mean_squared_error(answer_to(*model, line(500, 2)), line(500, 2).all().target), 0.4);
}

// Three workers train the folds of the network; the fourth fits `constant` and then begins `ridge`.
TEST(Auto, AStoppedFitAnswersWithLaterCandidatesThatEnded) {
  const json slow = {{"candidates", "dnn,constant,ridge"},
                     {"log_target", "never"},
                     {"folds", 3},
                     {"steps", 1000000},
                     {"hidden", 8},
                     {"blocks", 1}};
  struct StopsAtRidge : Callback {
    bool begun = false;
    void stage(const std::string& name) override { begun = begun || name.starts_with("ridge"); }
    bool stop() override { return begun; }
  } stop;
  FitContext context{Stream(7), &stop};
  context.workers = 4;
  const auto model = fitted(line(200, 1), slow, context);
  EXPECT_EQ(model->summary().stopped, Stopped::interrupted);
  EXPECT_TRUE(has_fact(*model, "constant: held-out NLL")) << json(model->summary().facts);
  EXPECT_TRUE(has_fact(*model, "left out: dnn")) << json(model->summary().facts);
}

TEST(Auto, TheTimeGoesToTheLogarithmFirstWhereThatIsTheLine) {
  const json lines = {{"candidates", "constant,ridge,gp-exact"}};
  const auto first = [&](const Dataset& rows) {
    struct Stages : StopAt {
      using StopAt::StopAt;
      std::string last;
      void stage(const std::string& name) override { last = name; }
    } stop(60);
    fitted(rows, lines, {Stream(7), &stop});
    return stop.last;
  };
  EXPECT_EQ(first(log_line(200, 1)), "gp-exact of log y 1/6");
  EXPECT_EQ(first(line(200, 1)), "gp-exact 1/6");
}

TEST(Auto, RowsWithEqualInputsStayInOneFold) {
  // Every input three times with the same target: a fold that tore them apart would make any method look
  // exact.
  const at::Tensor x = Stream(1).normal({60, 2}).repeat({3, 1}), y = Stream(2).normal({60}).repeat({3});
  const auto model = fitted(regression_data(x, y), {{"candidates", "constant,gp-exact"}});
  EXPECT_GT(model->summary().best_score, 1.2);
}

/// Stops fits at these calls of stop(), resumes them, and compares the model with that of a fit in one go.
void expect_the_same_bits(const std::function<std::unique_ptr<Fitted>(const FitContext&)>& fit,
                          const std::vector<int64_t>& calls) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("auto" + std::to_string(::getpid()));
  const auto bytes = [&](Callback* callback, const CheckpointPolicy& policy) {
    return to_bytes(fit({Stream(7), callback, policy})->save());
  };
  const auto whole = bytes(nullptr, {});
  for (const int64_t count : calls) {
    StopAt stop(count);
    try {
      bytes(&stop, {path, false, "auto"});
    } catch (const NumericalError&) {  // stopped before the first candidate ended
    }
    EXPECT_LT(stop.left, 0) << "not stopped after " << count;
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_EQ(bytes(nullptr, {path, true, "auto"}), whole) << count;
    for (const auto& entry : std::filesystem::directory_iterator(path.parent_path()))
      if (entry.path().string().starts_with(path.string())) std::filesystem::remove(entry.path());
  }
}

TEST(Auto, AKilledFitGoesOnToTheSameBits) {
  const json few = {{"candidates", "ridge,dnn"}, {"steps", 30}, {"hidden", 8}, {"blocks", 1}, {"folds", 3}};
  const Dataset rows = line(90, 1);
  expect_the_same_bits([&](const FitContext& context) { return fitted(rows, few, context); }, {2, 5, 20, 50});
  const Dataset positive = log_line(90, 1);  // the order of the candidates changes
  expect_the_same_bits([&](const FitContext& context) { return fitted(positive, few, context); },
                       {5, 20, 50});
}

/// A product of two inputs, which no straight line fits, with noise that has one sd on the left and another
/// on the right, which only dbk learns.
Dataset product(int64_t n, uint64_t seed) {
  const at::Tensor x = Stream(seed).split("x").normal({n, 2}),
                   sd = 0.03 + 0.6 * (x.select(1, 0) > 0).to(at::kDouble);
  return regression_data(x, x.select(1, 0) * x.select(1, 1) + sd * Stream(seed).split("noise").normal({n}));
}

// With validation rows and more rows than a Gaussian process takes. The candidates that the mixture uses get
// copies after every candidate has had its turn.
TEST(Auto, CopiesComeAfterEveryCandidateAndSurviveAKill) {
  const Split rows{product(2600, 1), product(200, 2)};
  json options = {{"steps", 800},  {"hidden", 8},       {"blocks", 1},  {"rank", 8},
                  {"patience", 0}, {"time_limit", 1e6}, {"fits", "all"}};
  const auto method = registry_row("auto").make(options);
  const auto fit = [&](const FitContext& context) { return method->fit(rows, context); };
  std::vector<std::string> stages;
  struct Stages : Callback {
    std::vector<std::string>& seen;
    explicit Stages(std::vector<std::string>& to) : seen(to) {}
    void stage(const std::string& name) override { seen.push_back(name); }
  } watcher(stages);
  const auto whole = fit({Stream(7), &watcher});
  const json list = json::parse(whole->save().metadata["portfolio"]);
  int64_t copies = 0;
  for (const json& one : list)
    if (one["weight"] > 0) {
      EXPECT_EQ(one["members"], one["copies"]) << one;
      copies += one["members"].get<int64_t>() - 1;
    }
  EXPECT_GT(copies, 0) << list;
  const auto first_copy = std::ranges::find_if(stages, [](const auto& s) { return s.find(" 2/") != s.npos; });
  ASSERT_NE(first_copy, stages.end());
  EXPECT_TRUE(std::all_of(first_copy, stages.end(), [](const auto& s) { return s.find(" 1/") == s.npos; }));
  expect_the_same_bits(fit, {3000});  // of 800 calls a fit, the fourth is the first copy

  // Copies that change next to nothing are not made.
  options["fits"] = "needed";
  const auto needed = registry_row("auto").make(options)->fit(rows, {Stream(7)});
  EXPECT_LT(needed->summary().steps, whole->summary().steps);

  // Stopped among the copies, the model answers with what it has scored.
  StopAt stop(4000);
  const auto some = fit({Stream(7), &stop});
  EXPECT_EQ(some->summary().stopped, Stopped::interrupted);
  const json kept = json::parse(some->save().metadata["portfolio"]);
  EXPECT_TRUE(std::ranges::any_of(kept, [](const json& one) {
    return one["members"] > 1 && one["members"] < one["copies"];
  })) << kept;
  EXPECT_NEAR(regression_nll(answer_to(*some, rows.valid), rows.valid.all().target),
              some->summary().best_score, 1e-9);
}

TEST(Auto, ClassProbabilitiesGetThePowerOfTheCandidate) {
  const at::Tensor x = Stream(1).normal({40, 2}), y = (at::arange(40) % 4 == 0).to(at::kLong);
  const Dataset rows = class_data(x, y, 2);
  TriedCandidate tried;
  tried.candidate.method = "constant";
  tried.view = fitted_view(rows, false, TargetWarp::none);
  const auto method = registry_row("constant").make(find_method("constant").resolve(json::object()));
  tried.members.push_back(method->fit({rows, {rows.schema, nullptr}}, {Stream(1)}));
  const auto answer = [&](double power, bool of_folds) {
    tried.power = power;
    tried.of_folds = of_folds;
    return std::get<Classes>(candidate_answer(tried, member_answers(tried, tried.members, rows), rows))
        .probabilities;
  };
  const at::Tensor p = answer(1, true), squares = p.square();
  for (const bool of_folds : {true, false})
    EXPECT_TRUE(at::allclose(answer(2, of_folds), squares / squares.sum(1, true), 1e-12));
}

// A straight border, which logistic learns, and an exclusive or, which the trees learn.
TEST(Auto, TheCandidatesOfClassesArePooledBeforeAndAfterAFile) {
  const at::Tensor x = Stream(1).normal({300, 3});
  const at::Tensor corner = ((x.select(1, 1) > 0) == (x.select(1, 2) > 0)).to(at::kDouble);
  const at::Tensor y =
      (2 * x.select(1, 0) + 3 * corner + Stream(2).normal(at::IntArrayRef{300}) > 1.5).to(at::kLong);
  const auto model = fitted(class_data(x, y, 2), {{"candidates", "logistic,extra-trees"}});
  ASSERT_TRUE(has_fact(*model, "probabilities of the pool to the power"));
  const TensorFile file = model->save();
  const RegistryRow& row = registry_row("auto");
  const Dataset fresh = class_data(Stream(3).normal({20, 3}), at::zeros({20}, at::kLong), 2);
  const auto probabilities = [&](const Fitted& of) {
    return std::get<Classes>(of.predict(fresh)).probabilities;
  };
  EXPECT_TRUE(at::equal(probabilities(*row.load(file)), probabilities(*model)));
  const auto with = [&](const char* power) {
    TensorFile changed = file;
    changed.metadata["pool_power"] = power;
    return changed;
  };
  EXPECT_FALSE(at::equal(probabilities(*row.load(with("0.5"))), probabilities(*model)));
  for (const char* wrong : {"0", "-1", "1000", "null", "[1]"})
    EXPECT_ANY_THROW(row.load(with(wrong))) << wrong;
  TensorFile older = file;
  older.metadata.erase("pool_power");
  EXPECT_ANY_THROW(row.load(older)->predict(fresh));
}

TEST(Auto, ADamagedListOfCandidatesIsRefused) {
  const auto model = fitted(line(100, 1), kLines);
  const auto with = [&](const char* key, const json& value) {
    TensorFile file = model->save();
    json list = json::parse(file.metadata["portfolio"]);
    for (json& one : list)
      if (one["weight"] > 0) one[key] = value;
    file.metadata["portfolio"] = list.dump();
    return file;
  };
  const RegistryRow& row = registry_row("auto");
  EXPECT_NO_THROW(row.load(with("weight", 0.5)));
  const std::vector<std::pair<const char*, json>> wrong = {
      {"weight", 0}, {"weight", -1}, {"members", 7}, {"members", 0},    {"power", 0},
      {"factor", 0}, {"dof", 1},     {"log", true},  {"method", "auto"}};
  for (const auto& [key, value] : wrong) EXPECT_ANY_THROW(row.load(with(key, value))) << key << value;
}

}  // namespace
}  // namespace slimbayes
