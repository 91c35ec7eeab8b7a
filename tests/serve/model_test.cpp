#include "slimbayes/serve/model.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

#include "slimbayes/encoding/outside.h"
#include "slimbayes/storage/error.h"
#include "tests/serve/serve_case.h"

namespace {

std::atomic<int64_t> allocations = 0;  // of this program, by operator new

}  // namespace

void* operator new(size_t size) {
  ++allocations;
  void* memory = std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {  // std::stable_sort takes it
  ++allocations;
  return std::malloc(size > 0 ? size : 1);
}
#if !defined(__SANITIZE_ADDRESS__)  // engine/buffer.h allocates by this one
extern "C" void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}
#endif
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace slimbayes {
namespace {

void expect_near(double a, const at::Tensor& b, int64_t i, const char* what) {
  const double expected = b[i].item<double>();
  EXPECT_NEAR(a, expected, 1e-9 * std::abs(expected) + 1e-12) << what << " of row " << i;
}

class Served : public ::testing::TestWithParam<Case> {};

// One truth: a row of numbers, the same row as texts, and the same row of the table.
TEST_P(Served, AnswersAsTheModel) {
  const Model model = fit_model(served_table(260, 1, GetParam().repeats), request_of(GetParam()));
  if (GetParam().repeats) {
    ASSERT_LT(model.calibration().groups, model.calibration().value.size(0));
  }
  const serve::Model rows = served(model);
  const Table fresh = served_table(60, 2);
  const Regression p = model.predict(fresh);
  for (const double level : {0.8, 0.5}) {
    const Interval ends = model.interval(p, level);
    for (int64_t i = 0; i < fresh.rows; ++i) {
      const serve::Answer a = rows.predict(row_of(fresh, rows, i), level);
      expect_near(a.mean, p.mean, i, "mean");
      expect_near(a.sd_aleatoric * a.sd_aleatoric, p.aleatoric_var, i, "aleatoric");
      expect_near(a.sd_epistemic * a.sd_epistemic, p.epistemic_var, i, "epistemic");
      EXPECT_NEAR(a.sd, std::hypot(a.sd_aleatoric, a.sd_epistemic), 1e-12 * a.sd);
      expect_near(a.lower, ends.lower, i, "lower");
      expect_near(a.upper, ends.upper, i, "upper");
      const std::vector<std::string> texts = texts_of(fresh, rows, i);
      const std::vector<std::string_view> cells(texts.begin(), texts.end());
      const serve::Answer again = rows.predict(std::span<const std::string_view>(cells), level);
      EXPECT_EQ(again.mean, a.mean) << i;
      EXPECT_EQ(again.upper, a.upper) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Methods, Served,
    ::testing::Values(
        Case{"dbk", "dbk", small({{"rank", 12}})},
        Case{"dbk_linear", "dbk", small({{"rank", 12}, {"basis", "linear"}})},
        Case{"dbk_rbf", "dbk", small({{"rank", 12}, {"basis", "rbf"}})},
        Case{"dbk_fourier", "dbk", small({{"rank", 12}, {"basis", "fourier"}})},
        Case{"exact_fourier", "dbk-exact", small({{"rank", 8}, {"basis", "fourier"}})},
        Case{"sv_dkl", "sv-dkl", small({{"rank", 12}})}, Case{"pp_dkl", "pp-dkl", small({{"rank", 12}})},
        Case{"sv_rbf", "sv-rbf", {{"steps", 40}, {"rank", 12}}},
        Case{"sv_dbk", "sv-dbk", small({{"rank", 12}})},
        Case{"exact_rbf", "dbk-exact", small({{"rank", 8}, {"basis", "rbf"}})},
        Case{"vbll", "vbll", small({{"rank", 9}})}, Case{"dnn", "dnn", kSmall},
        Case{"dnn_realmlp", "dnn", small({{"network", "realmlp"}})}, Case{"bll", "bll", kSmall},
        Case{"bll_mean", "bll", small({{"mean", "posterior"}})}, Case{"rich_bll", "rich-bll", kSmall},
        Case{"laplace", "last-layer-laplace", kSmall}, Case{"sketch", "ntk-sketch", small({{"sketch", 30}})},
        Case{"dbk_exact", "dbk-exact", small({{"rank", 8}})},
        Case{"gp_exact", "gp-exact", {{"iterations", 20}}}, Case{"dkl_exact", "dkl-exact", kSmall},
        Case{"ridge", "ridge", json::object()}, Case{"ensemble", "ensemble", small({{"members", 3}})},
        Case{"ensemble_bll", "ensemble", small({{"members", 2}, {"of", "bll"}})},
        Case{"constant", "constant", json::object()},
        Case{"auto", "auto", {{"candidates", "constant,ridge,gp-exact"}}},
        Case{"auto_networks", "auto", {{"candidates", "ridge,dnn"}, {"steps", 30}}},
        Case{"ridge_conformal", "ridge", json::object(), "conformal"},
        Case{"auto_conformal", "auto", {{"candidates", "constant,ridge"}}, "conformal"},
        Case{"groups", "ridge", json::object(), "conformal", json::object(), true},
        Case{"auto_groups", "auto", {{"candidates", "constant,ridge"}}, "conformal", json::object(), true},
        Case{"negative", "auto", {{"candidates", "constant,ridge"}}, "none", {{"target", "z"}}},
        Case{"standard", "ridge", json::object(), "none", {{"scale", "standard"}}}),
    [](const auto& info) { return info.param.name; });

TEST(ServedModel, KnowsItsColumns) {
  const serve::Model rows =
      served(fit_model(served_table(200, 1), request_of({"", "ridge", json::object()})));
  const json known = json::parse(rows.describe());
  EXPECT_EQ(known["method"], "ridge");
  EXPECT_EQ(known["target"], "y");
  EXPECT_EQ(known["sd_parts"], "aleatoric and epistemic");
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"a", "number"},   {"on", "boolean"},    {"colour", "category"}, {"when", "time"}, {"b", "number"},
      {"bit", "number"}, {"code", "category"}, {"smoker", "category"}, {"gap", "number"}};
  ASSERT_EQ(known["columns"].size(), expected.size());
  for (size_t j = 0; j < expected.size(); ++j) {
    EXPECT_EQ(known["columns"][j]["name"], expected[j].first);
    EXPECT_EQ(known["columns"][j]["type"], expected[j].second);
  }
  EXPECT_EQ(known["columns"][2]["levels"], (json{"blue", "green", "red"}));
  EXPECT_EQ(known["columns"][6]["levels"].size(), 63);  // and one feature for all others
}

TEST(ServedModel, SaysHowFarARowLies) {
  const Model model = fit_model(served_table(200, 1), request_of({"", "ridge", json::object()}));
  const serve::Model rows = served(model);
  Table fresh = served_table(40, 2);
  fresh.columns[0].values[1] = 400;
  const auto far = outside(std::get<Encoder>(model.encoder()), fresh);
  ASSERT_TRUE(far.has_value());
  for (int64_t i = 0; i < fresh.rows; ++i) {
    const serve::Scores scores = rows.scores(row_of(fresh, rows, i));
    EXPECT_EQ(scores.beyond, far->beyond[static_cast<size_t>(i)]) << i;
    EXPECT_DOUBLE_EQ(scores.distance, far->distance[static_cast<size_t>(i)]) << i;
  }
  EXPECT_GT(far->beyond[1], 10);
}

TEST(ServedModel, HasTheQuantilesOfItsAnswer) {
  for (const Case& one :
       {Case{"", "ridge", json::object()}, Case{"", "auto", {{"candidates", "constant,ridge"}}}}) {
    const serve::Model rows = served(fit_model(served_table(200, 1), request_of(one)));
    const std::vector<double> row = row_of(served_table(3, 2), rows, 0);
    const serve::Answer a = rows.predict(row, 0.8);
    EXPECT_NEAR(rows.quantile(row, 0.1), a.lower, 1e-9 * a.sd);
    EXPECT_NEAR(rows.quantile(row, 0.9), a.upper, 1e-9 * a.sd);
    EXPECT_LT(rows.quantile(row, 0.4), rows.quantile(row, 0.6));
    EXPECT_THROW(rows.quantile(row, 1), std::invalid_argument);
  }
}

TEST(ServedModel, RefusesRowsThatItCannotAnswer) {
  const serve::Model rows =
      served(fit_model(served_table(200, 1), request_of({"", "ridge", json::object()})));
  std::vector<double> row = row_of(served_table(3, 2), rows, 0);
  EXPECT_THROW(rows.predict(row, 1.0), std::invalid_argument);
  EXPECT_THROW(rows.predict(row, 0.0), std::invalid_argument);
  EXPECT_THROW(rows.predict(std::span(row).first(2), 0.9), std::invalid_argument);
  for (const double bad : std::vector<double>{1e12, INFINITY, -INFINITY}) {
    std::vector<double> own = row;
    own[0] = bad;
    EXPECT_THROW(rows.predict(own, 0.9), std::invalid_argument) << bad;
  }
  for (const double bad : std::vector<double>{-1.0, 4.0, 0.5, 1e300, INFINITY}) {
    std::vector<double> own = row;
    own[2] = bad;  // no place in three levels, or behind them
    EXPECT_THROW(rows.predict(own, 0.9), std::invalid_argument) << bad;
  }
  std::vector<std::string_view> cells = {"11", "true", "red", "2022-01-05", "1e6", "1", "code 3", "no", "7"};
  EXPECT_TRUE(std::isfinite(rows.predict(std::span<const std::string_view>(cells), 0.9).mean));
  const std::vector<std::pair<size_t, std::string_view>> wrong = {
      {0, "eleven"}, {0, "inf"}, {1, "maybe"}, {3, "yesterday"}, {4, "red"}, {5, "perhaps"}};
  for (const auto& [j, text] : wrong) {
    std::vector<std::string_view> own = cells;
    own[j] = text;
    EXPECT_THROW(rows.predict(std::span<const std::string_view>(own), 0.9), DataError) << text;
  }
}

// Other spellings of the same cells are the same row, as they are in a file.
TEST(ServedModel, ReadsCellsAsAFileDoes) {
  FitOptions fit = request_of({"", "ridge", json::object()});
  fit.na = {"-999"};
  const Model model = fit_model(served_table(260, 1), fit);
  const serve::Model rows = served(model);
  const std::vector<std::string_view> cells = {"11", "true",   "red", "2022-01-05", "1e6",
                                               "1",  "code 3", "no",  "7"};
  const auto mean = [&](const std::vector<std::string_view>& of) {
    return rows.predict(std::span<const std::string_view>(of), 0.9).mean;
  };
  const std::vector<std::vector<std::pair<size_t, std::string_view>>> same = {
      {{0, " 11.0 "}},  {{1, "1"}},     {{1, "Yes"}},  {{3, "2022-01-05T00:00Z"}},
      {{4, "1000000"}}, {{5, "yes"}},   {{5, "TRUE"}}, {{8, "7.5"}},
      {{7, "No"}},      {{7, "false"}}, {{7, "0"}}};
  for (const auto& changes : same) {
    std::vector<std::string_view> own = cells;
    for (const auto& [j, text] : changes) own[j] = text;
    EXPECT_EQ(mean(own), mean(cells)) << changes[0].second;
  }
  for (const size_t j : {size_t{0}, size_t{4}, size_t{8}}) {
    std::vector<std::string_view> missing = cells;
    missing[j] = "";
    for (const char* text : {"NA", "-999", "-999.0", "NaN", "NAN", "null", "?"}) {
      std::vector<std::string_view> own = cells;
      own[j] = text;
      EXPECT_EQ(mean(own), mean(missing)) << j << text;
    }
    EXPECT_NE(mean(missing), mean(cells)) << j;
  }
  for (const char* other :
       {"code 79", "code 78", "never seen"}) {  // the rare codes share a feature with new ones
    std::vector<std::string_view> own = cells;
    own[6] = other;
    EXPECT_TRUE(std::isfinite(mean(own)));
  }
}

TEST(ServedModel, ReadsNumbersInTheNotationOfTheFit) {
  FitOptions fit = request_of({"", "ridge", json::object()});
  fit.thousands = ".";
  fit.decimal = ",";
  const serve::Model rows = served(fit_model(served_table(260, 1), fit));
  const auto mean = [&](std::string_view x, std::string_view large) {
    const std::vector<std::string_view> cells = {x,   "true",   "red", "2022-01-05", large,
                                                 "1", "code 3", "no",  "7"};
    return rows.predict(std::span<const std::string_view>(cells), 0.9).mean;
  };
  EXPECT_EQ(mean("11,5", "1.000.000"), mean("11,50", "1000000"));
  EXPECT_NE(mean("11,5", "1.000.000"), mean("11", "1.000.000"));
  EXPECT_THROW(mean("11.5", "1e6"), DataError);
  EXPECT_THROW(mean("11", "1.00"), DataError);
}

TEST(ServedModel, ReadsDatesOfTheFormatOfTheFit) {
  FitOptions fit = request_of({"", "ridge", json::object()});
  fit.date_format = "%d.%m.%Y";
  const serve::Model rows = served(fit_model(served_table(260, 1), fit));
  const auto mean = [&](std::string_view when) {
    const std::vector<std::string_view> cells = {"11", "true", "red", when, "1e6", "1", "code 3", "no", "7"};
    return rows.predict(std::span<const std::string_view>(cells), 0.9).mean;
  };
  EXPECT_EQ(mean("05.01.2022"), mean("2022-01-05"));
  EXPECT_NE(mean("05.01.2022"), mean("05.08.2022"));
  EXPECT_THROW(mean("31.02.2022"), DataError);
}

TEST(ServedModel, NamesTheRowOfSeveralThatItRefuses) {
  const serve::Model rows =
      served(fit_model(served_table(200, 1), request_of({"", "ridge", json::object()})));
  const Table fresh = served_table(3, 2);
  std::vector<double> all;
  for (int64_t i = 0; i < 3; ++i)
    for (const double cell : row_of(fresh, rows, i)) all.push_back(cell);
  std::vector<serve::Answer> out(3);
  rows.predict(all, out, 0.9);
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(out[static_cast<size_t>(i)].mean, rows.predict(row_of(fresh, rows, i), 0.9).mean);
  all[rows.columns().size()] = 1e12;
  try {
    rows.predict(all, out, 0.9);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()).find("row 2: expected a number within"), 0U) << error.what();
  }
  EXPECT_THROW(rows.predict(std::span(all).first(4), out, 0.9), std::invalid_argument);
}

// A row that has no answer is named, whatever rows are computed together with it.
TEST(ServedModel, NamesTheRowOfABlockThatHasNoAnswer) {
  TensorFile file = fit_model(served_table(200, 1), request_of({"", "ridge", json::object()})).to_file();
  json serve = json::parse(file.metadata.at("serve"));
  serve["rows"]["rows"]["head"]["prior_var"] = 400.0;  // no features that a kernel with it may have
  file.metadata["serve"] = serve.dump();
  const serve::Model rows = serve::Model::open(to_bytes(file), "edited");
  const std::vector<double> row = row_of(served_table(3, 2), rows, 0);
  std::vector<double> all;
  for (int i = 0; i < 70; ++i) all.insert(all.end(), row.begin(), row.end());
  all[64 * row.size()] = 300;  // far beyond the training rows
  std::vector<serve::Answer> out(70);
  try {
    rows.predict(all, out, 0.9);
    FAIL() << "an answer";
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("row 65: "), std::string::npos) << error.what();
  }
  const serve::Answer alone = rows.predict(row, 0.9);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(out[i].mean, alone.mean) << i;
  EXPECT_EQ(out[64].sd, 0);
}

TEST(ServedModel, RefusesADamagedFile) {
  FitOptions fit = request_of({"", "auto", {{"candidates", "constant,ridge"}}, "conformal"});
  const TensorFile file = fit_model(served_table(260, 1), fit).to_file();
  const auto refused = [](const TensorFile& one) {
    EXPECT_THROW(serve::Model::open(to_bytes(one), "damaged"), DataError);
  };
  EXPECT_NO_THROW(serve::Model::open(to_bytes(file), "whole"));
  TensorFile own = file;
  const double nan = NAN;
  std::memcpy(own.tensors.at("calibration.scores").bytes.data() + sizeof(double), &nan, sizeof nan);
  refused(own);
  const auto changed = [&](const char* path, const json& value) {
    TensorFile other = file;
    json serve = json::parse(other.metadata.at("serve"));
    serve[json::json_pointer(path)] = value;
    other.metadata["serve"] = serve.dump();
    refused(other);
  };
  changed("/version", 4);
  changed("/least_noise", -1);
  changed("/rows/rows/candidates/0/spread/wild_share", -0.1);
  changed("/rows/rows/candidates/0/spread/dof", 1.5);
  changed("/rows/rows/candidates/0/spread/low", 1e9);
  changed("/rows/rows/candidates/0/weight", -1);
  changed("/rows/rows/candidates/0/view/unit", 0);
  changed("/rows/rows/wrong_share", 2);
  changed("/rows/rows/inputs", 5);
}

TEST(ServedModel, SaysWhatItCannotServe) {
  const auto message = [](const Case& one, const char* target) {
    Table table = served_table(120, 1);
    FitOptions fit = request_of(one);
    fit.target = target;
    if (fit.target == "colour")
      for (double& cell : table.columns[2].values) cell = std::isnan(cell) ? 0 : cell;
    try {
      served(fit_model(table, fit));
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const json quick = {{"steps", 20}, {"hidden", 8}};
  EXPECT_NE(message({"", "swag", quick}, "colour").find("a model of swag"), std::string::npos);
  EXPECT_NE(message({"", "mc-dropout", quick}, "y").find("a model of mc-dropout"), std::string::npos);
}

TEST(ServedModel, AnswersTheSameOnEveryThreadWithoutAllocations) {
  for (const Case& one :
       {Case{"", "dbk", small({{"rank", 12}})}, Case{"", "ntk-sketch", small({{"sketch", 20}})},
        Case{"", "auto", {{"candidates", "constant,ridge"}}}}) {
    const serve::Model rows = served(fit_model(served_table(200, 1), request_of(one)));
    const std::vector<double> row = row_of(served_table(3, 2), rows, 0);
    const std::vector<std::string_view> cells = {"11", "true",   "red", "2022-01-05", "1e6",
                                                 "1",  "code 3", "no",  "7"};
    const serve::Answer first = rows.predict(row, 0.9),
                        text = rows.predict(std::span<const std::string_view>(cells), 0.5);
    std::vector<std::thread> threads;
    std::atomic<int64_t> wrong = 0;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 300; ++i) {
          const serve::Answer a = rows.predict(row, 0.9),
                              b = rows.predict(std::span<const std::string_view>(cells), 0.5);
          wrong +=
              a.mean != first.mean || a.lower != first.lower || b.mean != text.mean || b.upper != text.upper;
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    rows.predict(std::span<const std::string_view>(cells), 0.5);
    const int64_t before = allocations;
    for (int i = 0; i < 50; ++i) {
      rows.predict(row, 0.9);
      rows.predict(std::span<const std::string_view>(cells), 0.5);
    }
    EXPECT_EQ(allocations, before);
  }
}

TEST(ServedModel, StaysOfTheFileThroughTheModel) {
  const Model model = fit_model(served_table(200, 1), request_of({"", "dbk", small({{"rank", 12}})}));
  const TensorFile file = model.to_file();
  EXPECT_EQ(to_bytes(Model::from_file(file, "again").to_file()), to_bytes(file));
  // The weights of the network stand in the file once.
  for (const auto& [name, tensor] : file.tensors)
    if (name.starts_with("rows.")) {
      EXPECT_EQ(tensor.type, StoredType::f64) << name;
    }
}

}  // namespace
}  // namespace slimbayes
