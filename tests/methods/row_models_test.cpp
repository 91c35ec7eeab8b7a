#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/engine/row_model.h"
#include "slimbayes/method/registry.h"

namespace slimbayes {
namespace {

using nlohmann::json;

/// Rows as an encoder makes them, float32, with a positive target that a logarithm suits, and a few wild
/// rows. `windows`: each row is a sequence of five steps of one column.
Dataset rows_of(int64_t n, uint64_t seed, bool windows = false) {
  const Stream stream(seed);
  const at::Tensor x = stream.split("x").normal({n, 5}).clamp(-1.5, 1.5).to(at::kFloat),
                   e = stream.normal({n});
  const at::Tensor noise = at::where(stream.split("wild").uniform({n}) < 0.05, 6 * e, e);
  const at::Tensor t = x.select(1, 0) + (2 * x.select(1, 1)).sin() + 0.2 * noise;
  return regression_data(windows ? x.view({n, 5, 1}) : x, t.exp());
}

/// Makes predictions by libtorch while it lives, for methods that have not made their row model yet.
struct ByLibtorch {
  ByLibtorch() { setenv("SLIMBAYES_ENGINE", "libtorch", 1); }
  ~ByLibtorch() { unsetenv("SLIMBAYES_ENGINE"); }
};

struct Case {
  std::string method;
  json options;
  double tolerance;  // relative: the rounding of float32 through a network, or of float64
  bool windows = false;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.method; }

class RowModels : public ::testing::TestWithParam<Case> {};

void expect_close(const at::Tensor& a, const at::Tensor& b, double tolerance, const char* what) {
  const double scale = b.abs().max().item<double>();
  EXPECT_LE((a - b).abs().max().item<double>(), tolerance * scale) << what;
}

/// A method answers the same by rows as by tensors; also loaded from a file, row by row, and on any batch.
TEST_P(RowModels, AnswerAsTheTensorsDo) {
  const auto& [method, options, tolerance, windows] = GetParam();
  const RegistryRow& row = registry_row(method);
  const Dataset fresh = rows_of(133, 2, windows);
  // Without validation rows `auto` fits in folds, whose members are pooled and tempered in another way.
  const bool folds = method == "auto" && !options.contains("combine");
  const Dataset held = folds ? Dataset{fresh.schema, nullptr} : rows_of(40, 3, windows);
  FitContext context{.stream = Stream(1)};
  if (options.contains("log_target")) context.wild_share = 0.01;  // `auto` adds a component of wrong targets
  const auto fitted = row.make(options)->fit({rows_of(120, 1, windows), held}, context);
  const TensorFile file = fitted->save();
  const auto p = std::get<Regression>(fitted->predict(fresh));
  ASSERT_NE(fitted->row_model(), nullptr);
  Regression q;
  {
    const ByLibtorch off;
    const auto by_tensors = row.load(file);
    q = std::get<Regression>(by_tensors->predict(fresh));
    ASSERT_EQ(by_tensors->row_model(), nullptr);
  }
  expect_close(p.mean, q.mean, tolerance, "mean");
  expect_close(p.aleatoric_var, q.aleatoric_var, tolerance, "aleatoric");
  expect_close(p.epistemic_var, q.epistemic_var, tolerance, "epistemic");
  EXPECT_EQ(p.zeroed, q.zeroed);
  ASSERT_EQ(p.density.size(), q.density.size());
  for (size_t k = 0; k < p.density.size(); ++k) {
    const DensityComponent &a = p.density[k], &b = q.density[k];
    EXPECT_NEAR(a.weight, b.weight, 1e-14);
    EXPECT_EQ(a.dof, b.dof);
    EXPECT_EQ(a.warp, b.warp);
    for (const auto& [one, other] : {std::pair{a.shift, b.shift}, {a.scale, b.scale}, {a.most, b.most}})
      EXPECT_EQ(one, other);
    EXPECT_EQ(a.spare_var, b.spare_var);
    EXPECT_EQ(a.most_var, b.most_var);
    expect_close(a.mean, b.mean, tolerance, "mean of a component");
    expect_close(a.aleatoric_var + a.epistemic_var, b.aleatoric_var + b.epistemic_var, tolerance,
                 "component");
  }
  const auto loaded = row.load(file);
  const auto again = std::get<Regression>(loaded->predict(fresh, {.batch = 7}));
  EXPECT_TRUE(at::equal(again.mean, p.mean) && at::equal(again.epistemic_var, p.epistemic_var));
  const Dataset one = fresh.subset(at::full({1}, 71, at::kLong));
  const auto alone = std::get<Regression>(loaded->predict(one));
  EXPECT_EQ(alone.mean[0].item<double>(), p.mean[71].item<double>());
  EXPECT_EQ(alone.epistemic_var[0].item<double>(), p.epistemic_var[71].item<double>());
  EXPECT_EQ(std::get<Regression>(loaded->predict(fresh.subset(at::zeros({0}, at::kLong)))).mean.size(0), 0);
  std::vector<int64_t> sizes = fresh.schema.input.sizes;
  sizes.insert(sizes.begin(), 1);
  EXPECT_THROW(loaded->predict(regression_data(at::full(sizes, NAN), at::zeros({1}))), std::invalid_argument);
  EXPECT_THROW(loaded->predict(regression_data(at::zeros({1, 4}), at::zeros({1}))), std::invalid_argument);
}

// Steps behind the end of a sequence do not count: such rows are answered by tensors.
TEST(RowModels, LeavePaddedSequencesToTheTensors) {
  for (const char* method : {"dnn", "dbk", "bll"}) {
    const RegistryRow& row = registry_row(method);
    const json options = {{"steps", 60}, {"hidden", 8}, {"network", "lstm"}};
    const auto fitted = row.make(options)->fit({rows_of(120, 1, true), rows_of(40, 3, true)},
                                               FitContext{.stream = Stream(1)});
    const Dataset whole = rows_of(30, 2, true);
    Batch all = whole.all();
    all.mask = at::arange(5).unsqueeze(0).expand({30, 5}).lt(2).contiguous();
    const auto padded = std::get<Regression>(fitted->predict(dataset_of(whole.schema, all)));
    all.inputs[0] = all.inputs[0].clone();
    all.inputs[0].narrow(1, 2, 3).fill_(7);
    EXPECT_TRUE(
        at::equal(padded.mean, std::get<Regression>(fitted->predict(dataset_of(whole.schema, all))).mean))
        << method;
    EXPECT_FALSE(at::allclose(padded.mean, std::get<Regression>(fitted->predict(whole)).mean)) << method;
  }
}

// The tensors check each shape; rows must not be read beyond the end of a row.
TEST(RowModels, RefuseAPortfolioWithPartsOfAnotherSize) {
  const RegistryRow& row = registry_row("auto");
  const json options = {{"candidates", "ridge"}};
  const auto fitted = row.make(options)->fit({rows_of(120, 1), {rows_of(1, 1).schema, nullptr}},
                                             FitContext{.stream = Stream(1)});
  TensorFile file = fitted->save();
  EXPECT_EQ(std::get<Regression>(row.load(file)->predict(rows_of(9, 2))).mean.size(0), 9);
  for (const char* candidate : {"candidate.0.", "candidate.1."}) {  // both have weight: of y and of log y
    file.tensors[std::string(candidate) + "row_scale"] = to_stored(at::ones({3, 5000}, at::kDouble));
    file.tensors[std::string(candidate) + "row_scale.range"] =
        to_stored(at::tensor({-1.0, 1.0, 1.0}, at::kDouble));
  }
  EXPECT_THROW(row.load(file)->predict(rows_of(9, 2)), std::invalid_argument);
}

constexpr double kFloat = 2e-5, kDouble = 1e-9;

INSTANTIATE_TEST_SUITE_P(
    Methods, RowModels,
    ::testing::Values(
        Case{"dbk", {{"steps", 60}, {"hidden", 24}, {"rank", 17}}, kFloat},
        Case{"dbk", {{"steps", 60}, {"hidden", 24}, {"rank", 17}, {"basis", "linear"}}, kFloat},
        Case{"vbll", {{"steps", 60}, {"hidden", 24}, {"rank", 33}}, kFloat},
        Case{"dnn", {{"steps", 60}, {"hidden", 24}}, kFloat},
        Case{"bll", {{"steps", 60}, {"hidden", 24}}, kFloat},
        Case{"bll", {{"steps", 60}, {"hidden", 24}, {"mean", "posterior"}}, kFloat},
        Case{"bll", {{"steps", 60}, {"hidden", 24}, {"network", "realmlp"}}, kFloat},
        Case{"rich-bll", {{"steps", 60}, {"hidden", 24}}, kFloat},
        Case{"last-layer-laplace", {{"steps", 60}, {"hidden", 24}}, kFloat},
        Case{"ntk-sketch", {{"steps", 60}, {"hidden", 24}, {"sketch", 50}}, kFloat},
        Case{"ntk-sketch", {{"steps", 60}, {"hidden", 24}, {"sketch", 50}, {"mean", "posterior"}}, kFloat},
        Case{"ntk-sketch", {{"steps", 60}, {"hidden", 24}, {"sketch", 33}, {"network", "mlp"}}, kFloat},
        Case{"dnn", {{"steps", 60}, {"hidden", 24}, {"network", "mlp"}, {"batch_norm", true}}, kFloat},
        Case{"dbk", {{"steps", 60}, {"hidden", 24}, {"network", "mlp"}, {"batch_norm", true}}, kFloat},
        Case{"dnn", {{"steps", 60}, {"hidden", 24}}, kFloat, /*windows=*/true},
        Case{"dbk", {{"steps", 60}, {"hidden", 24}, {"rank", 17}}, kFloat, true},
        Case{"vbll", {{"steps", 60}, {"hidden", 24}, {"rank", 17}}, kFloat, true},
        Case{"bll", {{"steps", 60}, {"hidden", 24}}, kFloat, true}, Case{"ridge", json::object(), kDouble},
        Case{"dkl-exact", {{"steps", 30}, {"hidden", 12}}, kDouble},
        Case{"gp-exact", {{"iterations", 20}}, 1e-7},
        Case{"dbk-exact", {{"steps", 60}, {"hidden", 24}, {"rank", 20}}, kDouble},
        Case{"dbk-exact", {{"steps", 60}, {"hidden", 24}, {"rank", 20}, {"dropout", 0.2}}, kDouble, true},
        Case{"dbk-exact", {{"steps", 60}, {"hidden", 24}, {"rank", 20}, {"basis", "rbf"}}, 1e-6},
        Case{"dbk", {{"steps", 60}, {"hidden", 24}, {"rank", 17}, {"basis", "rbf"}}, kFloat},
        Case{"dbk", {{"steps", 60}, {"hidden", 24}, {"rank", 17}, {"basis", "fourier"}}, kFloat},
        Case{"dbk-exact", {{"steps", 60}, {"hidden", 24}, {"rank", 20}, {"basis", "fourier"}}, 1e-6},
        Case{"sv-dkl", {{"steps", 60}, {"hidden", 24}, {"rank", 17}}, kFloat},
        Case{"pp-dkl", {{"steps", 60}, {"hidden", 24}, {"rank", 17}}, kFloat},
        Case{"sv-rbf", {{"steps", 60}, {"rank", 17}}, kFloat},
        Case{"sv-dbk", {{"steps", 60}, {"hidden", 24}, {"rank", 17}}, kFloat},
        Case{"sv-dkl", {{"steps", 60}, {"hidden", 24}, {"rank", 17}}, kFloat, true},
        Case{"auto", {{"candidates", "ridge,gp-exact,dbk-exact"}, {"steps", 60}, {"iterations", 20}}, 1e-6},
        Case{"auto", {{"candidates", "ridge,dnn"}, {"steps", 60}, {"log_target", "never"}}, kFloat},
        Case{"auto", {{"candidates", "constant,ridge"}, {"combine", "best"}}, kDouble}));

}  // namespace
}  // namespace slimbayes
