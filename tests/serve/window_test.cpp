// Windows of a series and texts as they are served: one truth with Model::predict.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>

#include "slimbayes/encoding/single_text.h"
#include "slimbayes/encoding/windows/single_window.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"
#include "tests/serve/serve_case.h"

namespace slimbayes {
namespace {

constexpr int64_t kHours = 200;

/// Hours of two towns: a load with a daily wave, a temperature and a kind of day, each missing in some rows.
/// `hot` has two classes, `calls` counts. With `gaps` an hour in fifty is not there.
Table hours(uint64_t seed, bool gaps) {
  const Stream stream(seed);
  Column town{"town", ColumnKind::categorical, {}, {"north", "south"}},
      time{"time", ColumnKind::datetime, {}, {}},
      year = numbers("year", {}), month = numbers("month", {}), day = numbers("day", {}),
      hour = numbers("hour", {}), load = numbers("load", {}), warm = numbers("warm", {}),
      kind{"kind", ColumnKind::categorical, {}, {"open", "shut"}}, hot{"hot", ColumnKind::boolean, {}, {}},
      calls = numbers("calls", {});
  for (int64_t i = 0; i < 2 * kHours; ++i) {
    const auto at = static_cast<uint64_t>(i);
    const int64_t h = i % kHours;
    if (gaps && h % 50 == 31) continue;
    const double wave = std::sin(2 * M_PI * static_cast<double>(h) / 24);
    town.values.push_back(i < kHours ? 0 : 1);
    time.values.push_back(3600.0 * static_cast<double>(h) + 86400 * 19000);  // 2022-01-08
    year.values.push_back(2022);
    month.values.push_back(1);
    day.values.push_back(8 + static_cast<double>(h / 24));
    hour.values.push_back(static_cast<double>(h % 24));
    load.values.push_back(5 + wave + 0.2 * stream.split("load").normal(at));
    warm.values.push_back(h % 17 == 9 ? kMissing : 10 + 3 * stream.split("warm").uniform(at));
    kind.values.push_back(h % 19 == 4 ? kMissing : h % 24 > 12 ? 1 : 0);
    hot.values.push_back(wave + 0.5 * stream.split("hot").normal(at) > 0 ? 1 : 0);
    calls.values.push_back(std::floor(4 * std::exp(wave) * stream.split("calls").uniform(at)));
  }
  Table table{"hours", {}, std::ssize(town.values)};
  for (Column* column : {&town, &time, &year, &month, &day, &hour, &load, &warm, &kind, &hot, &calls})
    table.columns.push_back(std::move(*column));
  return table;
}

struct WindowCase {
  std::string name, method;
  json options, fit;
  bool gaps = false;
};

void PrintTo(const WindowCase& one, std::ostream* out) { *out << one.name; }

Model window_model(const WindowCase& one) {
  json all = {{"target", "load"}, {"window", 5},       {"horizon", 2},
              {"time", {"time"}}, {"group", {"town"}}, {"fill_gaps", one.gaps}};
  if (!one.fit.is_null()) all.update(one.fit);
  const std::string calibrate = all.value("calibrate", "none");
  all.erase("calibrate");
  FitOptions fit = options_from_json<FitOptions>(all, "test");
  for (const char* name : {"time", "year", "month", "day", "hour"})
    if (std::ranges::find(fit.time, name) == fit.time.end()) fit.ignore.emplace_back(name);
  fit.method = one.method;
  fit.options = one.options;
  fit.calibrate = calibrate;
  if (calibrate != "none") fit.calibration_fraction = 0.3;
  return fit_model(hours(1, one.gaps), fit);
}

/// The numbers of a window, as serve::Model takes them; empty if a cell is missing in its first row, for
/// which the table may know an earlier one.
std::vector<double> numbers_of(const WindowTable& w, size_t example, const serve::Model& model, bool gaps) {
  const Windows& windows = *w.windows;
  const int64_t last = windows.last[static_cast<size_t>(w.selected[example])];
  std::vector<double> all;
  for (int64_t place = last - windows.options.window + 1; place <= last; ++place) {
    const auto at = static_cast<size_t>(place);
    const Table row = take_rows(*w.table, {windows.order[at]});
    std::vector<double> cells = row_of(row, model, 0);
    if (windows.options.time.size() == 1) cells[0] = windows.time[at];
    const bool first = all.empty();
    if (gaps && first && std::ranges::any_of(cells, [](double cell) { return std::isnan(cell); })) return {};
    all.insert(all.end(), cells.begin(), cells.end());
  }
  return all;
}

std::vector<std::string> texts_of_window(const std::vector<double>& numbers, const serve::Model& model) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const serve::ColumnInfo& column = model.columns()[i % model.columns().size()];
    const double cell = numbers[i];
    Column one{column.name, ColumnKind::numeric, {cell}, column.levels};
    if (column.type == serve::ColumnType::time) one.kind = ColumnKind::datetime;
    if (column.type == serve::ColumnType::category) one.kind = ColumnKind::categorical;
    if (column.type == serve::ColumnType::boolean) one.kind = ColumnKind::boolean;
    texts.push_back(std::isnan(cell) ? "" : cell_text(one, cell));
  }
  return texts;
}

void expect_close(double a, const at::Tensor& b, int64_t i, double tolerance) {
  const double expected = b[i].item<double>();
  EXPECT_NEAR(a, expected, tolerance * (std::abs(expected) + 1e-3)) << i;
}

class ServedWindows : public ::testing::TestWithParam<WindowCase> {};

TEST_P(ServedWindows, AnswerAsTheModel) {
  const WindowCase& one = GetParam();
  const Model model = window_model(one);
  const serve::Model rows = served(model);
  const Examples given = model.examples(hours(2, one.gaps));
  const auto& windows = std::get<WindowTable>(given);
  const Answers all = model.answers(given, {{0.8}, false});
  ASSERT_EQ(all.rows.size(), windows.selected.size());
  const Scores scores = model.ood(given);
  int64_t asked = 0;
  for (int64_t i = 0; i < std::ssize(all.rows); i += 7) {
    const std::vector<double> numbers = numbers_of(windows, static_cast<size_t>(i), rows, one.gaps);
    if (numbers.empty()) continue;
    ++asked;
    ASSERT_EQ(numbers.size(), rows.row_numbers());
    const std::vector<std::string> texts = texts_of_window(numbers, rows);
    const std::vector<std::string_view> cells(texts.begin(), texts.end());
    if (const auto* p = std::get_if<Classes>(&all.answer)) {
      std::vector<double> mine(rows.classes().size()), again(mine);
      rows.classify(numbers, mine);
      rows.classify(std::span<const std::string_view>(cells), again);
      EXPECT_EQ(mine, again);
      for (size_t c = 0; c < mine.size(); ++c)
        expect_close(mine[c], p->probabilities.select(1, static_cast<int64_t>(c)), i, 1e-5);
      if (all.levels[0].set) {
        std::vector<unsigned char> set(mine.size());
        rows.prediction_set(numbers, 0.8, set);
        for (size_t c = 0; c < set.size(); ++c)
          EXPECT_EQ(set[c] != 0, (*all.levels[0].set)[i][static_cast<int64_t>(c)].item<bool>()) << i;
      }
    } else {
      const serve::Answer a = rows.predict(numbers, 0.8);
      EXPECT_EQ(a.upper, rows.predict(std::span<const std::string_view>(cells), 0.8).upper);
      const Interval& ends = *all.levels[0].interval;
      expect_close(a.lower, ends.lower, i, 1e-5);
      expect_close(a.upper, ends.upper, i, 1e-5);
      if (const auto* q = std::get_if<Regression>(&all.answer)) expect_close(a.mean, q->mean, i, 1e-6);
    }
    const serve::Scores far = rows.scores(numbers);
    expect_close(far.beyond, scores.at("outside"), i, 1e-9);
    expect_close(far.distance, scores.at("distance"), i, 1e-9);
  }
  EXPECT_GT(asked, 5);
}

const json kLstm = {{"network", "lstm"}, {"hidden", 8}, {"steps", 40}};
const json kParts = {{"time", {"year", "month", "day", "hour"}}};

INSTANTIATE_TEST_SUITE_P(
    Methods, ServedWindows,
    ::testing::Values(
        WindowCase{"dbk", "dbk", merged_json(kLstm, {{"rank", 8}}), {{"calibrate", "conformal"}}},
        WindowCase{"parts_of_time", "dnn", kLstm, kParts},
        WindowCase{"auto", "auto", {{"candidates", "ridge,dnn"}, {"steps", 40}, {"hidden", 8}}, {}},
        WindowCase{"gaps", "bll", kLstm, {}, true}, WindowCase{"ridge", "ridge", json::object(), {}},
        WindowCase{"classes", "vbll", kLstm, {{"target", "hot"}, {"calibrate", "conformal"}}},
        WindowCase{"logistic", "logistic", json::object(), {{"target", "hot"}}, true},
        WindowCase{"counts", "vbll", kLstm, {{"target", "calls"}, {"likelihood", "poisson"}}}),
    [](const auto& info) { return info.param.name; });

TEST(ServedWindow, IsRefusedWhereItIsNone) {
  const Model model = window_model({"ridge", "ridge", json::object(), {}});
  const serve::Model rows = served(model);
  const auto windows = std::get<WindowTable>(model.examples(hours(2, false)));
  const std::vector<double> good = numbers_of(windows, 0, rows, false);
  EXPECT_NO_THROW(rows.predict(good));
  const size_t width = rows.columns().size();
  EXPECT_EQ(rows.columns()[0].name, "time");
  const json facts = json::parse(rows.describe());
  EXPECT_EQ(facts["window"]["rows"], 5);
  EXPECT_EQ(facts["window"]["horizon"], 2);
  EXPECT_EQ(facts["window"]["step"], 3600);
  const auto refused = [&](size_t cell, double value) {
    std::vector<double> bad = good;
    bad[cell] = value;
    try {
      rows.predict(bad);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("answered");
  };
  EXPECT_NE(refused(width, good[width] + 60).find("row 2 of the window: expected a time 3600 after"),
            std::string::npos);
  EXPECT_NE(
      refused(2 * width, kMissing).find("row 3 of the window: expected a time in 'time'; received a missing"),
      std::string::npos);
  const auto town =
      std::ranges::find(rows.columns(), "town", &serve::ColumnInfo::name) - rows.columns().begin();
  EXPECT_NE(
      refused(width + static_cast<size_t>(town), 1 - good[static_cast<size_t>(town)]).find("one series"),
      std::string::npos);
  EXPECT_THROW(rows.predict(std::span(good).first(width)), std::invalid_argument);
}

TEST(ServedWindow, OfUnknownSeriesIsOfOne) {
  const Model model = window_model({"ridge", "ridge", json::object(), {}});
  const serve::Model rows = served(model);
  const auto windows = std::get<WindowTable>(model.examples(hours(2, false)));
  std::vector<std::string> texts = texts_of_window(numbers_of(windows, 0, rows, false), rows);
  const auto town = static_cast<size_t>(std::ranges::find(rows.columns(), "town", &serve::ColumnInfo::name) -
                                        rows.columns().begin());
  const auto predicted = [&] {
    const std::vector<std::string_view> cells(texts.begin(), texts.end());
    return rows.predict(std::span<const std::string_view>(cells));
  };
  for (size_t row = 0; row < 5; ++row) texts[row * rows.columns().size() + town] = "east";
  EXPECT_NO_THROW(predicted());
  texts[2 * rows.columns().size() + town] = "west";
  EXPECT_THROW(predicted(), std::invalid_argument);
}

// A missing row is one with its time alone: its inputs are the last known ones, and so is its town.
TEST(ServedWindow, TakesAMissingRowWhereGapsAreFilled) {
  const Model model = window_model({"ridge", "ridge", json::object(), {}, true});
  const serve::Model rows = served(model);
  const auto windows = std::get<WindowTable>(model.examples(hours(2, false)));
  std::vector<double> numbers = numbers_of(windows, 0, rows, false);
  const size_t width = rows.columns().size();
  std::vector<double> filled = numbers;
  for (size_t j = 1; j < width; ++j) {
    numbers[2 * width + j] = kMissing;
    filled[2 * width + j] = filled[width + j];
  }
  const double mean = rows.predict(numbers).mean;
  EXPECT_NE(mean, rows.predict(filled).mean);  // the indicators of missing cells
  EXPECT_NEAR(mean, rows.predict(filled).mean, 1);
}

/// Texts whose words tell the class and the stars.
Table opinions(int64_t n, uint64_t seed) {
  const std::vector<std::string> other = {"the", "film", "was", "a", "story", "Über", "people"};
  std::vector<double> index, label, stars;
  std::vector<std::string> texts;
  for (int64_t i = 0; i < n; ++i) {
    const Stream own = Stream(seed).split(static_cast<uint64_t>(i));
    std::string text = i % 2 ? "Good" : "bad";
    for (uint64_t w = 0; w < static_cast<uint64_t>(9 * own.uniform(uint64_t{0})); ++w)
      text += " " + other[static_cast<size_t>(7 * own.uniform(w + 2))];
    index.push_back(static_cast<double>(i));
    texts.push_back(i % 10 == 9 ? std::string(static_cast<size_t>(i / 10 + 2), '?')
                                : text + " " + std::to_string(i));
    label.push_back(static_cast<double>(i % 2));
    stars.push_back(static_cast<double>(2 * (i % 2) - 1) + 0.4 * own.uniform(uint64_t{99}));
  }
  return table_of({categories("text", index, texts), categories("label", label, {"down", "up"}),
                   numbers("stars", stars)});
}

Model text_model(const std::string& method, const json& options, const std::string& target, bool calibrate) {
  FitOptions fit;
  fit.target = target;
  fit.text = "text";
  fit.longest = 6;  // shorter than some texts
  fit.method = method;
  fit.options = options;
  if (calibrate) {
    fit.calibrate = "conformal";
    fit.calibration_fraction = 0.3;
  }
  return fit_model(opinions(160, 1), fit);
}

class ServedTexts : public ::testing::TestWithParam<std::string> {};

TEST_P(ServedTexts, AnswerAsTheModel) {
  json options = {{"hidden", 8}, {"steps", 40}};
  if (GetParam() == "constant") options = json::object();
  if (GetParam() != "constant" && GetParam() != "bag-of-words") options["network"] = "bag_of_words";
  for (const char* target : {"label", "stars"}) {
    const bool classes = std::string(target) == "label";
    if (classes && GetParam() == "dbk-exact") continue;  // of numbers alone
    const Model model = text_model(GetParam(), options, target, classes);
    const serve::Model rows = served(model);
    EXPECT_EQ(rows.columns()[0].type, serve::ColumnType::text);
    EXPECT_EQ(rows.row_cells(), 1);
    EXPECT_EQ(rows.row_numbers(), 6);
    const Table fresh = opinions(40, 2);
    const Answers all = model.answers(fresh, {{0.8}, false});
    for (int64_t i = 0; i < fresh.rows; ++i) {
      const std::string text = cell_text(fresh.columns[0], fresh.columns[0].values[static_cast<size_t>(i)]);
      const std::string_view cell = text;
      std::vector<double> tokens(6);
      rows.numbers({&cell, 1}, tokens);
      if (!classes) {
        const serve::Answer a = rows.predict(std::span(&cell, 1), 0.8);
        EXPECT_EQ(a.mean, rows.predict(tokens, 0.8).mean);
        expect_close(a.mean, std::get<Regression>(all.answer).mean, i, 1e-5);
        expect_close(a.upper, all.levels[0].interval->upper, i, 1e-5);
        continue;
      }
      std::vector<double> p(2);
      rows.classify(std::span(&cell, 1), p);
      expect_close(p[1], std::get<Classes>(all.answer).probabilities.select(1, 1), i, 1e-5);
      std::vector<unsigned char> set(2);
      rows.prediction_set(tokens, 0.8, set);
      for (int64_t c = 0; c < 2; ++c)
        EXPECT_EQ(set[static_cast<size_t>(c)] != 0, (*all.levels[0].set)[i][c].item<bool>()) << text;
    }
    EXPECT_TRUE(std::isnan(rows.scores(std::vector<double>{1, 0, 0, 0, 0, 0}).beyond));
    for (const std::vector<double>& bad : {std::vector<double>{0, 0, 0, 0, 0, 0},
                                           {1, 0, 1, 0, 0, 0},
                                           {1.5, 0, 0, 0, 0, 0},
                                           {1e9, 0, 0, 0, 0, 0},
                                           {1}}) {
      std::vector<double> p(2);
      EXPECT_THROW(classes ? (void)rows.classify(bad, p) : (void)rows.predict(bad), std::invalid_argument);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, ServedTexts,
                         ::testing::Values("bag-of-words", "dnn", "bll", "dbk-exact", "last-layer-laplace",
                                           "constant"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

/// Opens a model file whose part for serving has other values, and returns what is said of it.
std::string said_of(const Model& model, const std::function<void(json& serve, json& encoder)>& change) {
  TensorFile file = model.to_file();
  json serve = json::parse(file.metadata.at("serve")), encoder = json::parse(file.metadata.at("encoder"));
  change(serve, encoder);
  file.metadata["serve"] = serve.dump();
  file.metadata["encoder"] = encoder.dump();
  try {
    serve::Model::open(to_bytes(file), "changed");
  } catch (const DataError& error) {
    return error.what();
  }
  return "opened";
}

TEST(ServedText, OfAnotherVocabularyThanTheNetworksIsRefused) {
  const Model model = text_model("bag-of-words", {{"hidden", 8}, {"steps", 5}}, "label", false);
  const std::string said = said_of(model, [](json&, json& encoder) { encoder["words"].push_back("more"); });
  EXPECT_NE(said.find("a network of the encoder's inputs"), std::string::npos) << said;
}

TEST(ServedWindow, OfAnotherShapeThanTheNetworksIsRefused) {
  const Model model = window_model({"dnn", "dnn", {{"network", "lstm"}, {"hidden", 8}, {"steps", 5}}, {}});
  const std::string said = said_of(model, [](json&, json& encoder) { encoder["window"] = 4; });
  EXPECT_NE(said.find("the encoder's inputs"), std::string::npos) << said;
}

// The sizes of an expansion's values follow from the outputs of the network: with other features it would
// read behind them.
TEST(ServedFeatures, OfAnExpansionAreThoseOfTheOutputs) {
  FitOptions fit =
      request_of({"dbk", "dbk", {{"steps", 5}, {"hidden", 8}, {"rank", 6}, {"basis", "fourier"}}});
  const Model fourier = fit_model(served_table(120, 1), fit);
  fit.options["basis"] = "rbf";
  const Model points = fit_model(served_table(120, 1), fit);
  for (const Model* model : {&fourier, &points})
    for (const char* of : {"last_layer", "sketch"})
      EXPECT_NE(said_of(*model, [&](json& serve, json&) { serve["rows"]["rows"]["features"]["of"] = of; }),
                "opened");
}

TEST(ServedText, OfATransformerIsRefusedByName) {
  const Model model =
      text_model("dnn", {{"hidden", 8}, {"steps", 5}, {"network", "transformer"}}, "label", false);
  try {
    served(model);
    ADD_FAILURE() << "opened";
  } catch (const DataError& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("a model of dnn around a transformer"), std::string::npos) << said;
  }
}

TEST(ServedText, OfOtherBytesThanUtf8IsRefused) {
  const Model model = text_model("bag-of-words", {{"hidden", 8}, {"steps", 5}}, "stars", false);
  const serve::Model rows = served(model);
  const std::string_view cell = "good \xff film";
  EXPECT_THROW(rows.predict(std::span(&cell, 1)), DataError);
}

}  // namespace
}  // namespace slimbayes
