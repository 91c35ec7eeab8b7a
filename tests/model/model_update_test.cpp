#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "slimbayes/data/synthetic.h"
#include "slimbayes/data/table/csv.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/model/model.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

Table first_rows(int64_t from, int64_t to) {
  Examples all = generate("steps", 400, Stream(1));
  std::vector<int64_t> rows;
  for (int64_t i = from; i < to; ++i) rows.push_back(i);
  return std::get<Table>(take(all, rows));
}

FitOptions fit_of(const std::string& method) {
  FitOptions fit;
  fit.target = "y";
  fit.method = method;
  fit.options = {{"steps", 200}, {"hidden", 16}, {"blocks", 1}};
  if (method == "dbk-exact") fit.options["rank"] = 16;
  fit.ignore = {"true_mean", "true_sd"};
  return fit;
}

TEST(ModelUpdate, RowsAddedAndForgottenLeaveThePosterior) {
  for (const char* method : {"rich-bll", "bll", "last-layer-laplace", "dbk-exact"}) {
    const Model model = fit_model(first_rows(0, 250), fit_of(method));
    const Table more = first_rows(250, 330), test = first_rows(330, 400);
    const Model with = model.with(more), back = with.without(more);
    const Regression a = model.predict(test), b = with.predict(test), c = back.predict(test);
    EXPECT_LT((b.epistemic_var / a.epistemic_var).max().item<double>(), 1 + 1e-9) << method;
    EXPECT_LT((b.epistemic_var / a.epistemic_var).min().item<double>(), 0.99) << method;
    EXPECT_TRUE(at::allclose(c.epistemic_var, a.epistemic_var, 1e-8, 1e-12)) << method;
    EXPECT_EQ(with.fitted().summary().rows, model.fitted().summary().rows + 80);
    // In pieces, through a file, as at once.
    const fs::path path = fs::path(testing::TempDir()) / ("update" + std::to_string(::getpid()));
    model.save(path);
    for (int64_t row = 250; row < 330; row += 20)
      Model::load(path).with(first_rows(row, row + 20)).save(path);
    EXPECT_TRUE(at::allclose(Model::load(path).predict(test).epistemic_var, b.epistemic_var, 1e-8, 1e-12))
        << method;
    fs::remove(path);
  }
}

TEST(ModelUpdate, MergedShardsAreOneModelOfAllRows) {
  for (const char* method : {"rich-bll", "bll", "last-layer-laplace", "dbk-exact"}) {
    const Model model = fit_model(first_rows(0, 250), fit_of(method));
    const Table east = first_rows(250, 300), west = first_rows(300, 340), test = first_rows(340, 400);
    const Model a = model.shard(east), b = model.shard(west);
    EXPECT_EQ(a.fitted().summary().rows, 50);
    const Model all = model.merged(a).merged(b), once = model.with(east).with(west);
    const Regression p = all.predict(test), q = once.predict(test);
    EXPECT_TRUE(at::allclose(p.epistemic_var, q.epistemic_var, 1e-8, 1e-12)) << method;
    EXPECT_TRUE(at::allclose(p.mean, q.mean, 1e-8, 1e-8)) << method;
    EXPECT_EQ(all.fitted().summary().rows, once.fitted().summary().rows);
    // The order does not matter, and a merged model forgets.
    EXPECT_TRUE(
        at::allclose(b.merged(a).merged(model).predict(test).epistemic_var, p.epistemic_var, 1e-8, 1e-12));
    EXPECT_TRUE(at::allclose(all.without(west).predict(test).epistemic_var,
                             model.with(east).predict(test).epistemic_var, 1e-8, 1e-12))
        << method;
    // A shard of many rows knows more, wherever its rows are: its prior is that of the model.
    EXPECT_GT((a.predict(test).epistemic_var / p.epistemic_var).min().item<double>(), 1 - 1e-9) << method;
    EXPECT_EQ(a.shared_rows(b), 0);
    EXPECT_THROW(all.merged(a), std::invalid_argument);  // all has learned all rows of a
  }
}

TEST(ModelUpdate, OnlyModelsOfOneNetworkAreMerged) {
  FitOptions fit = fit_of("bll");
  const Model model = fit_model(first_rows(0, 200), fit);
  EXPECT_EQ(model.shared_rows(model.with(first_rows(200, 260))), 180);  // 20 rows validate
  fit.seed = 1;
  EXPECT_THROW(model.merged(fit_model(first_rows(200, 400), fit)), std::invalid_argument);  // other weights
  EXPECT_THROW(model.merged(fit_model(first_rows(200, 400), fit_of("rich-bll"))), std::invalid_argument);
  const Model dnn = fit_model(first_rows(0, 200), fit_of("dnn"));
  EXPECT_THROW(dnn.merged(dnn), std::invalid_argument);
  EXPECT_THROW(dnn.shard(first_rows(200, 210)), std::invalid_argument);
}

TEST(ModelUpdate, CrossFittedNoiseIsThatOfThePosteriorToo) {
  const Table rows = first_rows(0, 60), test = first_rows(300, 400);
  for (const char* method : {"bll", "rich-bll", "last-layer-laplace", "ntk-sketch", "ntk-gp"}) {
    FitOptions fit = fit_of(method);
    fit.noise_folds = 0;
    const Model plain = fit_model(rows, fit);  // 6 rows validate
    fit.noise_folds = 5;
    const Model folded = fit_model(rows, fit);
    ASSERT_GT(folded.noise().var, 0) << method;
    const Regression a = plain.predict(test), b = folded.predict(test);
    ASSERT_LT(a.aleatoric_var[0].item<double>(), b.aleatoric_var[0].item<double>()) << method;
    EXPECT_TRUE(at::equal(a.mean, b.mean)) << method;
    EXPECT_GT((b.epistemic_var / a.epistemic_var).min().item<double>(), 1 - 1e-9) << method;
    EXPECT_GT((b.epistemic_var / a.epistemic_var).max().item<double>(), 1 + 1e-4) << method;
    // The method's own answer has this noise, which its rows were weighed by.
    const Dataset data = dataset_of(folded.encoder(), test, true);
    const auto own = std::get<Regression>(folded.fitted().predict(data, {}));
    EXPECT_NEAR(own.aleatoric_var[0].item<double>(), folded.noise().var, 1e-12 * folded.noise().var)
        << method;
    EXPECT_EQ(folded.fitted().with_noise(folded.noise().var), nullptr) << method;
    if (std::string_view(method) == "ntk-gp") continue;
    EXPECT_EQ(folded.shard(first_rows(60, 90)).noise().var, folded.noise().var);
    EXPECT_THROW(folded.merged(plain.shard(first_rows(60, 90))), std::invalid_argument);  // other noise
  }
}

TEST(ModelUpdate, ThePosteriorMeanLearnsToo) {
  FitOptions fit = fit_of("bll");
  fit.options["mean"] = "posterior";
  fit.options["steps"] = 20;  // a network that has much left to learn
  const Model model = fit_model(first_rows(0, 60), fit);
  const Table test = first_rows(300, 400);
  fit.options["mean"] = "network";
  const Model plain = fit_model(first_rows(0, 60), fit);
  const Model more = model.with(first_rows(60, 300));
  const auto mae = [&](const Model& m) { return m.evaluate(test).numbers.value().mae; };
  EXPECT_LT(mae(model), 0.95 * mae(plain));
  EXPECT_LT(mae(more), mae(plain));
  const Model kept = plain.with(first_rows(60, 300));
  EXPECT_TRUE(at::equal(kept.predict(test).mean, plain.predict(test).mean));
  EXPECT_THROW(model.merged(plain.shard(first_rows(60, 100))), std::invalid_argument);  // other means
}

TEST(ModelUpdate, ASampleOfTheRowsForgetsNone) {
  FitOptions fit = fit_of("bll");
  fit.options["subsample"] = 100;
  const Model model = fit_model(first_rows(0, 200), fit);
  EXPECT_THROW(model.without(first_rows(0, 1)), std::invalid_argument);
  EXPECT_NO_THROW(model.with(first_rows(200, 201)));
  // Its shards hold all rows that they have learned.
  const Model shard = model.shard(first_rows(200, 260));
  EXPECT_TRUE(at::allclose(shard.without(first_rows(259, 260)).predict(first_rows(300, 400)).epistemic_var,
                           model.shard(first_rows(200, 259)).predict(first_rows(300, 400)).epistemic_var,
                           1e-5, 1e-10));
}

TEST(ModelUpdate, ARefitThatWasStoppedFirstHasLearnedItsTrainingRowsAlone) {
  class Impatient : public Callback {
   public:
    bool stop() override { return ++asked_ > 3; }

   private:
    int asked_ = 0;
  } impatient;
  FitOptions fit = fit_of("bll");
  fit.options.update({{"refit", true}, {"steps", 2000}});
  const Model stopped = fit_model(first_rows(0, 200), fit, nullptr, &impatient);
  ASSERT_TRUE(stopped.interrupted());
  EXPECT_EQ(stopped.known_rows(first_rows(0, 200)), stopped.fitted().summary().rows);
  EXPECT_EQ(stopped.fitted().summary().rows, 180);
}

TEST(ModelUpdate, AnEnsembleRaisesTheNoiseOfItsMembers) {
  FitOptions fit = fit_of("ensemble");
  fit.options.update({{"of", "bll"}, {"members", 2}});
  fit.noise_folds = 0;
  const Model plain = fit_model(first_rows(0, 100), fit);
  const auto raised = plain.fitted().with_noise(1);
  ASSERT_NE(raised, nullptr);
  EXPECT_EQ(raised->with_noise(1), nullptr);
  const Dataset data = dataset_of(plain.encoder(), first_rows(300, 400), true);
  const auto p = std::get<Regression>(raised->predict(data)),
             q = std::get<Regression>(plain.fitted().predict(data));
  EXPECT_TRUE(at::allclose(p.aleatoric_var, at::ones_like(p.aleatoric_var)));
  EXPECT_GT((p.epistemic_var / q.epistemic_var).min().item<double>(), 1);
  EXPECT_EQ(fit_model(first_rows(0, 100), fit_of("dnn")).fitted().with_noise(1), nullptr);
}

/// Rows of a number, a colour and a text, in the columns' order of `header`.
Table cells(const std::string& csv, const Model* model = nullptr) {
  return parse_csv(csv, ',', {"cells.csv", model ? model->reading(true) : Reading{}});
}

std::string many_cells() {
  std::string csv = "x,colour,words,y\n";
  for (int i = 0; i < 60; ++i)
    csv += fmt::format("{},{},{} story {},{}\n", i % 7, i % 2 ? "red" : "blue", i % 3 ? "good" : "bad", i,
                       i % 7 + (i % 2) + 0.01 * i);
  return csv;
}

FitOptions small_fit(const std::string& text) {
  FitOptions fit;
  fit.target = "y";
  fit.method = "bll";
  fit.options = {{"steps", 5}, {"hidden", 4}, {"blocks", 1}};
  fit.noise_folds = 0;
  fit.text = text;
  if (text.empty()) fit.ignore = {"words"};
  return fit;
}

// Two unseen categories are encoded alike, and so are two texts of unknown words. They are different rows.
TEST(ModelUpdate, RowsAreKnownByTheirCells) {
  for (const std::string text : {"", "words"}) {
    const Model model = fit_model(cells(many_cells()), small_fit(text));
    const Table a = cells("x,colour,words,y\n3,violet,qwv,1\n", &model),
                b = cells("x,colour,words,y\n3,green,zyx,1\n", &model);
    const Model more = model.with(a);
    EXPECT_EQ(more.known_rows(a), 1) << text;
    EXPECT_EQ(more.known_rows(b), 0) << text;
    EXPECT_THROW(more.without(b), std::invalid_argument) << text;
    EXPECT_EQ(count(more.learned_among(b)), 0) << text;
    const Model both = model.shard(a).merged(model.shard(b));
    EXPECT_EQ(both.fitted().summary().rows, 2) << text;
    EXPECT_EQ(both.shared_rows(more), 1) << text;
    EXPECT_EQ(model.with(a).with(a).without(a).learned_like(a), 1) << text;
  }
}

TEST(ModelUpdate, TheFormOfAFileDoesNotMatter) {
  const Model model = fit_model(cells(many_cells()), small_fit(""));
  const Model more = model.with(cells("x,colour,words,y\n0,red,a,1\n2,blue,b,-0\n2,,c,3\n", &model));
  // Other columns' order, other order of the categories, other numbers' form, another ignored cell.
  const Table same = cells("y,words,colour,x\n3.0,u,NA,2.0\n0.0,v,blue,2e0\n1e0,w,red,-0.0\n", &model);
  EXPECT_EQ(more.known_rows(same), 3);
  EXPECT_EQ(count(more.learned_among(same)), 3);
  EXPECT_EQ(more.without(same).fitted().summary().rows, model.fitted().summary().rows);
  // Of the table of the fit, read anew, the training rows are known and no others.
  EXPECT_EQ(model.known_rows(cells(many_cells(), &model)), model.fitted().summary().rows);
}

TEST(ModelUpdate, RefusesWhatCannotBeUpdated) {
  const Table rows = first_rows(0, 200);
  EXPECT_THROW(fit_model(rows, fit_of("dnn")).with(rows), std::invalid_argument);
  FitOptions calibrated = fit_of("bll");
  calibrated.calibrate = "conformal";
  calibrated.calibration_fraction = 0.3;
  EXPECT_THROW(fit_model(rows, calibrated).with(rows), std::invalid_argument);
  const Model model = fit_model(rows, fit_of("bll"));
  Table other = rows;
  for (Column& column : other.columns)
    if (column.name == "x") column.name = "z";
  EXPECT_THROW(model.with(other), std::exception);
  EXPECT_THROW(model.without(first_rows(200, 201)), std::invalid_argument);  // never learned
}

}  // namespace
}  // namespace slimbayes
