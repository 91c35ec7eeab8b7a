// Every option of a fit, of a method and of a call takes the extremes of its type or refuses them in a
// sentence.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/catalog/recipe.h"

namespace slimbayes {
namespace {

using nlohmann::json;

std::vector<json> extremes() {
  using Whole = std::numeric_limits<int64_t>;
  using Real = std::numeric_limits<double>;
  std::vector<json> all = {Whole::min(), Whole::max(), std::numeric_limits<uint64_t>::max(), -1, 0, 1, 4097};
  for (double x : {Real::quiet_NaN(), Real::infinity(), -Real::infinity(), Real::max(), Real::lowest(), 1e308,
                   -1e308, Real::denorm_min(), -0.0, 0.5, 1.0, 1e18, 1.8446744073709552e19})
    all.emplace_back(x);
  for (const std::string& text :
       {std::string(), std::string(1 << 12, 'x'), std::string(1 << 12, ','), std::string("\xff\xfe"),
        std::string(3, '\0'), std::string("99999999999999999999"), std::string("-1"), std::string("nan"),
        std::string("1e999")}) {
    all.emplace_back(text);
    all.push_back(json::array({text}));
  }
  all.insert(all.end(), {true, false, nullptr, json::array(), json::object(), json::array({1, nullptr})});
  return all;
}

/// Expects that `take` accepts the value or throws std::invalid_argument with a message of one sentence, and
/// that a number which it accepts lies within the bounds of the option or is the default.
void expect_bounded(const OptionDoc& doc, const json& value, const std::function<void(const json&)>& take) {
  SCOPED_TRACE(doc.name + " = " + detail::shown(value));
  try {
    take({{doc.name, value}});
    if (doc.range && !(value == doc.fallback)) {
      EXPECT_TRUE(contains(*doc.range, value.get<double>()));
    }
  } catch (const std::invalid_argument& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("expected"), std::string::npos) << said;
    EXPECT_NE(said.find("received"), std::string::npos) << said;
    EXPECT_EQ(said.find("json.exception"), std::string::npos) << said;
    EXPECT_LT(said.size(), 4000U) << said;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
  }
}

template <class O>
void expect_all_bounded(const char* owner) {
  for (const OptionDoc& doc : option_docs<O>())
    for (const json& value : extremes())
      expect_bounded(doc, value,
                     [&](const json& given) { check_options(options_from_json<O>(given, owner), owner); });
}

TEST(Extremes, AnOptionOfACallTakesOrRefusesThem) {
  expect_all_bounded<RunOptions>("fit");
  expect_all_bounded<ComparisonPlan>("compare");
  expect_all_bounded<CertificateOptions>("bounds");
  expect_all_bounded<RankOptions>("bounds");
  expect_all_bounded<GenerateOptions>("generate");
  expect_all_bounded<ExportOptions>("export");
}

TEST(Extremes, AnOptionOfAFitTakesOrRefusesThem) {
  for (const OptionDoc& doc : option_docs<FitOptions>())
    for (const json& value : extremes())
      expect_bounded(doc, value, [](const json& given) {
        const auto fit = options_from_json<FitOptions>(given, "fit");
        check_options(fit, "fit");
        const auto unused = input_kind(fit);
        check_sections(fit, unused);
        check_fractions(fit);
      });
}

TEST(Extremes, AnOptionOfAMethodTakesOrRefusesThem) {
  const std::vector<json> values = extremes();
  for (const MethodInfo& info : method_catalog()) {
    SCOPED_TRACE(info.name);
    for (const OptionDoc& doc : info.options)
      for (const json& value : values)
        expect_bounded(doc, value, [&](const json& given) {
          const json options = info.resolve(given);
          recipe({}, info, options, tunable_options(info, given));
          preset_options(info, "paper", given);
        });
  }
}

TEST(Extremes, AStructOfAProgramIsChecked) {
  EXPECT_NO_THROW(check_options(RunOptions{}, "fit"));
  EXPECT_NO_THROW(check_options(RunOptions{.threads = 4096}, "fit"));
  for (const int threads :
       {-2, 4097, 100000, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()})
    EXPECT_THROW(check_options(RunOptions{.threads = threads}, "fit"), std::invalid_argument) << threads;
  EXPECT_THROW(check_options(FitOptions{.window = -1}, "fit"), std::invalid_argument);
  EXPECT_THROW(check_options(FitOptions{.scale = "none"}, "fit"), std::invalid_argument);
  for (const double level : {0.0, 1.0, -1.0, std::nextafter(1.0, 0.0), std::nan("")})
    EXPECT_THROW(check_level(level, "interval"), std::invalid_argument) << level;
  EXPECT_NO_THROW(check_level(kMostLevel, "interval"));
  EXPECT_LT((1 + kMostLevel) / 2, 1);
}

}  // namespace
}  // namespace slimbayes
