#include "slimbayes/report/page_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/report/chart.h"
#include "slimbayes/report/html.h"
#include "slimbayes/report/wording.h"

namespace slimbayes {
namespace {

using nlohmann::json;

constexpr size_t kMostClassesShown = 30, kMostColumnsShown = 25;

HtmlCell number_cell(const std::string& text) { return {xml_escaped(text), true}; }
HtmlCell number_cell(const json& value) { return number_cell(number_text_of(value.get<double>())); }
HtmlCell text_cell(const std::string& text) { return {xml_escaped(text)}; }
HtmlCell name_cell(const std::string& text) { return {text_element("div", "name", text)}; }

/// Returns the table of parts of the rows, such as the quarters of the mean. `name` returns the name of a
/// part.
template <class Name>
std::string parts_table(const json& parts, const std::string& head, const std::string& share,
                        const std::string& noun, Name name) {
  double low = 1;
  for (const json& part : parts)
    low = std::min({low, part.at("share").get<double>(), part.at("band")[0].get<double>()});
  low = std::max(0.0, std::floor(low * 20 - 0.5) / 20);
  const bool widths = parts.front().contains("width"), ranges = parts.front().contains("low");
  std::vector<HtmlCell> heads = {text_cell(head), {noun + "s", true}, {share, true}, text_cell("")};
  heads[3].inner = fmt::format("{:.0f} to 100 %", 100 * low);
  if (widths) heads.push_back({"width", true});
  std::vector<std::vector<HtmlCell>> rows;
  for (const json& part : parts) {
    const auto at = part.at("share").get<double>();
    rows.push_back({ranges ? text_cell(name(part)) : name_cell(name(part)),
                    number_cell(fmt::format("{}", part.at("rows").get<int64_t>())),
                    number_cell(percent_text(at)),
                    {strip_svg(at, part.at("expected").get<double>(), part.at("band")[0].get<double>(),
                               part.at("band")[1].get<double>(), low)}});
    if (widths) rows.back().push_back(number_cell(part.at("width")));
  }
  return table_html(heads, rows, ranges ? "plain" : "");
}

const char* const kHowParts =
    "The mark is what is expected, the grey band what chance alone gives for so many rows in 19 of 20 cases. "
    "A "
    "point outside is orange.";

std::string range_name(const json& part) {
  return fmt::format("{} to {}", number_text_of(part.at("low").get<double>()),
                     number_text_of(part.at("high").get<double>()));
}

/// Returns the cells of a surprising row that its task has.
std::vector<HtmlCell> surprising_cells(const json& row) {
  const auto tail = number_cell(fmt::format("{:.2g}", row.at("tail").get<double>()));
  if (row.contains("answer"))
    return {text_cell(row.at("target").get<std::string>()), text_cell(row.at("answer").get<std::string>()),
            number_cell(fmt::format("{:.3f}", row.at("probability").get<double>())), tail};
  return {number_cell(row.at("target")),
          number_cell(row.at("mean")),
          number_cell(row.at("sd")),
          number_cell(fmt::format("{} to {}", number_text_of(row.at("lower").get<double>()),
                                  number_text_of(row.at("upper").get<double>()))),
          number_cell(fmt::format("{:+.1f}", row.at("z").get<double>())),
          tail};
}

}  // namespace

std::string parts_html(const json& facts) {
  std::string out;
  const auto noun = facts.at("noun").get<std::string>();
  if (facts.contains("quarters")) {
    const json& quarters = facts.at("quarters");
    const std::string tables =
        element("div", "grid pair",
                parts_table(quarters.at("mean"), "predicted mean", "coverage", noun, range_name) +
                    parts_table(quarters.at("sd"), "predicted sd", "coverage", noun, range_name));
    out +=
        figure_html("Coverage by quarter of the prediction", quarters.at("says").get<std::string>(), tables,
                    std::string(kHowParts) +
                        " Honest intervals hold their level where the prediction is small and where it is "
                        "large, where the model is sure and where it is not.");
  }
  const bool classes = !facts.contains("quarters");
  std::string groups;
  for (const json& group : facts.at("groups"))
    groups += figure_html("By " + group.at("column").get<std::string>(), group.at("says").get<std::string>(),
                          parts_table(group.at("levels"), "level", classes ? "accuracy" : "coverage", noun,
                                      [](const json& level) { return level.at("level").get<std::string>(); }),
                          classes ? "The accuracy in each level; the mark is the mean confidence of its "
                                    "rows. The grey band is what "
                                    "chance alone gives in 19 of 20 cases."
                                  : kHowParts);
  if (!groups.empty()) out += element("div", "grid", groups);
  if (out.empty()) return "";
  return section_html("groups", classes ? "Accuracy by group" : "Coverage by part of the rows",
                      element("div", "stack", out));
}

std::string importance_html(const json& facts) {
  if (!facts.contains("importance")) return "";
  const json& importance = facts.at("importance");
  const json& columns = importance.at("columns");
  double error = 0, spread = 0;
  for (const json& one : columns) {
    error = std::max(error, one.at("error").get<double>());
    spread = std::max(spread, one.at("spread").get<double>());
  }
  std::vector<std::vector<HtmlCell>> rows;
  for (const json& one : columns) {
    if (rows.size() == kMostColumnsShown) break;
    const auto e = one.at("error").get<double>(), s = one.at("spread").get<double>();
    rows.push_back({name_cell(one.at("column").get<std::string>()),
                    {bar_svg(error > 0 ? e / error : 0, "blue")},
                    number_cell(fmt::format("{:.3g}", e)),
                    {bar_svg(spread > 0 ? s / spread : 0, "purple")},
                    number_cell(fmt::format("{:.3g}", s))});
  }
  const std::string left_out =
      columns.size() > rows.size()
          ? fmt::format(" The {} other columns are in the facts of the report (JSON).",
                        columns.size() - rows.size())
          : "";
  const std::string table = table_html({text_cell("column"),
                                        text_cell(importance.at("error").get<std::string>()),
                                        {"", true},
                                        text_cell(importance.at("spread").get<std::string>()),
                                        {"", true}},
                                       rows);
  return section_html(
      "importance", "Importance of the columns",
      figure_html(
          "What the answers depend on", importance.at("says").get<std::string>(), table,
          fmt::format(
              "Each column in turn is shuffled among {} {}s, so that it says nothing. Blue: how much "
              "the error rises. Purple: how much the uncertainty changes, up or down. Columns that say "
              "the same share their importance.{}",
              importance.at("rows").get<int64_t>(), facts.at("noun").get<std::string>(), left_out)));
}

std::string confusion_html(const json& facts) {
  if (!facts.contains("confusion") || facts.at("confusion").at("classes").size() > kMostClassesShown)
    return "";
  const json& confusion = facts.at("confusion");
  const json& counts = confusion.at("counts");
  std::string head = element("th", "", "true \\ answered"), body;
  for (const json& name : confusion.at("classes")) head += text_element("th", "", name.get<std::string>());
  for (size_t i = 0; i < counts.size(); ++i) {
    double sum = 0;
    for (const json& count : counts[i]) sum += count.get<double>();
    std::string line = text_element("td", "", confusion.at("classes")[i].get<std::string>());
    for (const json& count : counts[i])
      line += fmt::format("<td style=\"--a:{:.2f}\">{}</td>\n",
                          sum > 0 ? 0.75 * count.get<double>() / sum : 0, count.get<int64_t>());
    body += element("tr", "", line);
  }
  const std::string table = element(
      "div", "scroll",
      element("table", "heat", element("thead", "", element("tr", "", head)) + element("tbody", "", body)));
  return figure_html(
      "Confusion matrix", confusion.at("says").get<std::string>(), table,
      "Rows are the true classes, columns the answers; a cell is darker the larger its share of the "
      "row. Right answers lie on the diagonal.");
}

std::string surprising_html(const json& facts) {
  const json& surprising = facts.at("surprising");
  const json& list = surprising.at("rows");
  const bool classes = list.front().contains("answer"),
             unusual = std::ranges::any_of(list, [](const json&row) { return row.contains("unusual"); });
  const std::string noun = facts.at("noun").get<std::string>();
  std::vector<HtmlCell> head = {{(noun == "window" ? "last row" : noun) + ", from 1", true}};
  if (classes)
    head.insert(head.end(), {{"target"}, {"answer"}, {"its probability", true}, {"p of the target", true}});
  else
    head.insert(
        head.end(),
        {{"target", true}, {"mean", true}, {"sd", true}, {"interval", true}, {"z", true}, {"tail", true}});
  if (unusual) head.push_back({"most unusual cell"});
  std::vector<std::vector<HtmlCell>> rows;
  for (const json& row : list) {
    std::vector<HtmlCell> cells = {number_cell(fmt::format("{}", row.at("row").get<int64_t>()))};
    for (HtmlCell& cell : surprising_cells(row)) cells.push_back(std::move(cell));
    if (unusual && row.contains("unusual"))
      cells.push_back(text_cell(
          fmt::format("{} = {} ({:+.1f} sd)", row["unusual"]["column"].get<std::string>(),
                      row["unusual"]["value"].get<std::string>(), row["unusual"]["sds"].get<double>())));
    else if (unusual)
      cells.push_back({""});
    rows.push_back(std::move(cells));
  }
  return section_html(
      "surprising", "The most surprising rows",
      figure_html(
          "Where the model was most wrong for its confidence", surprising.at("says").get<std::string>(),
          table_html(head, rows, "plain"),
          classes
              ? "The true class had the smallest probability here. Look at these rows first: wrong labels, "
                "wrong cells, or cases that the training lacked."
              : "z is (target - mean) / sd, tail the predicted probability of a target at least as far "
                "out. Look at these rows first: wrong targets, wrong cells, or cases that the training "
                "lacked. The most unusual cell lies farthest from the training mean."));
}

}  // namespace slimbayes
