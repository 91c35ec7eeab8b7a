#include "slimbayes/report/report_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "slimbayes/explain/explain_report.h"
#include "slimbayes/fit/comparison_report.h"
#include "slimbayes/fit/fit_report.h"
#include "slimbayes/model/evaluation_report.h"
#include "slimbayes/model/joint/joint_scores_report.h"
#include "slimbayes/report/facts.h"
#include "slimbayes/serve/prediction_report.h"
#include "tests/report/toy.h"

namespace slimbayes {
namespace {

using nlohmann::json;

/// Returns the descriptions without those of the fields of the object `at`.
std::vector<FieldDoc> without(std::vector<FieldDoc> docs, const std::string& at) {
  std::erase_if(docs, [&](const FieldDoc& doc) { return doc.path.starts_with(at + "."); });
  return docs;
}

/// Returns the descriptions without those of the metrics of an evaluation in the object `at`.
std::vector<FieldDoc> without_metrics(std::vector<FieldDoc> docs, const std::string& at) {
  for (const FieldDoc& metric : field_docs<Evaluation>())
    std::erase_if(docs, [&](const FieldDoc& doc) { return doc.path == at + "." + metric.path; });
  return docs;
}

/// Returns the sections of docs/report-fields.md on several targets.
std::string sections_of_targets() {
  std::vector<FieldDoc> fit = field_docs<JointFitReport>();
  for (const char* known : {"targets[].rows", "targets[].summary", "targets[].conformal", "targets[].tuning",
                            "targets[].noise", "targets[].test", "targets[].valid", "test", "valid"})
    fit = without(std::move(fit), known);
  return "\n## evaluate --json of several targets\n\n"
         "Beside its fields an entry of `targets` has the metrics of `evaluate --json`.\n\n" +
         fields_table(without_metrics(field_docs<JointScoresReport>(), "targets[]")) +
         "\n## fit --json of several targets\n\n"
         "The objects of an entry of `targets` are those of `fit --json`; `test` and `valid` have the fields "
         "of `joint` above.\n\n" +
         fields_table(fit);
}

/// Returns docs/report-fields.md.
std::string page_of_fields() {
  const auto section = [](const std::string& title, const std::string& text,
                          const std::vector<FieldDoc>& docs) {
    return "\n## " + title + "\n\n" + text + "\n\n" + fields_table(docs);
  };
  return "# The fields of reports in JSON\n\n"
         "`[]` stands for an entry of a list, `*` for a name that depends on the data. The page is written "
         "from the\n"
         "descriptions beside the structs (`describe`, `catalog/fields.h`):\n"
         "`SLIMBAYES_WRITE_PAGES=1 build/checks/test_report --gtest_filter='ReportFacts.*'`.\n" +
         section("predict --json",
                 "The keys of a row are the columns of `predict`, in their order. An empty cell is null.",
                 field_docs<PredictionReport>()) +
         section(
             "evaluate --json",
             "[Metrics](metrics.md) explains them. Which there are depends on the target: a field that may "
             "be absent is\nabsent where the data do not define it.",
             field_docs<EvaluationReport>()) +
         section(
             "evaluate --folds --json",
             "Beside its fields a run has the metrics of `evaluate --json`; `pooled` and `sd` are of them.",
             without_metrics(field_docs<FoldsReport>(), "runs[]")) +
         section("fit --json", "The fields of `test` and `valid` are metrics of `evaluate --json`.",
                 without(without(field_docs<FitReport>(), "test"), "valid")) +
         section(
             "compare --json",
             "Beside its fields a run of `methods[].runs` has the metrics of `evaluate --json`; `mean` and "
             "`sd` are of them.",
             without_metrics(field_docs<ComparisonReport>(), "methods[].runs[]")) +
         section(
             "report --json",
             "[How to read a report](report.md) explains the parts. The fields of `report` are metrics of "
             "`evaluate --json`.",
             without(field_docs<ReportFacts>(), "report")) +
         section("explain --json", "[How to read an explanation](explain.md) explains the numbers.",
                 field_docs<ExplainReport>()) +
         sections_of_targets();
}

TEST(ReportFacts, HaveThePageOfTheirFields) {
  const std::string path = std::string(SLIMBAYES_SOURCE_DIR) + "/docs/report-fields.md",
                    page = page_of_fields();
  if (std::getenv("SLIMBAYES_WRITE_PAGES") != nullptr) std::ofstream(path, std::ios::binary) << page;
  std::ifstream file(path, std::ios::binary);
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(written, page) << "the keys of JSON are a promise to its readers; a new one needs the page";
}

/// The keys of a JSON value, and those of them that field_docs() does not list.
struct KeysOfJson {
  const std::vector<std::string> known;
  size_t count = 0;
  std::vector<std::string> unknown = {};

  bool any_below(const std::string& at) const {
    return std::ranges::any_of(known, [&](const std::string& path) { return path.starts_with(at); });
  }
  void add(const json& value, const std::string& at) {
    if (value.is_array())
      for (const json& one : value) add(one, at + "[]");
    if (!value.is_object() || (!at.empty() && !any_below(at + "."))) return;  // any keys
    const bool map = any_below(at + ".*");
    for (const auto& item : value.items()) {
      const std::string path = at + (at.empty() ? "" : ".") + (map ? "*" : item.key());
      ++count;
      if (!map && std::ranges::find(known, path) == known.end()) unknown.push_back(path);
      add(item.value(), path);
    }
  }
};

TEST(ReportFacts, DescribeEveryKeyOfAReport) {
  const Table table = toy_table(300);
  std::vector<std::string> known;
  for (const FieldDoc& doc : field_docs<ReportFacts>()) {
    EXPECT_FALSE(doc.doc.empty()) << doc.path;
    known.push_back(doc.path);
  }
  KeysOfJson keys{known};
  keys.add(fields_to_json(report_facts(toy_model(table, 0.3), table)), "");
  EXPECT_GT(keys.count, 150u);
  EXPECT_EQ(keys.unknown, std::vector<std::string>{});
}

}  // namespace
}  // namespace slimbayes
