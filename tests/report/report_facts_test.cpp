#include "slimbayes/report/report_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "slimbayes/answers/uncertainty_facts.h"
#include "slimbayes/model/tuning_report.h"
#include "slimbayes/report/facts.h"
#include "tests/report/toy.h"

namespace slimbayes {
namespace {

using nlohmann::json;

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
         section("report --json", "[How to read a report](report.md) explains the parts.",
                 field_docs<ReportFacts>()) +
         section("evaluate --json: the uncertainty",
                 "These fields stand beside the metrics, which [metrics](metrics.md) explains.",
                 field_docs<UncertaintyReport>()) +
         section("evaluate --ood --json: `ood`", "How well scores tell foreign rows from the data.",
                 field_docs<SeparationReport>()) +
         section("fit --tune --json: `tuning`",
                 "What the search tried; the values of an entry's options stand beside its score.",
                 field_docs<TuningReport>());
}

TEST(ReportFacts, HaveThePageOfTheirFields) {
  const std::string path = std::string(SLIMBAYES_SOURCE_DIR) + "/docs/report-fields.md",
                    page = page_of_fields();
  if (std::getenv("SLIMBAYES_WRITE_PAGES") != nullptr) std::ofstream(path, std::ios::binary) << page;
  std::ifstream file(path, std::ios::binary);
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(written, page) << "the keys of JSON are a promise to its readers; a new one needs the page";
}

/// Lists the paths of the keys in a JSON value as field_docs() writes them, without those below `but`.
void list_paths(const json& value, const std::string& at, const std::vector<std::string>& but,
                const std::vector<std::string>& maps, std::vector<std::string>& out) {
  if (std::ranges::find(but, at) != but.end()) return;
  if (value.is_array())
    for (const json& one : value) list_paths(one, at + "[]", but, maps, out);
  if (!value.is_object()) return;
  const bool map = std::ranges::find(maps, at) != maps.end();
  for (const auto& item : value.items()) {
    const std::string path = at + (at.empty() ? "" : ".") + (map ? "*" : item.key());
    if (!map) out.push_back(path);
    list_paths(item.value(), path, but, maps, out);
  }
}

TEST(ReportFacts, DescribeEveryKeyOfAReport) {
  const Table table = toy_table(300);
  const json facts = fields_to_json(report_facts(toy_model(table, 0.3), table));
  std::vector<std::string> found, known;
  list_paths(facts, "", {"report", "card.options[].value", "card.options[].fallback"}, {"foreign.scores"},
             found);
  for (const FieldDoc& doc : field_docs<ReportFacts>()) {
    EXPECT_FALSE(doc.doc.empty()) << doc.path;
    known.push_back(doc.path);
  }
  EXPECT_GT(found.size(), 100u);
  for (const std::string& path : found)
    EXPECT_NE(std::ranges::find(known, path), known.end()) << path << " has no description";
}

}  // namespace
}  // namespace slimbayes
