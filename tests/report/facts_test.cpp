#include "slimbayes/report/facts.h"

#include <gtest/gtest.h>

#include "slimbayes/report/page.h"
#include "tests/report/toy.h"

namespace slimbayes {
namespace {

TEST(report_facts, ScoreTheTestPartOfTheDataOfTheFit) {
  const Table table = toy_table(300);
  const Model model = toy_model(table, 0.2);
  const ReportFacts facts = report_facts(model, table);
  EXPECT_EQ(facts.data.part, "test");
  EXPECT_EQ(facts.data.scored, 60);
  EXPECT_TRUE(facts.warnings.empty());
  EXPECT_EQ(fields_to_json(facts.report.evaluation),
            fields_to_json(model.evaluate(take_rows(table, model.split().test))));
  EXPECT_TRUE(facts.report.uncertainty);
  const ReportFacts all = report_facts(model, table, {.part = "all"});
  EXPECT_EQ(all.data.scored, 300);
  EXPECT_EQ(all.warnings.size(), 1u);
  const ReportFacts fresh = report_facts(model, toy_table(80, 3));
  EXPECT_EQ(fresh.data.part, "all");
  EXPECT_FALSE(fresh.data.fitted_on);
  EXPECT_TRUE(fresh.warnings.empty());
}

TEST(report_facts, ARowWithoutAnAnswerIsLeftOutAndTheOthersKeepTheirNumbers) {
  const Model model = toy_model(toy_table(300));
  Table fresh = toy_table(60, 3);
  fresh.columns[0].values[0] = 1e200;
  fresh.columns[3].values[20] = 40;  // data row 21
  const ReportFacts facts = report_facts(model, fresh);
  EXPECT_EQ(facts.data.left_out, 1u);
  EXPECT_EQ(facts.data.scored, 59);
  EXPECT_EQ(facts.surprising.rows[0].row, 21);
}

TEST(report_facts, OneRowIsEnough) {
  const Model model = toy_model(toy_table(300));
  const ReportFacts facts = report_facts(model, toy_table(1, 3));
  EXPECT_EQ(facts.data.scored, 1);
  EXPECT_FALSE(facts.importance);
  EXPECT_FALSE(report_page(facts).empty());
}

TEST(report_page, IsTheSameTwiceAndEscapesForeignTexts) {
  Table table = toy_table(200);
  table.columns[1].name = "<b>&\"noise\x01\xff";
  table.columns[2].levels = {"<script>alert(1)</script>", "b"};
  const Model model = toy_model(table);
  const ReportFacts facts = report_facts(model, table, {.version = "1.2.3"});
  const std::string page = report_page(facts);
  EXPECT_EQ(page, report_page(report_facts(model, table, {.version = "1.2.3"})));
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  EXPECT_NE(page.find("&lt;b&gt;&amp;&quot;noise"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_NE(page.find("slimbayes 1.2.3"), std::string::npos);
}

}  // namespace
}  // namespace slimbayes
