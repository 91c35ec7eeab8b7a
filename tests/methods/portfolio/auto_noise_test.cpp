#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "tests/methods/portfolio/auto_case.h"

// The noise that `auto` finds: wild rows, and a spread that differs from row to row.

namespace slimbayes {
namespace {

using namespace auto_case;

TEST(Auto, AFewWildRowsDoNotRuinTheScore) {
  const auto model = fitted(line(600, 1, 0.01), kLines);
  const Dataset fresh = line(5000, 2, 0.01);
  const at::Tensor y = fresh.all().target;
  const auto ridge =
      registry_row("ridge").make(nlohmann::json::object())->fit({line(600, 1, 0.01), {}}, {Stream(7)});
  const Regression p = answer_to(*model, fresh), gaussian = answer_to(*ridge, fresh);
  EXPECT_LT(regression_nll(p, y), regression_nll(gaussian, y) - 0.5);
  EXPECT_LT(regression_nll(p, y), 0.55);  // without wild rows .21
  EXPECT_GT(coverage(p, y, 0.95), 0.92);
  EXPECT_LT(interval_width(p, 0.95), 0.6 * interval_width(gaussian, 0.95));
  EXPECT_TRUE(has_fact(*model, "wild rows with an sd"));
}

/// A straight line whose noise is five times as large on the right as on the left.
Dataset two_noises(int64_t n, uint64_t seed) {
  const Dataset rows = line(n, seed);
  const at::Tensor x = rows.all().inputs[0].to(at::kDouble), clean = x.select(1, 0) - 0.5 * x.select(1, 1);
  const at::Tensor sd = 0.2 + 0.8 * (x.select(1, 2) > 0).to(at::kDouble);
  return regression_data(x, clean + sd * (rows.all().target.to(at::kDouble) - clean));
}

// A candidate that knows one noise for all rows gets a factor of its variance for each row.
TEST(Auto, LearnsANoiseThatDiffersByRow) {
  const auto model = fitted(two_noises(600, 1), kLines);
  EXPECT_TRUE(has_fact(*model, "by row")) << nlohmann::json(model->summary().facts);
  const Dataset fresh = two_noises(4000, 2);
  const at::Tensor right = fresh.all().inputs[0].select(1, 2) > 0, y = fresh.all().target.to(at::kDouble);
  const auto ridge =
      registry_row("ridge").make(nlohmann::json::object())->fit({two_noises(600, 1), {}}, {Stream(7)});
  const Regression p = answer_to(*model, fresh);
  EXPECT_LT(regression_nll(p, y), regression_nll(answer_to(*ridge, fresh), y) - 0.2);
  const Interval i = interval(p, 0.95);
  const at::Tensor inside = ((i.lower <= y) & (y <= i.upper)).to(at::kDouble);
  for (const at::Tensor& side : {right, right.logical_not()})
    EXPECT_NEAR(inside.masked_select(side).mean().item<double>(), 0.95, 0.045);
  const auto again = registry_row("auto").load(model->save());
  EXPECT_TRUE(at::equal(answer_to(*again, fresh).aleatoric_var, p.aleatoric_var));
}

/// The logarithm of two_noises, in which one target in a hundred is ten times what it should be.
Dataset typed_wrong(int64_t n, uint64_t seed) {
  const Dataset rows = two_noises(n, seed);
  const at::Tensor off = (Stream(seed).split("typed").uniform({n}) < 0.01).to(at::kDouble);
  return regression_data(rows.all().inputs[0],
                         rows.all().target.to(at::kDouble).mul(0.3).exp() * (1 + 9 * off));
}

TEST(Auto, ALogTargetHasBoth) {
  const auto model = fitted(typed_wrong(600, 1), kLines);
  EXPECT_TRUE(has_fact(*model, "ridge of log y: ") && has_fact(*model, "by row") &&
              has_fact(*model, "wild rows"))
      << nlohmann::json(model->summary().facts);
  const Dataset fresh = typed_wrong(4000, 2);
  const Regression p = answer_to(*model, fresh);
  EXPECT_NEAR(coverage(p, fresh.all().target, 0.95), 0.95, 0.025);
  const auto again = registry_row("auto").load(model->save());
  EXPECT_TRUE(at::equal(interval(answer_to(*again, fresh), 0.9).upper, interval(p, 0.9).upper));
}

TEST(Auto, AResumedFitHasTheSameNoise) {
  for (const Dataset& rows : {two_noises(200, 1), typed_wrong(200, 1)}) {
    const std::filesystem::path path =
        std::filesystem::path(testing::TempDir()) / ("auto_noise" + std::to_string(::getpid()));
    const auto bytes = [&](Callback* callback, const CheckpointPolicy& policy) {
      return to_bytes(fitted(rows, kLines, {Stream(7), callback, policy})->save());
    };
    const auto whole = bytes(nullptr, {});
    StopAt stop(7);
    try {
      bytes(&stop, {path, false, "auto"});
    } catch (const NumericalError&) {  // stopped before the first candidate ended
    }
    EXPECT_LT(stop.left, 0);
    EXPECT_EQ(bytes(nullptr, {path, true, "auto"}), whole);
    for (const auto& entry : std::filesystem::directory_iterator(path.parent_path()))
      if (entry.path().string().starts_with(path.string())) std::filesystem::remove(entry.path());
  }
}

TEST(Auto, ADamagedNoiseByRowIsRefused) {
  const auto model = fitted(two_noises(600, 1), kLines);
  const TensorFile whole = model->save();
  const auto of =
      std::ranges::find_if(whole.tensors, [](const auto& item) { return item.first.ends_with("row_scale"); });
  ASSERT_NE(of, whole.tensors.end());
  const std::string name = of->first;
  const auto refused = [&](const std::string& key, const at::Tensor& value) {
    TensorFile bad = whole;
    bad.tensors[key] = to_stored(value);
    EXPECT_THROW(registry_row("auto").load(bad)->predict(two_noises(5, 2)), std::invalid_argument) << value;
  };
  const at::Tensor good = stored_tensor(whole, name).to(at::kDouble);
  refused(name, -good);
  refused(name, good.slice(0, 0, 2));
  refused(name, good.slice(1, 0, 2));
  refused(name, good / 0.0);
  refused(name + ".range", at::tensor({1.0, -1.0, 1.0}, at::kDouble));
}

TEST(Auto, NamesTheRowsThatAreFarOff) {
  Batch all = line(400, 1).all();
  all.target = all.target.clone();
  all.target[17] += 8;
  all.target[230] -= 20;
  const Dataset rows = regression_data(all.inputs[0], all.target);
  EXPECT_EQ(fitted(rows, kLines)->wild_rows(), (std::vector<int64_t>{230, 17}));
  EXPECT_TRUE(fitted(line(400, 1), kLines)->wild_rows().empty());
  for (int64_t i = 0; i < 12; ++i) all.target[30 * i] -= 20;  // too many on this side to be errors
  EXPECT_EQ(fitted(regression_data(all.inputs[0], all.target), kLines)->wild_rows(),
            (std::vector<int64_t>{17}));
}

TEST(Auto, TriesNothingOnAConstantTarget) {
  const Dataset rows = line(60, 1);
  const auto model =
      fitted(regression_data(rows.all().inputs[0], at::full({60}, 2.5)), nlohmann::json::object());
  EXPECT_EQ(model->summary().facts.size(), 1);
  EXPECT_TRUE(has_fact(*model, "constant: "));
  const Regression p = answer_to(*model, line(5, 2));
  EXPECT_TRUE(at::allclose(p.mean, at::full({5}, 2.5, at::kDouble)));
}

TEST(Auto, WarnsOfFewRows) {
  const auto warns = [](int64_t n) {
    const auto model = fitted(line(n, 1), kLines);
    return std::ranges::any_of(model->summary().notes, [](const std::string& note) {
      return note.find("the sd may be far too small") != note.npos;
    });
  };
  EXPECT_TRUE(warns(3) && warns(19));
  EXPECT_FALSE(warns(20));
}

}  // namespace
}  // namespace slimbayes
