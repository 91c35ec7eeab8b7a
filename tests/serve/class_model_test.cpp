#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "slimbayes/storage/error.h"
#include "tests/serve/serve_case.h"

namespace slimbayes {
namespace {

using nlohmann::json;

json of(const char* target, json more = json::object()) {
  return merged_json(std::move(more), {{"target", target}});
}

/// Probabilities and entropies of networks in float32, computed by the engine and by libtorch.
void expect_close(double a, double b, const char* what, int64_t i) {
  EXPECT_NEAR(a, b, 1e-6 * std::abs(b) + 1e-9) << what << " of row " << i;
}

class ServedClasses : public ::testing::TestWithParam<Case> {};

TEST_P(ServedClasses, AnswersAsTheModel) {
  const Model model = fit_model(served_table(260, 1), request_of(GetParam()));
  const serve::Model rows = served(model);
  const Table fresh = served_table(60, 2);
  const auto p = std::get<Classes>(model.answer(fresh));
  const at::Tensor information = mutual_information(p), label = predicted_class(p);
  ASSERT_EQ(std::ssize(rows.classes()), p.probabilities.size(1));
  EXPECT_EQ(rows.classes(), model.schema().task.levels);
  std::vector<double> out(rows.classes().size()), again = out;
  for (int64_t i = 0; i < fresh.rows; ++i) {
    const serve::ClassAnswer a = rows.classify(row_of(fresh, rows, i), out);
    for (size_t c = 0; c < out.size(); ++c)
      expect_close(out[c], p.probabilities[i][static_cast<int64_t>(c)].item<double>(), "probability", i);
    expect_close(a.entropy, p.predictive_entropy[i].item<double>(), "entropy", i);
    EXPECT_NEAR(a.mutual_information, information[i].item<double>(), 2e-7) << i;
    EXPECT_EQ(static_cast<int64_t>(a.label), label[i].item<int64_t>()) << i;
    const std::vector<std::string> texts = texts_of(fresh, rows, i);
    const std::vector<std::string_view> cells(texts.begin(), texts.end());
    rows.classify(std::span<const std::string_view>(cells), again);
    EXPECT_EQ(again, out) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Methods, ServedClasses,
    ::testing::Values(
        Case{"vbll", "vbll", small({{"rank", 9}}), "none", of("grade")},
        Case{"vbll_two", "vbll", small({{"rank", 9}}), "none", of("pass")},
        Case{"sv_dkl", "sv-dkl", small({{"rank", 9}}), "none", of("grade")},
        Case{"sv_rbf_two", "sv-rbf", {{"steps", 40}, {"rank", 12}}, "none", of("pass")},
        Case{"sv_dbk", "sv-dbk", small({{"rank", 12}}), "none", of("grade")},
        Case{"dnn", "dnn", kSmall, "none", of("grade")}, Case{"dnn_two", "dnn", kSmall, "none", of("pass")},
        Case{"bll", "bll", kSmall, "none", of("grade")}, Case{"bll_two", "bll", kSmall, "none", of("pass")},
        Case{"rich_bll", "rich-bll", kSmall, "none", of("grade")},
        Case{"laplace", "last-layer-laplace", kSmall, "none", of("grade")},
        Case{"sketch", "ntk-sketch", small({{"sketch", 30}}), "none", of("grade")},
        Case{"laplace_kronecker", "last-layer-laplace", small({{"structure", "kronecker"}}), "none",
             of("grade")},
        Case{"laplace_two", "last-layer-laplace", kSmall, "none", of("pass")},
        Case{"logistic", "logistic", json::object(), "none", of("grade")},
        Case{"logistic_two", "logistic", json::object(), "none", of("pass")},
        Case{"trees", "extra-trees", {{"trees", 12}}, "none", of("grade")},
        Case{"constant", "constant", json::object(), "none", of("grade")},
        Case{"ensemble", "ensemble", small({{"members", 2}}), "none", of("grade")},
        Case{"auto",
             "auto",
             {{"candidates", "constant,logistic,extra-trees"}, {"trees", 12}},
             "none",
             of("grade")},
        Case{"auto_networks", "auto", {{"candidates", "logistic,dnn"}, {"steps", 30}}, "none", of("pass")}),
    [](const auto& info) { return info.param.name; });

TEST(ServedSets, AreThoseOfTheModel) {
  for (const char* target : {"grade", "pass"}) {
    const Model model = fit_model(served_table(260, 1),
                                  request_of({"", "logistic", json::object(), "conformal", of(target)}));
    const serve::Model rows = served(model);
    const Table fresh = served_table(60, 2);
    const Answers all = model.answers(fresh, {{0.8}, false});
    std::vector<unsigned char> set(rows.classes().size());
    for (int64_t i = 0; i < fresh.rows; ++i) {
      rows.prediction_set(row_of(fresh, rows, i), 0.8, set);
      for (size_t c = 0; c < set.size(); ++c)
        EXPECT_EQ(set[c] != 0, (*all.levels[0].set)[i][static_cast<int64_t>(c)].item<bool>())
            << i << " " << c;
    }
    EXPECT_THROW(rows.prediction_set(row_of(fresh, rows, 0), 0.9999, set), std::invalid_argument);
  }
}

class ServedCounts : public ::testing::TestWithParam<Case> {};

TEST_P(ServedCounts, AnswersAsTheModel) {
  const Model model = fit_model(served_table(260, 1), request_of(GetParam()));
  const serve::Model rows = served(model);
  const Table fresh = served_table(60, 2);
  const Predictive answer = model.answer(fresh);
  const auto& p = std::get<Counts>(answer);
  const at::Tensor centre = mean(p.rate), spread = var(p.rate);
  const Interval ends = *model.interval(answer, 0.8);
  for (int64_t i = 0; i < fresh.rows; ++i) {
    const std::vector<double> row = row_of(fresh, rows, i);
    const serve::Answer a = rows.predict(row, 0.8);
    expect_close(a.mean, centre[i].item<double>(), "mean", i);
    expect_close(a.sd_aleatoric * a.sd_aleatoric, a.mean, "Poisson variance", i);
    EXPECT_NEAR(a.sd_epistemic * a.sd_epistemic, spread[i].item<double>(),
                1e-5 * spread[i].item<double>() + 1e-9);
    EXPECT_EQ(a.lower, ends.lower[i].item<double>()) << i;
    EXPECT_EQ(a.upper, ends.upper[i].item<double>()) << i;
    EXPECT_EQ(rows.quantile(row, 0.9), a.upper) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, ServedCounts,
                         ::testing::Values(Case{"vbll", "vbll", small({{"rank", 9}}), "none",
                                                of("events", {{"likelihood", "poisson"}})},
                                           Case{"sv_rbf",
                                                "sv-rbf",
                                                {{"steps", 40}, {"rank", 12}},
                                                "none",
                                                of("events", {{"likelihood", "poisson"}})},
                                           Case{"constant", "constant", json::object(), "none",
                                                of("events", {{"likelihood", "poisson"}})},
                                           Case{"auto",
                                                "auto",
                                                {{"candidates", "constant,vbll"}, {"steps", 30}, {"rank", 9}},
                                                "none",
                                                of("events", {{"likelihood", "poisson"}})}),
                         [](const auto& info) { return info.param.name; });

TEST(ServedClassModel, SaysWhatItIs) {
  const serve::Model rows = served(
      fit_model(served_table(200, 1), request_of({"", "constant", json::object(), "none", of("grade")})));
  const json known = json::parse(rows.describe());
  EXPECT_EQ(known["task"], "classification");
  EXPECT_EQ(known["classes"], (json{"high", "low", "middle"}));
  EXPECT_FALSE(known.contains("sd_parts"));
}

TEST(ServedClassModel, RefusesWhatItHasNot) {
  const serve::Model classes = served(
      fit_model(served_table(200, 1), request_of({"", "constant", json::object(), "none", of("grade")})));
  const serve::Model numbers =
      served(fit_model(served_table(200, 1), request_of({"", "constant", json::object()})));
  const std::vector<double> row = row_of(served_table(3, 2), classes, 0);
  std::vector<double> p(3);
  std::vector<unsigned char> set(3);
  EXPECT_THROW(classes.predict(row), std::invalid_argument);
  EXPECT_THROW(classes.quantile(row, 0.5), std::invalid_argument);
  EXPECT_THROW(classes.prediction_set(row, 0.8, set), std::invalid_argument);  // not calibrated
  EXPECT_THROW(classes.classify(row, std::span(p).first(2)), std::invalid_argument);
  EXPECT_THROW(numbers.classify(row, p), std::invalid_argument);
  EXPECT_NO_THROW(classes.classify(row, p));
}

TEST(ServedClassModel, RefusesADamagedFile) {
  const TensorFile file =
      fit_model(
          served_table(200, 1),
          request_of(
              {"", "auto", {{"candidates", "logistic,extra-trees"}, {"trees", 9}}, "none", of("grade")}))
          .to_file();
  EXPECT_NO_THROW(serve::Model::open(to_bytes(file), "whole"));
  const json stored = json::parse(file.metadata.at("serve"));
  const auto changed = [&](const json& patch) {
    TensorFile other = file;
    other.metadata["serve"] = stored.patch(patch).dump();
    EXPECT_THROW(serve::Model::open(to_bytes(other), "damaged"), DataError) << patch.dump();
  };
  const auto replaced = [&](const std::string& path, const json& value) {
    changed({{{"op", "replace"}, {"path", path}, {"value", value}}});
  };
  const json& candidates = stored["rows"]["rows"]["candidates"];
  ASSERT_GE(candidates.size(), 1);
  replaced("/rows/kind", "forest");
  replaced("/rows/rows/power", 0);
  replaced("/rows/rows/candidates/0/weight", -1);
  replaced("/rows/rows/candidates/0/members", json::array());
  for (size_t i = 0; i < candidates.size(); ++i) {
    const std::string member = "/rows/rows/candidates/" + std::to_string(i) + "/members/0";
    const json& own = candidates[i]["members"][0];
    if (own["kind"] == "forest") {
      replaced(member + "/rows/classes", 2);
      replaced(member + "/rows/parent_rows", 0);
      replaced(member + "/rows/rights", own["rows"]["columns"]);
    }
    if (own["kind"] == "correlated") {
      replaced(member + "/rows/outputs", 3);
      replaced(member + "/rows/scale", "inf");
      replaced(member + "/rows/half", own["rows"]["weights"]);
    }
  }
}

}  // namespace
}  // namespace slimbayes
