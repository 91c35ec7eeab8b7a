#include "slimbayes/report/report_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "slimbayes/report/facts.h"
#include "tests/report/toy.h"

namespace slimbayes {
namespace {

using nlohmann::json;

const char* const kHead =
    "# The JSON of a report\n\n"
    "`slimbayes report MODEL DATA --json` prints these fields. `[]` stands for an entry of a list, `*` for a "
    "name "
    "that depends on the\ndata. [How to read a report](report.md) explains the parts. The page is written "
    "from the "
    "descriptions in `slimbayes/report`:\n"
    "`SLIMBAYES_WRITE_PAGES=1 build/checks/test_report --gtest_filter='ReportFacts.*'`.\n\n";

TEST(ReportFacts, HaveThePageOfTheirFields) {
  const std::string path = std::string(SLIMBAYES_SOURCE_DIR) + "/docs/report-fields.md";
  const std::string page = kHead + fields_table(field_docs<ReportFacts>());
  if (std::getenv("SLIMBAYES_WRITE_PAGES") != nullptr) std::ofstream(path, std::ios::binary) << page;
  std::ifstream file(path, std::ios::binary);
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(written, page)
      << "the keys of report --json are a promise to its readers; a new one needs the page";
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
