#include "slimbayes/report/facts.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <filesystem>
#include <numeric>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/model/conditional/conditional_report.h"
#include "slimbayes/model/conditional/coverage_classifier.h"
#include "slimbayes/model/held_out.h"
#include "slimbayes/model/model_weights.h"
#include "slimbayes/model/persistence.h"
#include "slimbayes/model/trust_notes.h"
#include "slimbayes/model/uncertainty.h"
#include "slimbayes/report/card.h"
#include "slimbayes/report/class_facts.h"
#include "slimbayes/report/coverage_facts.h"
#include "slimbayes/report/forecast_facts.h"
#include "slimbayes/report/foreign_facts.h"
#include "slimbayes/report/importance.h"
#include "slimbayes/report/residual_facts.h"
#include "slimbayes/report/score_facts.h"

namespace slimbayes {
namespace {

constexpr int64_t kMostDrawn = 1000;
constexpr double kShareOfAnswers = 0.3;  // of the progress; the rest is the importance

/// The examples to score, and why these.
struct Part {
  Examples examples;
  std::vector<int64_t> places;  // their indices in the file
  std::string name;             // "train", "valid", "calibration", "test" or "all"
  bool fitted_on = false;       // the data are those that the model was fitted on
};

std::vector<int64_t> places_of(const SplitRows& split, const std::string& part) {
  return part == "train"         ? split.train
         : part == "valid"       ? split.valid
         : part == "calibration" ? split.calibration
                                 : split.test;
}

Part chosen_part(const Model& model, Examples examples, const std::string& asked) {
  Part part{std::move(examples), {}, asked.empty() ? "all" : asked};
  part.fitted_on = hash_of(part.examples) == model.data_hash();
  if (asked.empty() && part.fitted_on && !model.split().test.empty()) part.name = "test";
  if (part.name == "all") {
    part.places.resize(static_cast<size_t>(count(part.examples)));
    std::iota(part.places.begin(), part.places.end(), 0);
    return part;
  }
  part.examples = part_of(model, part.examples, part.name);
  part.places = places_of(model.split(), part.name);
  return part;
}

/// Leaves the examples of weight 0 out of the part and returns how many there are.
size_t leave_weightless_out(const Model& model, Part& part) {
  PositiveExamples kept = scored_examples(part.examples, model.fit_options());
  if (!kept.some) return 0;
  const size_t weightless = part.places.size() - kept.places.size();
  std::vector<int64_t> places;
  for (const int64_t i : kept.places) places.push_back(part.places[static_cast<size_t>(i)]);
  part.examples = *std::move(kept.some);
  part.places = std::move(places);
  return weightless;
}

/// Returns the sentences on the weights of the examples, or "". `weightless`: how many were left out because
/// they have the weight 0.
std::string weights_text(const ScoredExamples& s, const Evaluation& metrics, size_t weightless) {
  if (!s.weight.defined()) return "";
  return fmt::format(
      " The {0}s are weighted by the column {1}: means and shares are by their weights, and the {2} {0}s say "
      "as much as {3:.0f} of equal weight. Numbers of {0}s, the residuals and the importance count each {0} "
      "once.{4}",
      s.noun(), in_plain_quotes(s.model.fit_options().weights), s.size(), metrics.effective_rows.value(),
      weightless == 0 ? "" : fmt::format(" {} more of weight 0 are left out.", weightless));
}

/// Returns the sentences on which examples were scored and whether the model knows them. `streamed`: the
/// model was fitted with rows from disk (SplitRows::streamed).
std::string part_text(const Part& part, int64_t all, const std::string& noun, bool streamed,
                      std::vector<std::string>& warnings) {
  const auto n = static_cast<int64_t>(part.places.size());
  const bool held_out = part.name != "all" && part.name != "train";
  if (!part.fitted_on)
    return fmt::format("All {} {}s are scored.{}", n, noun,
                       streamed ? " The model was fitted from disk and keeps no list of its training rows: "
                                  "whether they are among these, it does not know."
                                : "");
  if (!held_out) {
    warnings.push_back(
        fmt::format("These data were fitted on, and the training {0}s are scored too: the scores "
                    "flatter the model. Score new data, or fit with a test part "
                    "(`.test_fraction`).",
                    noun));
    return part.name == "all" ? fmt::format("All {} {}s are scored, those of the training too.", n, noun)
                              : fmt::format("The {} training {}s are scored.", n, noun);
  }
  if (part.name != "test")
    warnings.push_back(fmt::format("The {} {}s took part in the fit: the scores may flatter the model.",
                                   part.name == "valid" ? "validation" : part.name, noun));
  return fmt::format(
      "The model was fitted on these data. Only the {} {} {}s of {}, which the training did not "
      "see, are scored.",
      n, part.name == "valid" ? "validation" : part.name, noun, all);
}

/// Appends the notes that `evaluate` logs on such a report.
void add_notes(const Model& model, const Part& part, const ScoredExamples& s, const Evaluation& metrics,
               std::vector<std::string>& notes) {
  const std::string name = part.name == "all" ? "" : part.name;
  for (const std::string& note : persistence_notes(metrics, windows_of_part(metrics.n, name)))
    notes.push_back(note);
  if (const auto far = outside(model.encoder(), s.examples); far && far->rows > 0)
    notes.push_back(outside_text(*far, std::get<Table>(s.examples)));
  if (part.fitted_on && (name.empty() || name == "train")) return;  // learned in training
  const std::string row = fmt::format("{}{}{}", name, name.empty() ? "" : " ", s.noun());
  if (const std::string few = few_scored(metrics.n, row, name == "test" ? kTestMore : ""); !few.empty())
    notes.push_back(few);
  for (const std::string& note : trust_notes(model, {{metrics, row + "s", s.level(), /*fresh=*/true}}))
    notes.push_back(note);
}

/// Returns at most kMostDrawn rows, evenly spaced in the order of the mean, for the plot of predicted against
/// observed.
PredictedRows predicted_rows(const ScoredExamples& s) {
  const MeanAndSd answer = mean_and_sd(s.answer());
  const at::Tensor order = at::argsort(answer.mean, /*stable=*/true, 0, false),
                   rows = order.index_select(0, at::tensor(spaced(s.size(), kMostDrawn), at::kLong));
  const Interval& interval = *s.answers.levels.front().interval;
  const auto taken = [&](const at::Tensor& x) { return list_of(x.index_select(0, rows)); };
  const at::Tensor above = (s.y > interval.upper).sum(), below = (s.y < interval.lower).sum();
  std::vector<int64_t> numbers;
  for (double i : list_of(rows)) numbers.push_back(s.numbers[static_cast<size_t>(i)]);
  return {numbers,
          taken(s.y),
          taken(answer.mean),
          taken(interval.lower),
          taken(interval.upper),
          fmt::format("{} of {} targets lie above their interval and {} below.", above.item<int64_t>(),
                      s.size(), below.item<int64_t>())};
}

/// Returns what a classifier says of the coverage given the inputs; nothing for other inputs than tables.
std::optional<ExcessRisk> conditional_risk(const ScoredExamples& s) {
  if (kind_of(s.model.encoder()) != InputKind::table) return std::nullopt;
  return coverage_risk(s.model, s.examples, s.answers, row_scores(s.model, s.examples, s.answers));
}

/// Adds the parts of the report that the examples have.
void add_parts(const ScoredExamples& s, const Evaluation& metrics,
               const std::optional<UncertaintyReport>& uncertainty, const PredictOptions& predict,
               ReportFacts& facts) {
  const bool classes = are_classes(s.answer());
  if (classes)
    facts.classes = class_facts(s, metrics, uncertainty.value().reliability.value());
  else
    facts.numbers = NumberFacts{predicted_rows(s), coverage_facts(s), conditional_risk(s)};
  facts.groups = classes ? class_groups(s) : coverage_groups(s);
  const PredictOptions rest = predict.within(kShareOfAnswers, 1);
  const std::vector<ColumnImportance> importance = permutation_importance(s, rest.progress);
  facts.importance = importance_facts(s, importance);
  if (!classes)
    if (std::vector<ResidualFact> residuals = residual_facts(s, importance); !residuals.empty())
      facts.residuals = std::move(residuals);
  facts.surprising = surprising_rows(s);
  facts.foreign = foreign_facts(s);
  facts.forecast = forecast_facts(s);
}

/// Throws std::invalid_argument for a model that has no report.
void check_reported(const Model& model) {
  const Task& task = model.schema().task;
  check(!task.grid, "report", "a model of numbers, classes or counts", "one of segmentation",
        "`slimbayes evaluate` scores it, `slimbayes predict `.maps`` draws its uncertainty");
  check(task.kind != TaskKind::events, "report", "a model of numbers, classes or counts", "one of events",
        "`slimbayes evaluate` scores it");
}

}  // namespace

ReportFacts report_facts(const Model& model, const Examples& given, const FactsOptions& options) {
  check_reported(model);
  Examples examples = model.examples(given, /*with_target=*/true);
  std::vector<std::string> notes = options.notes, warnings;
  if (model.interrupted()) notes.push_back("the fit of this model was stopped before its end");
  for (const std::string& note : notes_for(model.encoder(), examples)) notes.push_back(note);
  const std::string noun(noun_of(kind_of(model.encoder())));
  const std::string file = std::filesystem::path(source_of(examples)).filename().string();
  const int64_t all = count(examples);
  Part part = chosen_part(model, std::move(examples), options.part);
  const size_t weightless = leave_weightless_out(model, part);
  const std::string scored_text = part_text(part, all, noun, model.split().streamed > 0, warnings);
  Answers answers =
      model.answers(part.examples, {{options.level}}, options.predict.within(0, kShareOfAnswers));
  const size_t left_out = answers.bad.size();
  if (left_out > 0 && !answers.rows.empty())
    notes.push_back(bad_examples_text(part.examples, answers.bad, "left out of the report"));
  const ScoredExamples s = scored_examples(model, part.examples, std::move(answers), part.places);
  const Evaluation metrics = model.evaluate(s.examples, s.answers);
  const std::optional<UncertaintyReport> uncertainty = uncertainty_of(model, s.examples, s.answers);
  add_notes(model, part, s, metrics, notes);
  ReportFacts facts;
  facts.title = fmt::format("{} predicted by {}", model.target(), model.method());
  facts.headline = headline_of(s, metrics);
  facts.version = options.version;
  facts.level = s.level();
  facts.noun = noun;
  facts.task = name_of(model.schema().task.kind);
  facts.input = name_of(kind_of(model.encoder()));
  facts.target = model.target();
  facts.card = card_facts(model);
  facts.data = {file,
                part.name,
                all,
                s.size(),
                left_out,
                part.fitted_on,
                scored_text + weights_text(s, metrics, weightless)};
  facts.scores = score_facts(s, metrics);
  facts.report = {metrics, uncertainty};
  facts.warnings = std::move(warnings);
  facts.notes = std::move(notes);
  add_parts(s, metrics, uncertainty, options.predict, facts);
  return facts;
}

}  // namespace slimbayes
