#include "slimbayes/catalog/fields.h"

#include <gtest/gtest.h>

#include <set>

#include "slimbayes/catalog/option.h"

namespace slimbayes {
namespace {

using nlohmann::json;

struct Inner {
  int64_t rows = 3;
  std::optional<double> width = {};
};

template <class V>
void describe(Inner& f, V& v) {
  v("rows", f.rows, "number of rows");
  v("width", f.width, "mean width, in the target's units");
}

struct Beside {
  std::string says = "so";
};

template <class V>
void describe(Beside& f, V& v) {
  v("says", f.says, "a sentence");
}

struct Outer {
  bool held = true;
  std::variant<double, std::string> target = "blue";
  std::optional<Inner> one = {};
  std::vector<Inner> list = {};
  std::map<std::string, Inner> by = {};
  std::pair<double, double> band = {0.25, 1};
  json any = {{"x", 1}};
  Inner part = {};
  std::optional<Beside> beside = {};
  json more = {{"y", 2}};
  double beta = 2;
};

template <class V>
void describe(Outer& f, V& v) {
  v.section("Fields");
  v("held", f.held, "whether it holds");
  v("target", f.target, "a number or a class");
  v("one", f.one, "an object that may be absent");
  v("list", f.list, "objects");
  v("by", f.by, "objects by name");
  v("band", f.band, "low and high");
  v("any", f.any, "any value");
  v.part(f.part);
  v.part(f.beside);
  v.part(f.more);
  v("beta", f.beta, "an option", Range{0, 1e6}, "N-15");
}

TEST(fields_to_json, LeavesOutEmptyFieldsAndKeepsTypes) {
  EXPECT_EQ(fields_to_json(Outer{}).dump(),
            R"({"any":{"x":1},"band":[0.25,1.0],"beta":2.0,"by":{},"held":true,"list":[],)"
            R"("rows":3,"target":"blue","y":2})");
}

TEST(fields_to_json, NestsStructsListsAndMaps) {
  Outer outer;
  outer.target = 1.5;
  outer.one = Inner{4, 0.5};
  outer.list = {Inner{1}, Inner{2, 2.0}};
  outer.by["b"] = Inner{7};
  outer.beside = Beside{};
  const json found = fields_to_json(outer);
  EXPECT_EQ(found["target"], 1.5);
  EXPECT_EQ(found["one"], (json{{"rows", 4}, {"width", 0.5}}));
  EXPECT_EQ(found["list"].dump(), R"([{"rows":1},{"rows":2,"width":2.0}])");
  EXPECT_EQ(found["by"].dump(), R"({"b":{"rows":7}})");
  EXPECT_EQ(found["says"], "so");
}

TEST(field_numbers, AreThoseOfTheReportAndOfItsParts) {
  Outer outer;
  outer.part.width = 0.5;
  outer.by["b"] = Inner{7, 1.5};  // a nested object, whose numbers are not the report's
  EXPECT_EQ(field_numbers(outer), (std::map<std::string, double>{{"beta", 2}, {"width", 0.5}}));
}

/// A report whose parts have a key in common.
struct TwoParts {
  std::optional<Inner> first = {}, second = {};
};

template <class V>
void describe(TwoParts& f, V& v) {
  v.part(f.first);
  v.part(f.second);
}

TEST(field_docs, ListAKeyOfTwoPartsOnce) {
  std::vector<std::string> paths;
  for (const FieldDoc& doc : field_docs<TwoParts>()) paths.push_back(doc.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"rows", "width"}));
}

TEST(field_docs, ListEveryPathWithItsTypeAndSentence) {
  const std::vector<FieldDoc> docs = field_docs<Outer>();
  std::vector<std::string> lines;
  for (const FieldDoc& doc : docs) lines.push_back(doc.path + " " + doc.type + (doc.optional ? "?" : ""));
  EXPECT_EQ(lines, (std::vector<std::string>{"held boolean", "target any", "one object?", "one.rows integer",
                                             "one.width number?", "list list", "list[].rows integer",
                                             "list[].width number?", "by object", "by.*.rows integer",
                                             "by.*.width number?", "band list", "any any", "rows integer",
                                             "width number?", "says text?", "beta number"}));
  EXPECT_EQ(docs[3].doc, "number of rows");
  EXPECT_NE(fields_table(docs).find(
                "| `one.width` | number, may be absent | mean width, in the target's units |\n"),
            std::string::npos);
}

}  // namespace
}  // namespace slimbayes
