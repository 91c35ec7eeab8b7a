#include "slimbayes/model/model.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "slimbayes/data/synthetic.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

Table scaled_steps(double scale = 1, double shift = 0) {
  Table table = generate("steps", 300, Stream(1));
  for (Column& column : table.columns) {
    if (column.name != "y") continue;
    for (double& value : column.values) value = scale * value + shift;
  }
  return table;
}

FitOptions small_fit() {
  FitOptions fit;
  fit.target = "y";
  fit.method = "dbk";
  fit.options = {{"steps", 300}};
  fit.test_fraction = 0.2;
  fit.ignore = {"true_mean", "true_sd"};
  return fit;
}

TEST(Model, AnswersInTheTargetsUnits) {
  Regression p = fit_model(scaled_steps(), small_fit()).predict(scaled_steps());
  Regression q = fit_model(scaled_steps(1000, -7), small_fit()).predict(scaled_steps(1000, -7));
  EXPECT_TRUE(at::allclose(q.mean, 1000 * p.mean - 7, 1e-3, 1e-1));
  EXPECT_TRUE(at::allclose(total_var(q), 1e6 * total_var(p), 1e-3, 0));
}

TEST(Model, SavedAndLoadedItIsTheSame) {
  Model model = fit_model(scaled_steps(), small_fit());
  std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "table_model.safetensors";
  model.save(path);
  Model loaded = Model::load(path);
  EXPECT_TRUE(at::equal(loaded.predict(scaled_steps()).mean, model.predict(scaled_steps()).mean));
  EXPECT_EQ(loaded.method(), "dbk");
  EXPECT_EQ(loaded.options(), model.options());
  EXPECT_EQ(loaded.split().test, model.split().test);
  EXPECT_EQ(loaded.data_hash(), table_hash(scaled_steps()));
  EXPECT_EQ(fields_to_json(loaded.evaluate(scaled_steps())), fields_to_json(model.evaluate(scaled_steps())));
}

TEST(Model, FindsColumnsByName) {
  Model model = fit_model(scaled_steps(), small_fit());
  Table other = scaled_steps();
  std::reverse(other.columns.begin(), other.columns.end());
  EXPECT_TRUE(at::equal(model.predict(other).mean, model.predict(scaled_steps()).mean));
  std::erase_if(other.columns, [](const Column& c) { return c.name == "x"; });
  EXPECT_THROW(model.predict(other), std::invalid_argument);
}

TEST(Model, TheSplitTakesItsSharesAndItsOwnSeed) {
  FitOptions fit = small_fit();
  Model model = fit_model(scaled_steps(), fit);
  EXPECT_EQ(model.split().test.size(), 60u);
  EXPECT_EQ(model.split().valid.size(), 30u);
  EXPECT_EQ(model.split().train.size(), 210u);
  fit.seed = 9;
  EXPECT_EQ(fit_model(scaled_steps(), fit).split().test, model.split().test);
  fit.split_seed = 9;
  EXPECT_NE(fit_model(scaled_steps(), fit).split().test, model.split().test);
}

// Each part of such a file is valid on its own and the checksum is correct, but the parts do not fit
// together.
TEST(Model, AFileWhosePartsDoNotFitIsRefused) {
  FitOptions fit = small_fit();
  fit.options = {{"steps", 5}};
  fit.method = "dnn";
  TensorFile file = fit_model(scaled_steps(), fit).to_file();
  file.metadata["network"] = "[]";
  EXPECT_THROW(Model::from_file(file, "m"), DataError);

  Table classes = scaled_steps();
  for (Column& column : classes.columns) {
    if (column.name != "y") continue;
    for (double& value : column.values) value = value < -0.2 ? 0 : value < 0.2 ? 1 : 2;
    column.kind = ColumnKind::categorical;
    column.levels = {"high", "low", "middle"};
  }
  fit.method = "vbll";
  file = fit_model(classes, fit).to_file();
  EXPECT_NO_THROW(Model::from_file(file, "m").answer(classes));
  const auto head = [](const char* likelihood, int outputs) {
    return nlohmann::json{{"likelihood", likelihood}, {"outputs", outputs}, {"noise_var", 0.0}}.dump();
  };
  const std::vector<std::pair<const char*, std::string>> damages = {
      {"draw_seed", "null"},        {"draw_seed", "-1"},          {"head", head("cox", 3)},
      {"head", head("softmax", 2)}, {"head", head("poisson", 3)}, {"head", head("flat", 3)}};
  for (const auto& [key, damage] : damages) {
    TensorFile damaged = file;
    damaged.metadata[key] = damage;
    std::string text = "no error";
    try {
      Model::from_file(damaged, "m").answer(classes);
    } catch (const DataError& error) {
      text = error.what();
    } catch (const std::invalid_argument& error) {
      text = error.what();
    }
    EXPECT_NE(text, "no error") << key << " " << damage;
  }
}

TEST(Model, OptionsAreThoseThatTheRowsResolved) {
  FitOptions fit = small_fit();
  fit.method = "dbk-exact";
  fit.options = {{"steps", 2}, {"hidden", 8}};
  Table some = scaled_steps();
  for (Column& column : some.columns) column.values.resize(60);
  some.rows = 60;
  Model model = fit_model(some, fit);
  EXPECT_EQ(model.options()["rank"], model.split().train.size());
  EXPECT_EQ(Model::from_file(model.to_file(), "m").options(), model.options());
}

// The codes look like numbers. If the table was read with them as numbers, a fit that declares them
// categorical must be refused: its model could not read the table again.
TEST(Model, NamesAreThoseThatTheTableWasReadWith) {
  Table table = scaled_steps();
  Column zip{"zip", ColumnKind::numeric, {}, {}};
  for (int64_t row = 0; row < table.rows; ++row) zip.values.push_back(static_cast<double>(row % 4 + 100));
  table.columns.push_back(zip);
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "names.csv";
  write_table(path, table);
  FitOptions fit = small_fit();
  fit.categorical = {"zip"};
  const auto refusal = [&](const Table& read) -> std::string {
    try {
      fit_model(read, fit);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal(read_table(path)).find("read with 'zip' as names"), std::string::npos)
      << refusal(read_table(path));
  const Table as_names = read_table(path, {{}, {"zip"}, {}, true});
  const Model model = fit_model(as_names, fit);
  const Table again = read_table(path, model.reading(true));
  EXPECT_EQ(table_hash(again), model.data_hash());
  EXPECT_TRUE(at::equal(model.predict(again).mean, model.predict(as_names).mean));
  fit.categorical = {"zipp"};
  EXPECT_NE(refusal(as_names).find("did you mean 'zip'?"), std::string::npos) << refusal(as_names);
}

TEST(Model, EventsAreScaledFromTheirDomainAlone) {
  FitOptions fit;
  fit.likelihood = LikelihoodKind::cox;
  fit.domain = "0:1";
  fit.method = "sv-dkl";
  const Table table{"t.csv", {{"x", ColumnKind::numeric, {0.1, 0.5, 0.7, 0.2}, {}}}, 4};
  for (const bool all : {false, true}) {
    FitOptions scaled = fit;
    (all ? scaled.scale_on : scaled.scale) = all ? "all" : "standard";
    try {
      fit_model(table, scaled);
      FAIL();
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("no scale for events"), std::string::npos) << error.what();
    }
  }
}

TEST(Model, ValidationRowsThatWereTrainedOnAreTold) {
  const Table train = scaled_steps(), other = generate("steps", 50, Stream(2));
  FitOptions fit = small_fit();
  fit.test_fraction = 0;
  const auto notes = [&](const Examples& valid) { return fit_model(train, fit, &valid).split().notes; };
  EXPECT_TRUE(notes(other).empty());
  ASSERT_EQ(notes(train).size(), 1u);
  EXPECT_NE(notes(train)[0].find("300 of 300 validation rows have the inputs of a training"),
            std::string::npos)
      << notes(train)[0];
}

TEST(Model, ASingleTrainingRowIsRefused) {
  FitOptions fit = small_fit();
  fit.test_fraction = 0;
  try {
    fit_model(take_rows(scaled_steps(), {3, 4}), fit);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("at least two training rows; received one"), std::string::npos)
        << error.what();
  }
}

TEST(Model, AFileOfAnUnknownMethodIsADataError) {
  TensorFile file = fit_model(scaled_steps(), small_fit()).to_file();
  file.metadata["method"] = "oracle";
  EXPECT_THROW(Model::from_file(file, "oracle.safetensors"), DataError);
  file.metadata["method"] = "dbk";
  file.tensors.erase("offset");
  EXPECT_THROW(Model::from_file(file, "torn.safetensors"), DataError);
}

TEST(TableHash, ChangesWithACellANameAndALevel) {
  Table table = scaled_steps(), other = scaled_steps();
  EXPECT_EQ(table_hash(table), table_hash(other));
  other.columns[0].values[7] += 1e-9;
  EXPECT_NE(table_hash(table), table_hash(other));
  other = scaled_steps();
  other.columns[0].name += "_";
  EXPECT_NE(table_hash(table), table_hash(other));
  table.columns.push_back(
      {"c", ColumnKind::categorical, std::vector<double>(static_cast<size_t>(table.rows)), {"a"}});
  other = table;
  EXPECT_EQ(table_hash(table), table_hash(other));
  other.columns.back().levels[0] = "b";
  EXPECT_NE(table_hash(table), table_hash(other));
}

}  // namespace
}  // namespace slimbayes
