#include "slimbayes/report/page_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "slimbayes/report/chart.h"
#include "slimbayes/report/html.h"
#include "slimbayes/report/wording.h"

namespace slimbayes {
namespace {

constexpr size_t kMostClassesShown = 30, kMostColumnsShown = 25;

HtmlCell number_cell(const std::string& text) { return {xml_escaped(text), true}; }
HtmlCell number_cell(double value) { return number_cell(number_text_of(value)); }
HtmlCell text_cell(const std::string& text) { return {xml_escaped(text)}; }
HtmlCell name_cell(const std::string& text) { return {text_element("div", "name", text)}; }

/// The name of a level or a quarter.
HtmlCell cell_of(const LevelFact& level) { return name_cell(level.level); }

HtmlCell cell_of(const QuarterFact& quarter) {
  return text_cell(fmt::format("{} to {}", number_text_of(quarter.low), number_text_of(quarter.high)));
}

/// Returns the table of parts of the rows: quarters or levels.
template <class Part>
std::string parts_table(const std::vector<Part>& parts, const std::string& head, const std::string& share,
                        const std::string& noun) {
  constexpr bool kRanges = std::is_same_v<Part, QuarterFact>;
  double low = 1;
  for (const Part& one : parts) low = std::min({low, one.part.share, one.part.band.first});
  low = std::max(0.0, std::floor(low * 20 - 0.5) / 20);
  const bool widths = parts.front().part.width.has_value();
  std::vector<HtmlCell> heads = {text_cell(head), {noun + "s", true}, {share, true}, text_cell("")};
  heads[3].inner = fmt::format("{:.0f} to 100 %", 100 * low);
  if (widths) heads.push_back({"width", true});
  std::vector<std::vector<HtmlCell>> rows;
  for (const Part& one : parts) {
    const PartOfRows& part = one.part;
    rows.push_back({cell_of(one),
                    number_cell(fmt::format("{}", part.rows)),
                    number_cell(percent_text(part.share)),
                    {strip_svg(part.share, part.expected, part.band.first, part.band.second, low)}});
    if (widths) rows.back().push_back(number_cell(*part.width));
  }
  return table_html(heads, rows, kRanges ? "plain" : "");
}

/// Returns the table of the coverage by the width of the interval.
std::string sizes_table(const SizeCoverage& sizes, const std::string& noun) {
  std::vector<std::vector<HtmlCell>> rows;
  for (const SizeBin& bin : sizes.bins)
    rows.push_back({number_cell(bin.width), number_cell(fmt::format("{}", bin.rows)),
                    number_cell(percent_text(bin.coverage)), number_cell(fmt::format("{:+.1f}", bin.gap))});
  return table_html({{"mean width", true}, {noun + "s", true}, {"coverage", true}, {"gap in sds", true}},
                    rows, "plain");
}

/// Returns the figure of the coverage by the width of the interval, with the sentence on the coverage given
/// the inputs; "" without such a table.
std::string sizes_html(const NumberFacts& numbers, const std::string& noun) {
  if (!numbers.coverage.sizes) return "";
  std::string says = numbers.coverage.sizes->says;
  if (const auto& risk = numbers.conditional; risk && risk->ert_l1)
    says += fmt::format(" {} (ERT {:.3f}, standard error {:.3f})", risk->says, *risk->ert_l1,
                        risk->ert_l1_se.value());
  return figure_html("Coverage by width of the interval", says, sizes_table(*numbers.coverage.sizes, noun),
                     "The gap is the coverage minus the level, in sds of a share of so many rows; one beyond "
                     "2.6 is rare by chance. A width that tells where the model errs holds the level in each "
                     "bin.");
}

const char* const kHowParts =
    "The mark is what is expected, the grey band what chance alone gives for so many rows in 19 of 20 cases. "
    "A "
    "point outside is orange.";

/// Returns the cell of a part of the importance, times `unit`; "-" where it is not defined.
HtmlCell part_cell(const std::optional<double>& part, double unit) {
  return number_cell(part ? fmt::format("{:.3g}", unit * *part) : "-");
}

/// Returns the cells of a surprising row that its task has.
std::vector<HtmlCell> surprising_cells(const SurprisingRow& row) {
  const HtmlCell tail = number_cell(fmt::format("{:.2g}", row.tail));
  if (row.of_class)
    return {text_cell(std::get<std::string>(row.target)), text_cell(row.of_class->answer),
            number_cell(fmt::format("{:.3f}", row.of_class->probability)), tail};
  const SurprisingNumber& number = *row.number;
  return {number_cell(std::get<double>(row.target)),
          number_cell(number.mean),
          number_cell(number.sd),
          number_cell(fmt::format("{} to {}", number_text_of(number.lower), number_text_of(number.upper))),
          number_cell(fmt::format("{:+.1f}", number.z)),
          tail};
}

}  // namespace

std::string parts_html(const ReportFacts& facts) {
  std::string out;
  const bool classes = !facts.numbers;
  if (!classes) {
    const QuarterFacts& quarters = facts.numbers->coverage.quarters;
    const std::string tables = element("div", "grid pair",
                                       parts_table(quarters.mean, "predicted mean", "coverage", facts.noun) +
                                           parts_table(quarters.sd, "predicted sd", "coverage", facts.noun));
    out += figure_html("Coverage by quarter of the prediction", quarters.says, tables,
                       std::string(kHowParts) +
                           " Honest intervals hold their level where the prediction is small and where it is "
                           "large, where the model is sure and where it is not.");
    out += sizes_html(*facts.numbers, facts.noun);
  }
  std::string groups;
  for (const GroupFact& group : facts.groups)
    groups += figure_html("By " + group.column, group.says,
                          parts_table(group.levels, "level", classes ? "accuracy" : "coverage", facts.noun),
                          classes ? "The accuracy in each level; the mark is the mean confidence of its "
                                    "rows. The grey band is what "
                                    "chance alone gives in 19 of 20 cases."
                                  : kHowParts);
  if (!groups.empty()) out += element("div", "grid", groups);
  if (out.empty()) return "";
  return section_html("groups", classes ? "Accuracy by group" : "Coverage by part of the rows",
                      element("div", "stack", out));
}

std::string importance_html(const ReportFacts& facts) {
  if (!facts.importance) return "";
  const ImportanceFact& importance = *facts.importance;
  const bool widths = !importance.columns.empty() && importance.columns.front().width.has_value();
  double error = 0, spread = 0;
  for (const ColumnImportance& one : importance.columns) {
    error = std::max(error, one.error);
    spread = std::max(spread, one.spread);
  }
  std::vector<std::vector<HtmlCell>> rows;
  for (const ColumnImportance& one : importance.columns) {
    if (rows.size() == kMostColumnsShown) break;
    rows.push_back({name_cell(one.column),
                    {bar_svg(error > 0 ? one.error / error : 0, "blue")},
                    number_cell(fmt::format("{:.3g}", one.error)),
                    {bar_svg(spread > 0 ? one.spread / spread : 0, "purple")},
                    number_cell(fmt::format("{:.3g}", one.spread)),
                    part_cell(one.mean, 1),
                    part_cell(one.aleatoric, 100),
                    part_cell(one.epistemic, 100)});
    if (widths) rows.back().push_back(part_cell(one.width, 100));
  }
  const std::string left_out =
      importance.columns.size() > rows.size()
          ? fmt::format(" The {} other columns are in the facts of the report (JSON).",
                        importance.columns.size() - rows.size())
          : "";
  std::vector<HtmlCell> heads = {text_cell("column"),
                                 text_cell(importance.error),
                                 {"", true},
                                 text_cell(importance.spread),
                                 {"", true},
                                 {facts.classes ? "probabilities" : "mean", true},
                                 {"aleatoric, %", true},
                                 {"epistemic, %", true}};
  if (widths) heads.push_back({"width, %", true});
  const std::string table = table_html(heads, rows);
  return section_html(
      "importance", "Importance of the columns",
      figure_html(
          "What the answers depend on", importance.says, table,
          fmt::format(
              "Each column in turn is shuffled among {} {}s, so that it says nothing. Blue: how much "
              "the error rises. Purple: how much the uncertainty changes, up or down. On the right the "
              "parts of the answer: the mean squared change of the {} over {} variance between the rows, "
              "which is 2 where nothing else matters, and how much the {} change, in percent of their mean. "
              "Columns that say the same share their importance.{}",
              importance.rows, facts.noun, facts.classes ? "probabilities" : "mean",
              facts.classes ? "their" : "its",
              facts.classes ? "aleatoric and the epistemic part of the entropy" : "parts of the sd",
              left_out)));
}

std::string confusion_html(const ClassFacts& facts) {
  if (!facts.confusion || facts.confusion->classes.size() > kMostClassesShown) return "";
  const ConfusionFact& confusion = *facts.confusion;
  std::string head = element("th", "", "true \\ answered"), body;
  for (const std::string& name : confusion.classes) head += text_element("th", "", name);
  for (size_t i = 0; i < confusion.counts.size(); ++i) {
    double sum = 0;
    for (int64_t count : confusion.counts[i]) sum += static_cast<double>(count);
    std::string line = text_element("td", "", confusion.classes[i]);
    for (int64_t count : confusion.counts[i])
      line += fmt::format("<td style=\"--a:{:.2f}\">{}</td>\n",
                          sum > 0 ? 0.75 * static_cast<double>(count) / sum : 0, count);
    body += element("tr", "", line);
  }
  const std::string table = element(
      "div", "scroll",
      element("table", "heat", element("thead", "", element("tr", "", head)) + element("tbody", "", body)));
  return figure_html(
      "Confusion matrix", confusion.says, table,
      "Rows are the true classes, columns the answers; a cell is darker the larger its share of the "
      "row. Right answers lie on the diagonal.");
}

std::string surprising_html(const ReportFacts& facts) {
  const std::vector<SurprisingRow>& list = facts.surprising.rows;
  const bool classes = list.front().of_class.has_value(),
             unusual =
                 std::ranges::any_of(list, [](const SurprisingRow&row) { return row.unusual.has_value(); });
  std::vector<HtmlCell> head = {{(facts.noun == "window" ? "last row" : facts.noun) + ", from 1", true}};
  if (classes)
    head.insert(head.end(), {{"target"}, {"answer"}, {"its probability", true}, {"p of the target", true}});
  else
    head.insert(
        head.end(),
        {{"target", true}, {"mean", true}, {"sd", true}, {"interval", true}, {"z", true}, {"tail", true}});
  if (unusual) head.push_back({"most unusual cell"});
  std::vector<std::vector<HtmlCell>> rows;
  for (const SurprisingRow& row : list) {
    std::vector<HtmlCell> cells = {number_cell(fmt::format("{}", row.row))};
    for (HtmlCell& cell : surprising_cells(row)) cells.push_back(std::move(cell));
    if (row.unusual)
      cells.push_back(text_cell(
          fmt::format("{} = {} ({:+.1f} sd)", row.unusual->column, row.unusual->value, row.unusual->sds)));
    else if (unusual)
      cells.push_back({""});
    rows.push_back(std::move(cells));
  }
  return section_html(
      "surprising", "The most surprising rows",
      figure_html(
          "Where the model was most wrong for its confidence", facts.surprising.says,
          table_html(head, rows, "plain"),
          classes
              ? "The true class had the smallest probability here. Look at these rows first: wrong labels, "
                "wrong cells, or cases that the training lacked."
              : "z is (target - mean) / sd, tail the predicted probability of a target at least as far "
                "out. Look at these rows first: wrong targets, wrong cells, or cases that the training "
                "lacked. The most unusual cell lies farthest from the training mean."));
}

}  // namespace slimbayes
