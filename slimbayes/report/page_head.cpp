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

std::string rows_text(const json& rows) {
  std::string text;
  for (const char* part : {"training", "validation", "calibration", "test"})
    if (rows.value(part, int64_t{0}) > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", rows.at(part).get<int64_t>(), part);
  return text;
}

std::string chips_of(const json& columns) {
  std::string inputs, dropped;
  size_t unused = 0;
  for (const json& column : columns) {
    const auto why = column.at("dropped").get<std::string>();
    unused += why.empty() ? 0 : 1;
    std::string& list = why.empty() ? inputs : dropped;
    list +=
        element("span", "chip",
                text_element("bdi", "", column.at("name").get<std::string>()) +
                    text_element("span", "muted", why.empty() ? column.at("kind").get<std::string>() : why));
  }
  const auto box = [](const std::string& chips, size_t count) {
    if (chips.empty()) return chips;
    const std::string list = element("div", "chips", chips);
    if (count <= kMostChips) return list;
    return element("details", "", element("summary", "", fmt::format("{} columns", count)) + list);
  };
  return entry("columns", box(inputs, columns.size() - unused)) + entry("not used", box(dropped, unused));
}

std::string options_of_card(const json& options) {
  std::string chips;
  for (const json& option : options)
    chips += element("span", "chip",
                     text_element("bdi", "",
                                  fmt::format("{} = {}", option.at("name").get<std::string>(),
                                              option_text(option.at("value")))) +
                         text_element("span", "muted", "default " + option_text(option.at("fallback"))));
  return chips.empty() ? "all as by default" : element("div", "chips", chips);
}

}  // namespace

std::string header_html(const json& facts, OptionStyle style) {
  const json& data = facts.at("data");
  std::string out = text_element("p", "kicker", "slimbayes report") +
                    text_element("h1", "", facts.at("title").get<std::string>());
  out += text_element("p", "lead", facts.at("headline").get<std::string>());
  out += element("p", "muted",
                 text_element("bdi", "", data.at("file").get<std::string>()) + ": " +
                     xml_escaped(data.at("says").get<std::string>()));
  std::string warnings;
  for (const json& warning : facts.at("warnings"))
    warnings += element("p", "", sentence_html(warning.get<std::string>(), style));
  return element("header", "", out + (warnings.empty() ? "" : element("div", "warning", warnings)));
}

std::string scores_html(const json& facts) {
  std::string boxes;
  for (const json& score : facts.at("scores")) {
    const auto verdict = score.at("verdict").get<std::string>(), key = score.at("key").get<std::string>();
    const bool share = key == "coverage" || key == "accuracy";
    const auto value = score.at("value").get<double>();
    const std::string pill = verdict.empty() ? "" : text_element("span", "pill " + verdict, verdict);
    boxes += element(
        "div", "score",
        element("div", "label", text_element("span", "", score.at("label").get<std::string>()) + pill) +
            text_element("div", "value", share ? percent_text(value) : number_text_of(value)) +
            text_element("p", "word", score.at("word").get<std::string>()));
  }
  return section_html("scores", "Scores", element("div", "scores", boxes));
}

std::string notes_html(const json& facts, OptionStyle style) {
  std::string list;
  for (const json& note : facts.at("notes"))
    list += element("li", "", sentence_html(note.get<std::string>(), style));
  if (list.empty()) return "";
  return section_html("notes", "Notes on data and trust", element("div", "box", element("ul", "", list)));
}

std::string card_html(const json& facts, OptionStyle style) {
  const json& card = facts.at("card");
  const auto text = [&](const char* key) { return card.at(key).get<std::string>(); };
  std::string noise;
  for (const json& note : card.at("noise"))
    noise += element("p", "", sentence_html(note.get<std::string>(), style));
  const std::string list =
      entry("method",
            text_element("strong", "", text("method")) + " " + sentence_html(text("summary"), style)) +
      entry("task", xml_escaped(fmt::format("{}, {} likelihood", text("task"), text("likelihood")))) +
      entry("input", xml_escaped(text("input"))) + entry("target", xml_escaped(text("target"))) +
      entry(facts.at("noun").get<std::string>() + "s", rows_text(card.at("rows"))) +
      chips_of(card.at("columns")) + entry("options", options_of_card(card.at("options"))) +
      entry("calibration", text("calibration").empty() ? "none: intervals and probabilities of the model"
                                                       : xml_escaped(text("calibration"))) +
      entry("noise", noise);
  return section_html("model", "The model", element("div", "box", element("dl", "", list)));
}

}  // namespace slimbayes
