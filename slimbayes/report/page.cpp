// The page is put together from pieces of HTML, in the order in which a reader asks: what was scored, how
// good it is, what to beware of, what the model is, then the plots. Charts are SVG elements with the page's
// colours. No script, no link to another file.
#include "slimbayes/report/page.h"

#include <fmt/format.h>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/report/figure_parts.h"
#include "slimbayes/report/figures.h"
#include "slimbayes/report/html.h"
#include "slimbayes/report/page_head.h"
#include "slimbayes/report/page_style.h"
#include "slimbayes/report/page_tables.h"
#include "slimbayes/report/wording.h"

namespace slimbayes {
namespace {

constexpr size_t kMostBeside = 5;  // classes of a confusion matrix that fits beside a figure

std::string grid(const std::string& figures) { return element("div", "grid", figures); }

std::string numbers_html(const ReportFacts& facts) {
  const NumberFacts& numbers = *facts.numbers;
  std::string out = figure_html(
      "Predicted against observed", numbers.predicted.says,
      inset_svg(predicted_figure(numbers.predicted, facts.target), {"predicted", 940, 430}),
      fmt::format(
          "A point is a {}, its grey line the {} interval of its target. Points on the dashed line are "
          "predicted exactly; orange points lie outside their interval. At most 1,000 are drawn.",
          facts.noun, percent_text(facts.level)),
      "wide");

  std::string pair =
      figure_html("Calibration", numbers.coverage.calibration.says,
                  inset_svg(calibration_figure(numbers.coverage.calibration), {"calibration", 480, 340}),
                  "For each nominal level the share of targets inside the central interval. On the dashed "
                  "line the intervals "
                  "hold what they promise; below it they are too narrow.");
  pair += figure_html(
      "PIT histogram", numbers.coverage.pit.says,
      inset_svg(pit_figure(numbers.coverage.pit), {"pit", 480, 340}),
      "Where each target lies in its predicted distribution: 0 below all of it, 1 above. Honest "
      "distributions give a flat histogram; a U means too narrow, a hill too wide, a slope biased.");
  return section_html("predictions", "Predictions and their intervals",
                      element("div", "stack", out + grid(pair)));
}

std::string classes_html(const ReportFacts& facts) {
  const ClassFacts& classes = *facts.classes;
  std::string figures =
      figure_html("Reliability", classes.reliability.says,
                  inset_svg(reliability_figure(classes.reliability), {"reliability", 480, 350}),
                  "Rows are binned by the probability of their most probable class. On the dashed line the "
                  "model is right as "
                  "often as it says; below it, it is overconfident.");
  if (classes.selective)
    figures +=
        figure_html("Accuracy of the surest answers", classes.selective->says,
                    inset_svg(selective_figure(*classes.selective), {"selective", 480, 350}),
                    "If only the surest share of the rows is answered, the accuracy should rise to the left: "
                    "then the uncertainty says which answers to check.");
  figures +=
      figure_html("Entropy of the answers", classes.entropy.says,
                  inset_svg(entropy_figure(classes.entropy, facts.noun), {"entropy", 480, 340}),
                  "0 nats is certain, the right end is all classes alike. Wrong answers should lie to the "
                  "right.");
  if (classes.sets)
    figures +=
        figure_html("Sizes of the prediction sets", classes.sets->says,
                    inset_svg(set_size_figure(*classes.sets, facts.noun), {"sets", 480, 340}),
                    "How many classes are plausible for a row at the level of the sets. Small sets are "
                    "informative; the coverage says whether they may be believed.");
  const bool beside = classes.confusion && !classes.sets && classes.confusion->classes.size() <= kMostBeside;
  return section_html("predictions", "Probabilities and their honesty",
                      beside ? grid(figures + confusion_html(classes))
                             : element("div", "stack", grid(figures) + confusion_html(classes)));
}

std::string forecast_html(const ReportFacts& facts) {
  if (!facts.forecast) return "";
  const ForecastFact& forecast = *facts.forecast;
  std::string figures;
  size_t i = 0;
  for (const SeriesFact& series : forecast.series) {
    const std::string says =
        i == 0 ? forecast.says : percent_text(series.inside) + " of its targets lie in the band.";
    figures += figure_html(
        series.name.empty() ? "The last part of the series" : "The last part of " + series.name, says,
        inset_svg(forecast_figure(forecast, series, facts.target, facts.level),
                  {fmt::format("forecast{}", i++), 940, 330}),
        fmt::format("Each forecast was made {} step{} before its time. A gap in the lines is a gap "
                    "in the data.",
                    forecast.horizon, forecast.horizon == 1 ? "" : "s"),
        "wide");
  }
  return section_html("forecast", "Forecasts and what happened", element("div", "stack", figures));
}

std::string residuals_html(const ReportFacts& facts) {
  if (!facts.residuals) return "";
  std::string figures;
  size_t i = 0;
  for (const ResidualFact& residual : *facts.residuals) {
    const Inset inset{fmt::format("residual{}", i++), 330, 260};
    figures += figure_html(residual.column, residual.says, inset_svg(residual_figure(residual), inset), "");
  }
  figures =
      element(
          "p", "how",
          "Orange: the mean of (target - mean) / sd in each tenth of the column or in each level, with its "
          "95 % range. It should stay at 0, and 19 of 20 points between the dashed lines. Columns of the "
          "largest importance.") +
      element("div", "three", figures);
  return section_html("residuals", "Residuals by column", figures);
}

std::string foreign_html(const ReportFacts& facts) {
  if (!facts.foreign) return "";
  const ForeignFact& foreign = *facts.foreign;
  std::string figures;
  for (const auto& [score, histogram] : foreign.scores) {
    const std::string says = histogram.beyond == 0 ? ""
                                                   : fmt::format("Beyond the right end: {}.",
                                                                 counted(histogram.beyond, facts.noun));
    const bool distance = score == "distance";
    figures += figure_html(
        distance ? "Distance from the training data" : "The model's own score: " + words_of_score(score),
        says,
        inset_svg(score_figure(score, histogram, facts.noun),
                  {"score" + std::to_string(distance ? 0 : 1), 480, 310}),
        distance
            ? "Root mean square over the columns of (x - training mean) / training sd. 1 is usual for "
              "training "
              "rows; a tail to the right are rows unlike them."
            : "What the model does not know, of each row. Rows unlike the training rows should have large "
              "values.");
  }
  std::vector<std::vector<HtmlCell>> rows;
  if (foreign.outside)
    for (const OutsideColumn& column : foreign.outside->columns)
      rows.push_back({{text_element("div", "name", column.column)},
                      {std::to_string(column.rows), true},
                      {number_text_of(column.farthest), true}});
  if (!rows.empty())
    figures += figure_html("Columns outside the training range", "",
                           table_html({{"column"}, {"rows", true}, {"farthest", true}}, rows),
                           "Farthest: how far the farthest row lies beyond the range, in half-ranges.");
  return section_html("foreign", "Distance from the training data",
                      text_element("p", "says", foreign.says) + grid(figures));
}

/// Returns links to the sections of the page.
std::string contents_of(const std::string& body) {
  std::string links;
  for (size_t at = 0; (at = body.find("<section id=\"", at)) != std::string::npos;) {
    at += std::string_view("<section id=\"").size();
    const std::string id = body.substr(at, body.find('"', at) - at);
    const size_t title = body.find("<h2>", at) + 4;
    links +=
        fmt::format("<a href=\"#{}\">{}</a>\n", id, body.substr(title, body.find("</h2>", title) - title));
  }
  return element("nav", "", links);
}

}  // namespace

std::string report_page(const ReportFacts& facts, OptionStyle style) {
  std::string body =
      scores_html(facts) + notes_html(facts, style) + card_html(facts, style) + forecast_html(facts);
  body += facts.classes ? classes_html(facts) : numbers_html(facts);
  body += parts_html(facts) + importance_html(facts) + residuals_html(facts) + surprising_html(facts) +
          foreign_html(facts);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n" +
         element("head", "",
                 "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, "
                 "initial-scale=1\"/>\n" +
                     text_element("title", "", "slimbayes report: " + facts.title) +
                     element("style", "", page_style())) +
         element("body", "",
                 element("main", "",
                         header_html(facts, style) + contents_of(body) + body +
                             text_element("footer", "",
                                          fmt::format("slimbayes {}. How to read each part: docs/report.md.",
                                                      facts.version)))) +
         "</html>\n";
}

}  // namespace slimbayes
