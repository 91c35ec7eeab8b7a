#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/fields.h"
#include "slimbayes/report/answer_facts.h"
#include "slimbayes/report/row_facts.h"

namespace slimbayes {

struct RowsOfParts {
  int64_t training = 0;
  std::optional<int64_t> validation = {}, calibration = {}, test = {};
};

template <class V>
void describe(RowsOfParts& f, V& v) {
  v("training", f.training, "rows that the model learned from");
  v("validation", f.validation, "rows that chose among parameters");
  v("calibration", f.calibration, "rows kept for the calibration");
  v("test", f.test, "rows that the fit did not see");
}

struct CardColumn {
  std::string name, kind, dropped;
};

template <class V>
void describe(CardColumn& f, V& v) {
  v("name", f.name, "name of the column");
  v("kind", f.kind, "kind of the column, such as numeric");
  v("dropped", f.dropped, "why the column is no input, or empty");
}

/// An option of the fit that differs from its default.
struct CardOption {
  std::string name;
  nlohmann::json value, fallback;
};

template <class V>
void describe(CardOption& f, V& v) {
  v("name", f.name, "name of the option");
  v("value", f.value, "its value in the fit");
  v("fallback", f.fallback, "its default");
}

/// The facts on a model in a report (card_facts).
struct ModelCard {
  std::string method, summary, task, likelihood, input, target;
  RowsOfParts rows;
  std::vector<CardColumn> columns;
  std::vector<CardOption> options;
  std::string calibration;
  std::vector<std::string> noise;
};

template <class V>
void describe(ModelCard& f, V& v) {
  v("method", f.method, "name of the method");
  v("summary", f.summary, "what the method is, in a sentence");
  v("task", f.task, "task of the model, such as regression");
  v("likelihood", f.likelihood, "distribution of the target");
  v("input", f.input, "what one example is, such as a table row");
  v("target", f.target, "name of the target");
  v("rows", f.rows,
    "number of rows in each part of the split; of a model without a split the training's alone");
  v("columns", f.columns, "the columns of the fit's data");
  v("options", f.options, "options that differ from the defaults");
  v("calibration", f.calibration, "how the intervals or sets are calibrated, or empty");
  v("noise", f.noise, "sentences on the estimate of the noise");
}

/// The data of a report.
struct DataFacts {
  std::string file, part;
  int64_t rows = 0, scored = 0;
  size_t left_out = 0;
  bool fitted_on = false;
  std::string says;
};

template <class V>
void describe(DataFacts& f, V& v) {
  v("file", f.file, "name of the file");
  v("part", f.part, "the part that is scored: train, valid, calibration, test or all");
  v("rows", f.rows, "number of rows in the file");
  v("scored", f.scored, "number of rows that are scored");
  v("left_out", f.left_out, "number of rows without a finite answer");
  v("fitted_on", f.fitted_on, "whether the model was fitted on these data");
  v("says", f.says, "which rows are scored, and whether the model knows them");
}

/// Everything that the report on a model and data with targets shows. `says` in a part is a sentence that is
/// computed from its numbers. docs/report.md explains the parts, docs/report-fields.md lists the fields.
struct ReportFacts {
  std::string title, headline, version;
  double level = 0;
  std::string noun, task, input, target;
  ModelCard card;
  DataFacts data;
  std::vector<ScoreFact> scores;
  AnswerMetrics report;
  std::vector<std::string> warnings, notes;
  std::optional<NumberFacts> numbers;  // of numbers and counts
  std::optional<ClassFacts> classes;   // of classes
  std::vector<GroupFact> groups;
  std::optional<ImportanceFact> importance;
  std::optional<std::vector<ResidualFact>> residuals;
  SurprisingFact surprising;
  std::optional<ForeignFact> foreign;
  std::optional<ForecastFact> forecast;
};

template <class V>
void describe(ReportFacts& f, V& v) {
  v("title", f.title, "what is predicted, and by which method");
  v("headline", f.headline, "the error and the honesty of the uncertainty, in a sentence or two");
  v("version", f.version, "version of the program that wrote the report");
  v("level", f.level, "level of the intervals and sets");
  v("noun", f.noun, "word for one example: row, window, image, text");
  v("task", f.task, "task of the model, such as regression");
  v("input", f.input, "what one example is, such as a table row");
  v("target", f.target, "name of the target");
  v("card", f.card, "the model");
  v("data", f.data, "the data that are scored");
  v("scores", f.scores, "the scores with a word on each");
  v("report", f.report, "every metric, as evaluate reports it");
  v("warnings", f.warnings, "sentences on what makes the scores less trustworthy");
  v("notes", f.notes, "sentences on data and trust");
  v.part(f.numbers);
  v.part(f.classes);
  v("groups", f.groups, "coverage or accuracy by the levels of each categorical column");
  v("importance", f.importance,
    "what the answers depend on; absent for images, text and fewer than ten rows");
  v("residuals", f.residuals, "residuals by column, for the columns of the largest importance; of numbers");
  v("surprising", f.surprising, "the rows that surprise the model most");
  v("foreign", f.foreign, "distance from the training data; absent if there is no score of it");
  v("forecast", f.forecast, "forecasts and what happened; of windows of numbers or counts");
}

}  // namespace slimbayes
