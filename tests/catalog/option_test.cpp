#include "slimbayes/catalog/option.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "slimbayes/catalog/nearest.h"

namespace slimbayes {
namespace {

using nlohmann::json;

struct ToyOptions {
  int64_t rank = 8;
  double rate = 0.5;
  std::string basis = "silu";
  bool tune = false;
};

template <class V>
void describe(ToyOptions& o, V& v) {
  v("rank", o.rank, "size", Range{1, 16}, "here");
  v("rate", o.rate, "speed", Range{0, 1}, "here");
  v("basis", o.basis, "shape", Choices{{"silu", "rbf"}}, "here");
  v("tune", o.tune, "search", "here");
}

struct FactOptions {
  int64_t rank = 8;
  double alpha = 1;
  std::string target = "";
  std::vector<std::string> ignore = {};
};

template <class V>
void describe(FactOptions& o, V& v) {
  v("rank", o.rank, "size", Range{1, 16}, "here", OptionFacts{.at_most_rows = true});
  v("alpha", o.alpha, "weight", Range{0, 1}, "here",
    OptionFacts{.grid = Grid{{0, 1}}, .gaussian_only = true});
  v.section("Columns");
  v("target", o.target, "column", ValueName{"COLUMN"}, "here");
  v("ignore", o.ignore, "columns", "here");
}

std::string complaint(const json& given) {
  try {
    options_from_json<ToyOptions>(given, "toy");
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

/// Returns `depth` nested arrays. Parsers refuse such a depth, but a program can pass any value: the error
/// message must not recurse through it.
json deep_list(int depth) {
  json list = json::array();
  for (int i = 0; i < depth; ++i) {
    json outer = json::array();
    outer.push_back(std::move(list));
    list = std::move(outer);
  }
  return list;
}

TEST(Option, ADeepValueIsNamedNotPrinted) {
  json given = json::object();
  given["rank"] = deep_list(200000);
  EXPECT_EQ(complaint(given),
            "[toy] expected `.rank` to be an integer; received an array of 1 entries; the default is 8");
  EXPECT_NE(complaint(deep_list(200000)).find("received an array of 1 entries"), std::string::npos);
}

TEST(Option, EveryOptionIsDescribedOnce) {
  const auto docs = option_docs<ToyOptions>();
  ASSERT_EQ(docs.size(), 4u);
  EXPECT_EQ(docs[0].type, "integer");
  EXPECT_EQ(docs[1].type, "number");
  EXPECT_EQ(docs[2].type, "text");
  EXPECT_EQ(docs[3].type, "boolean");
  EXPECT_EQ(docs[2].choices, (std::vector<std::string>{"silu", "rbf"}));
  EXPECT_EQ(docs[0].fallback, 8);
  EXPECT_EQ(docs[0].range->high, 16);
}

TEST(Option, GivenValuesOverwriteDefaultsAndRoundTrip) {
  const auto o = options_from_json<ToyOptions>({{"rank", 3}, {"basis", "rbf"}, {"tune", true}}, "toy");
  EXPECT_EQ(o.rank, 3);
  EXPECT_EQ(o.rate, 0.5);
  const json all = options_to_json(o);
  EXPECT_EQ(all, (json{{"rank", 3}, {"rate", 0.5}, {"basis", "rbf"}, {"tune", true}}));
  EXPECT_EQ(options_to_json(options_from_json<ToyOptions>(all, "toy")), all);
}

TEST(Option, WholeNumbersInAnyNotation) {
  EXPECT_EQ(options_from_json<ToyOptions>({{"rank", 1e1}}, "toy").rank, 10);
  EXPECT_EQ(options_from_json<ToyOptions>({{"rate", 1}}, "toy").rate, 1.0);
  EXPECT_NE(complaint({{"rank", 2.5}}), "");
}

TEST(Option, BoundsAreInclusiveAndNamed) {
  EXPECT_EQ(complaint({{"rank", 1}}), "");
  EXPECT_EQ(complaint({{"rank", 16}}), "");
  EXPECT_EQ(complaint({{"rank", 17}}),
            "[toy] expected `.rank` to be an integer from 1 to 16; received 17; the default is 8");
  EXPECT_EQ(complaint({{"basis", "cubes"}}),
            "[toy] expected `.basis` to be one of silu, rbf; received \"cubes\"; known: silu, rbf");
  EXPECT_NE(complaint({{"rank", std::numeric_limits<uint64_t>::max()}}), "");
  EXPECT_NE(complaint({{"rate", -1e-9}}), "");
  EXPECT_NE(complaint({{"rate", std::numeric_limits<double>::quiet_NaN()}}), "");
  EXPECT_NE(complaint({{"rate", std::numeric_limits<double>::infinity()}}), "");
}

TEST(Option, TypesAreNotConverted) {
  EXPECT_NE(complaint({{"rank", "3"}}), "");
  EXPECT_NE(complaint({{"rank", true}}), "");
  EXPECT_NE(complaint({{"tune", 1}}), "");
  EXPECT_NE(complaint({{"basis", 1}}), "");
  EXPECT_NE(complaint({{"rank", nullptr}}), "");
  EXPECT_NE(complaint(json::array({1})), "");
}

TEST(Option, UnknownNamesGetTheNearest) {
  EXPECT_EQ(complaint({{"rnak", 3}}),
            "[toy] expected an option of this method; received 'rnak'; did you mean 'rank'?");
  EXPECT_NE(complaint({{"basis", "rfb"}}).find("did you mean 'rbf'?"), std::string::npos);
  EXPECT_NE(complaint({{"zzzzzzzz", 3}}).find("known: rank, rate, basis, tune"), std::string::npos);
}

TEST(Option, FactsOfANumberReachItsDoc) {
  const auto docs = option_docs<FactOptions>();
  ASSERT_EQ(docs.size(), 4u);
  EXPECT_TRUE(docs[0].at_most_rows && !docs[0].gaussian_only && docs[0].grid.empty());
  EXPECT_TRUE(docs[1].gaussian_only && !docs[1].at_most_rows);
  EXPECT_EQ(docs[1].grid, (std::vector<double>{0, 1}));
  EXPECT_EQ(docs[2].value_name, "COLUMN");
  EXPECT_EQ(docs[3].section, "Columns");
  EXPECT_EQ(docs[3].type, "list");
}

TEST(Option, NumbersAreShownWithoutRounding) {
  EXPECT_EQ(number_text(16777216), "16777216");
  EXPECT_EQ(number_text(1e9), "1000000000");
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(-3), "-3");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(1e-12), "1e-12");
  EXPECT_EQ(number_text(18446744073709549568.0), "1.84467e+19");
}

TEST(Nearest, SwapsPrefixesAndStrangers) {
  EXPECT_EQ(nearest_hint("dbk", {"dnn", "dbk"}), "did you mean 'dbk'?");
  EXPECT_EQ(nearest_hint("learning", {"patience", "learning_rate"}), "did you mean 'learning_rate'?");
  EXPECT_EQ(nearest_hint("wxyzwxyz", {"a", "b"}), "known: a, b");
  EXPECT_EQ(nearest_hint("x", {}), "there are none");
  EXPECT_EQ(nearest_hint("x0", {"a", "b"}), "known: a, b");  // nothing of it is alike
}

TEST(split_list, cuts_at_commas_and_drops_blanks) {
  EXPECT_EQ(split_list("a, b c ,d"), (std::vector<std::string>{"a", "b c", "d"}));
  EXPECT_EQ(split_list("a,"), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(split_list(" "), (std::vector<std::string>{""}));
}

TEST(NearestHint, IsOneLineWhateverTheNames) {
  EXPECT_EQ(nearest_hint("abc", {"line\nbreak", "q"}), "known: line break, q");
  EXPECT_EQ(nearest_hint("linebreak", {"line\nbreak"}), "did you mean 'line break'?");
}

}  // namespace
}  // namespace slimbayes
