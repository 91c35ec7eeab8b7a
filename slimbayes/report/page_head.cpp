#include "slimbayes/report/page_head.h"

#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/report/chart.h"
#include "slimbayes/report/html.h"
#include "slimbayes/report/wording.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

using nlohmann::json;

constexpr size_t kMostChips = 40;  // columns that are shown at once; more open at a click

/// Returns an option's value as text.
std::string option_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:g}", value.get<double>());
  if (!value.is_array()) return value.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string text;
  for (const json& one : value) text += (text.empty() ? "" : ", ") + option_text(one);
  return text.empty() ? "none" : text;
}

/// Returns a sentence as HTML with the options in it set as code.
std::string sentence_html(const std::string& sentence, OptionStyle style) {
  std::string out;
  for (const MessagePart& part : message_parts(without_functions(sentence), style))
    out += part.option ? text_element("code", "", part.text) : text_html(part.text);
  return out;
}

std::string entry(const std::string& term, const std::string& inner) {
  return inner.empty() ? "" : text_element("dt", "", term) + element("dd", "", inner);
}

std::string rows_text(const RowsOfParts& parts) {
  std::string text;
  const auto add = [&](int64_t rows, const char* part) {
    if (rows > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", rows, part);
  };
  add(parts.training, "training");
  add(parts.validation.value_or(0), "validation");
  add(parts.calibration.value_or(0), "calibration");
  add(parts.test.value_or(0), "test");
  return text;
}

std::string chips_of(const std::vector<CardColumn>& columns) {
  std::string inputs, dropped;
  size_t unused = 0;
  for (const CardColumn& column : columns) {
    const std::string& why = column.dropped;
    unused += why.empty() ? 0 : 1;
    std::string& list = why.empty() ? inputs : dropped;
    list += element("span", "chip",
                    text_element("bdi", "", column.name) +
                        text_element("span", "muted", why.empty() ? column.kind : why));
  }
  const auto box = [](const std::string& chips, size_t count) {
    if (chips.empty()) return chips;
    const std::string list = element("div", "chips", chips);
    if (count <= kMostChips) return list;
    return element("details", "", element("summary", "", fmt::format("{} columns", count)) + list);
  };
  return entry("columns", box(inputs, columns.size() - unused)) + entry("not used", box(dropped, unused));
}

std::string options_of_card(const std::vector<CardOption>& options) {
  std::string chips;
  for (const CardOption& option : options)
    chips += element("span", "chip",
                     text_element("bdi", "", fmt::format("{} = {}", option.name, option_text(option.value))) +
                         text_element("span", "muted", "default " + option_text(option.fallback)));
  return chips.empty() ? "all as by default" : element("div", "chips", chips);
}

}  // namespace

std::string header_html(const ReportFacts& facts, OptionStyle style) {
  std::string out = text_element("p", "kicker", "slimbayes report") + text_element("h1", "", facts.title);
  out += text_element("p", "lead", facts.headline);
  out +=
      element("p", "muted", text_element("bdi", "", facts.data.file) + ": " + xml_escaped(facts.data.says));
  std::string warnings;
  for (const std::string& warning : facts.warnings)
    warnings += element("p", "", sentence_html(warning, style));
  return element("header", "", out + (warnings.empty() ? "" : element("div", "warning", warnings)));
}

std::string scores_html(const ReportFacts& facts) {
  std::string boxes;
  for (const ScoreFact& score : facts.scores) {
    const bool share = score.key == "coverage" || score.key == "accuracy";
    const std::string pill =
        score.verdict.empty() ? "" : text_element("span", "pill " + score.verdict, score.verdict);
    boxes += element(
        "div", "score",
        element("div", "label", text_element("span", "", score.label) + pill) +
            text_element("div", "value", share ? percent_text(score.value) : number_text_of(score.value)) +
            text_element("p", "word", score.word));
  }
  return section_html("scores", "Scores", element("div", "scores", boxes));
}

std::string notes_html(const ReportFacts& facts, OptionStyle style) {
  std::string list;
  for (const std::string& note : facts.notes) list += element("li", "", sentence_html(note, style));
  if (list.empty()) return "";
  return section_html("notes", "Notes on data and trust", element("div", "box", element("ul", "", list)));
}

std::string card_html(const ReportFacts& facts, OptionStyle style) {
  const ModelCard& card = facts.card;
  std::string noise;
  for (const std::string& note : card.noise) noise += element("p", "", sentence_html(note, style));
  const std::string list =
      entry("method", text_element("strong", "", card.method) + " " + sentence_html(card.summary, style)) +
      entry("task", xml_escaped(fmt::format("{}, {} likelihood", card.task, card.likelihood))) +
      entry("input", xml_escaped(card.input)) + entry("target", xml_escaped(card.target)) +
      entry(facts.noun + "s", rows_text(card.rows)) + chips_of(card.columns) +
      entry("options", options_of_card(card.options)) +
      entry("calibration", card.calibration.empty() ? "none: intervals and probabilities of the model"
                                                    : xml_escaped(card.calibration)) +
      entry("noise", noise);
  return section_html("model", "The model", element("div", "box", element("dl", "", list)));
}

}  // namespace slimbayes
