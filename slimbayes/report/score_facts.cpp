// Scores with a word on each. A score says little alone: 3.1 nats are good on one table and poor on another.
// So each is set beside what a model would have that knows no inputs, or beside its nominal value. The
// verdicts are conventions: an error below half of the constant's is good, above 90 % poor (as trust_notes).
#include "slimbayes/report/score_facts.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/report/coverage_facts.h"
#include "slimbayes/report/wording.h"

namespace slimbayes {
namespace {

constexpr double kGoodError = 0.5, kPoorError = 0.9;  // shares of the constant's RMSE
constexpr double kGoodNats = 0.1;                     // below the constant's NLL

/// Adds a score, unless it is absent or not finite.
void add_score(std::vector<ScoreFact>& scores, const char* key, std::optional<double> value,
               const std::string& label, const std::string& word, const char* verdict) {
  if (value && std::isfinite(*value)) scores.push_back({key, label, *value, word, verdict});
}

/// Returns the verdict on a quotient that is 1 for a model without inputs and 0 for a perfect one.
const char* verdict_of(double quotient) {
  return std::isnan(quotient) ? "" : quotient < kGoodError ? "good" : quotient < kPoorError ? "fair" : "poor";
}

/// Returns the RMSE of one number for all rows, the mean of their targets; NaN if all are equal.
double constant_rmse(const ScoredExamples& s) {
  const double sd = s.weight.defined() ? std::sqrt(mean_of(s, (s.y - mean_of(s, s.y)).square()))
                                       : s.y.std(/*unbiased=*/false).item<double>();
  return sd > 0 ? sd : NAN;
}

void add_rmse(std::vector<ScoreFact>& scores, const ScoredExamples& s, double rmse) {
  const double constant = constant_rmse(s), share = rmse / constant;
  add_score(scores, "rmse", rmse, "RMSE of the mean",
            std::isnan(share)
                ? "in the target's units"
                : fmt::format("one number for every row has {}; the model explains {} of the variance",
                              number_text_of(constant), percent_text(std::max(0.0, 1 - share * share))),
            verdict_of(share));
}

void add_nll(std::vector<ScoreFact>& scores, const Evaluation& metrics, const char* constant_answer) {
  const double constant = metrics.nll_constant.value_or(NAN), gain = constant - metrics.nll;
  add_score(scores, "nll", metrics.nll, "NLL, nats a row",
            std::isnan(gain)
                ? "lower is better"
                : fmt::format("{:.3g} nats {} {}, {}", std::abs(gain), gain > 0 ? "below" : "above",
                              constant_answer, number_text_of(constant)),
            std::isnan(gain)   ? ""
            : gain > kGoodNats ? "good"
            : gain > 0         ? "fair"
                               : "poor");
}

void add_coverage(std::vector<ScoreFact>& scores, const ScoredExamples& s, const Evaluation& metrics) {
  if (!metrics.coverage || std::isnan(*metrics.coverage)) return;
  const double coverage = *metrics.coverage;
  const std::string word = width_word(coverage, s.judged_size(), s.level());
  const bool sets = are_classes(s.answer());
  const char* what = sets ? "sets" : "intervals";
  const std::string shown = !sets                  ? word
                            : word == "too narrow" ? "too small"
                            : word == "too wide"   ? "too large"
                                                   : "as large as they should be";
  const auto n = static_cast<double>(s.size());
  const std::string outside =
      s.weight.defined()
          ? fmt::format("{} of the weight of the {}s lie outside, where {} are expected",
                        percent_text(1 - coverage), s.noun(), percent_text(1 - s.level()))
          : fmt::format("{} of {} {}s lie outside, where {:.3g} are expected",
                        std::llround((1 - coverage) * n), s.size(), s.noun(), (1 - s.level()) * n);
  add_score(scores, "coverage", coverage, fmt::format("coverage of the {} {}", percent_text(s.level()), what),
            shown + ": " + outside,
            word == "too narrow" ? "poor"
            : word == "too wide" ? "fair"
                                 : "good");
}

/// Adds the model's MAE divided by that of a forecast without a model on the same windows.
void add_persistence(std::vector<ScoreFact>& scores, const std::optional<ForecastScores>& forecast) {
  if (!forecast || !forecast->mae || !forecast->model_mae) return;
  const double own = *forecast->model_mae, of = *forecast->mae, quotient = own / of;
  if (!std::isfinite(quotient)) return;
  const std::optional<std::string>& season = forecast->season;
  const std::string rival = season ? "the value " + *season + " before" : "the last value seen";
  scores.push_back({season ? "seasonal_persistence" : "persistence",
                    season ? "MAE / seasonal persistence" : "MAE / persistence", quotient,
                    fmt::format("the model has {} where {} has {}; below 1 the model is better",
                                number_text_of(own), rival, number_text_of(of)),
                    quotient < 0.9 ? "good"
                    : quotient < 1 ? "fair"
                                   : "poor"});
}

void add_numbers(std::vector<ScoreFact>& scores, const ScoredExamples& s, const Evaluation& metrics) {
  const NumberScores& own = metrics.numbers.value();
  add_rmse(scores, s, own.rmse);
  const bool counts = std::holds_alternative<Counts>(s.answer());
  add_score(scores, "mae", own.mae, counts ? "MAE of the mean" : "MAE of the median",
            "mean absolute error in the target's units", "");
  add_nll(scores, metrics,
          counts ? "that of one Poisson rate for all rows" : "that of one Gaussian for all rows");
  add_score(scores, "crps", own.crps, "CRPS",
            own.mae > 0 ? fmt::format("{:.2f} of the MAE; honest Gaussian answers have about 0.71",
                                      own.crps.value_or(NAN) / own.mae)
                        : "in the target's units",
            "");
  add_coverage(scores, s, metrics);
  add_score(scores, "width", own.width, fmt::format("mean width at {}", percent_text(s.level())),
            own.standardized ? fmt::format("{:.2g} sds of the target", own.standardized->width)
                             : "in the target's units",
            "");
  add_persistence(scores, metrics.persistence);
  add_persistence(scores, metrics.seasonal_persistence);
}

void add_classes(std::vector<ScoreFact>& scores, const ScoredExamples& s, const Evaluation& metrics) {
  const ClassScores& own = metrics.classes.value();
  add_score(scores, "accuracy", own.accuracy, "accuracy",
            fmt::format("always {} would be right in {}", in_plain_quotes(own.base_class),
                        percent_text(own.base_rate)),
            own.base_rate >= 1 ? "" : verdict_of((1 - own.accuracy) / (1 - own.base_rate)));
  add_nll(scores, metrics, "that of the class frequencies");
  add_score(scores, "brier", own.brier, "Brier score", "squared error of the probabilities, 0 to 2", "");
  add_score(scores, "ece", own.ece, "calibration error (ECE)",
            fmt::format("confidence and accuracy differ by {:.2g} points on average", 100 * own.ece),
            own.ece < 0.03   ? "good"
            : own.ece < 0.08 ? "fair"
                             : "poor");
  add_score(scores, "f1_macro", own.f1_macro, "F1, mean over the classes",
            "1 is perfect; small classes count as large ones", "");
  add_score(scores, "auroc", own.auroc, "AUROC",
            "how well the probability ranks the two classes; 0.5 is chance", "");
  add_coverage(scores, s, metrics);
  add_score(scores, "set_size", own.set_size, "mean size of a set", "classes in the set of a row", "");
}

}  // namespace

std::vector<ScoreFact> score_facts(const ScoredExamples& s, const Evaluation& metrics) {
  std::vector<ScoreFact> scores;
  if (are_classes(s.answer()))
    add_classes(scores, s, metrics);
  else
    add_numbers(scores, s, metrics);
  return scores;
}

std::string headline_of(const ScoredExamples& s, const Evaluation& metrics) {
  if (are_classes(s.answer())) {
    const ClassScores& scores = metrics.classes.value();
    return fmt::format(
        "The most probable class is right in {} of the {}s; its probability is off by {:.2g} points "
        "on average.",
        percent_text(scores.accuracy), s.noun(), 100 * scores.ece);
  }
  const double rmse = metrics.numbers.value().rmse, constant = constant_rmse(s),
               coverage = metrics.coverage.value();
  const std::string beside =
      std::isnan(constant) ? ""
                           : fmt::format(", {} of that of one number for all", percent_text(rmse / constant));
  return fmt::format(
      "The mean is off by {} (RMSE){}. The intervals hold {} of the {}s at the nominal {}: they are {}.",
      number_text_of(rmse), beside, percent_text(coverage), s.noun(), percent_text(s.level()),
      width_word(coverage, s.judged_size(), s.level()));
}

}  // namespace slimbayes
