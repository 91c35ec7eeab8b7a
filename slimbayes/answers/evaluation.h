#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/fields.h"

namespace slimbayes {

// What `evaluate` says, in structs of catalog/fields.h: an Evaluation has the metrics of a model's answers,
// an UncertaintyReport those of their uncertainty; answers/separation_report.h has those of foreign data.

/// How well scores of uncertainty tell the wrong answers from the right ones.
struct ErrorsReport {
  int64_t wrong = 0;
  double rate = 0;
  std::optional<std::string> absent = {};
  std::optional<std::map<std::string, double>> aupr_err = {}, aupr_succ = {}, auroc = {}, bound = {};
};

template <class V>
void describe(ErrorsReport& f, V& v) {
  v("wrong", f.wrong, "number of wrong answers");
  v("rate", f.rate, "share of wrong answers");
  v("absent", f.absent, "why there is nothing to tell apart");
  v("aupr_err", f.aupr_err, "average precision of each score with the wrong answers as positives");
  v("aupr_succ", f.aupr_succ,
    "average precision of each negated score with the right answers as positives; not of pixels");
  v("auroc", f.auroc,
    "area under the ROC curve of each score with the wrong answers as positives; of pixels");
  v("bound", f.bound, "the most by which rounding changed the AUROC; of pixels");
}

/// The scores of numbers again, for the target divided by its sd in training.
struct StandardizedScores {
  double mae = 0, rmse = 0, nll = 0, crps = 0, width = 0;
  std::optional<double> rmse_constant = {}, nll_constant = {};
};

template <class V>
void describe(StandardizedScores& f, V& v) {
  v("mae_standardized", f.mae, "mae of the target divided by its sd in training");
  v("rmse_standardized", f.rmse, "rmse of this target");
  v("nll_standardized", f.nll, "nll of this target, in nats a row");
  v("crps_standardized", f.crps, "crps of this target");
  v("width_standardized", f.width, "width of the intervals of this target");
  v("rmse_constant_standardized", f.rmse_constant, "rmse_constant of this target");
  v("nll_constant_standardized", f.nll_constant, "nll_constant of this target");
}

/// Scores of numbers and counts, in the target's units.
struct NumberScores {
  double mae = 0, rmse = 0, width = 0, interval_score = 0;
  std::optional<double> crps = {}, rmse_constant = {};  // of numbers
  std::optional<StandardizedScores> standardized = {};  // of numbers
};

template <class V>
void describe(NumberScores& f, V& v) {
  v("mae", f.mae, "mean absolute error: of the median, of counts of the mean");
  v("rmse", f.rmse, "root mean squared error of the mean");
  v("width", f.width, "mean width of the intervals");
  v("interval_score", f.interval_score, "mean interval score (Gneiting and Raftery 2007, eq. 43)");
  v("crps", f.crps, "continuous ranked probability score; of numbers");
  v("rmse_constant", f.rmse_constant, "RMSE of the targets' mean for every row; of numbers that differ");
  v.part(f.standardized);
}

/// Scores of rows that share their inputs and so one error: each of the different inputs counts once.
struct InputScores {
  int64_t different_inputs = 0;
  double coverage_of_inputs = 0;
};

template <class V>
void describe(InputScores& f, V& v) {
  v("different_inputs", f.different_inputs, "number of different inputs; where rows share their inputs");
  v("coverage_of_inputs", f.coverage_of_inputs, "coverage with each of the different inputs counted once");
}

/// The expected calibration error in other numbers of bins than 15.
struct OtherBins {
  double ece_10 = 0, ece_20 = 0, ece_30 = 0, ece_width_10 = 0, ece_width_20 = 0, ece_width_30 = 0;
};

template <class V>
void describe(OtherBins& f, V& v) {
  v("ece_10", f.ece_10, "ece in 10 bins; not of pixels");
  v("ece_20", f.ece_20, "ece in 20 bins; not of pixels");
  v("ece_30", f.ece_30, "ece in 30 bins; not of pixels");
  v("ece_width_10", f.ece_width_10, "ece_width in 10 bins; not of pixels");
  v("ece_width_20", f.ece_width_20, "ece_width in 20 bins; not of pixels");
  v("ece_width_30", f.ece_width_30, "ece_width in 30 bins; not of pixels");
}

/// Scores of classes, and of pixels that have one.
struct ClassScores {
  double accuracy = 0, brier = 0, ece = 0, mce = 0, ece_width = 0;
  std::optional<OtherBins> other_bins = {};
  double f1_macro = 0;
  std::optional<double> f1 = {}, auroc = {}, aupr = {}, set_size = {}, empty = {};
  double base_rate = 0;
  std::string base_class = {};
  std::vector<std::string> classes = {};
  std::optional<std::vector<std::vector<int64_t>>> confusion = {};
};

template <class V>
void describe(ClassScores& f, V& v) {
  v("accuracy", f.accuracy, "share of the answers whose most probable class is the true one; of classes");
  v("brier", f.brier, "squared error of the probabilities, summed over the classes, 0 to 2");
  v("ece", f.ece, "expected calibration error in 15 bins of equal mass");
  v("mce", f.mce, "maximum calibration error in these bins");
  v("ece_width", f.ece_width, "expected calibration error in 15 bins of equal width");
  v.part(f.other_bins);
  v("f1_macro", f.f1_macro, "mean F1 over the classes that are true or predicted in some row");
  v("f1", f.f1, "F1 of the second of two classes");
  v("auroc", f.auroc, "area under the ROC curve of the probability of the second of two classes");
  v("aupr", f.aupr, "average precision of the probability of the second of two classes");
  v("set_size", f.set_size, "mean number of classes in a set; of a calibrated model");
  v("empty", f.empty, "share of the rows with an empty set; of a calibrated model");
  v("base_rate", f.base_rate, "accuracy of the most frequent class for every row");
  v("base_class", f.base_class, "name of the most frequent class");
  v("classes", f.classes, "names of the classes");
  v("confusion", f.confusion,
    "number of rows by true and predicted class, also with weights; for at most 100 classes");
}

/// Pixels binned by the probability of their most probable class. Images take no weights: theirs have none.
struct PixelBins {
  std::vector<double> confidence = {}, accuracy = {}, rows = {};
  std::optional<std::vector<double>> weight = {};
};

template <class V>
void describe(PixelBins& f, V& v) {
  v("confidence", f.confidence, "mean probability of the most probable class in each bin");
  v("accuracy", f.accuracy, "share of right answers in each bin");
  v("rows", f.rows, "number of rows in each bin, of segmentation of pixels");
  v("weight", f.weight, "sum of the weights of the rows in each bin; with weights");
}

/// Scores of a segmentation beside those of ClassScores, over the labelled pixels.
struct PixelScores {
  int64_t pixels = 0, unlabelled = 0;
  double miou = 0, mpa = 0, mean_entropy = 0, mean_mutual_information = 0;
  std::map<std::string, double> iou = {}, class_accuracy = {};
  std::vector<std::string> absent = {};
  PixelBins reliability = {};
  ErrorsReport errors = {};
};

template <class V>
void describe(PixelScores& f, V& v) {
  v("pixels", f.pixels, "number of labelled pixels; of segmentation");
  v("void", f.unlabelled, "number of pixels without a class, which are left out");
  v("miou", f.miou, "mean intersection over union of the classes that some pixel has");
  v("mpa", f.mpa, "mean pixel accuracy of these classes");
  v("mean_entropy", f.mean_entropy, "mean entropy of a pixel, in nats");
  v("mean_mutual_information", f.mean_mutual_information, "mean mutual information of a pixel, in nats");
  v("iou", f.iou, "intersection over union of each class that some pixel has");
  v("class_accuracy", f.class_accuracy, "share of right pixels of each of these classes");
  v("absent", f.absent, "names of the classes that no labelled pixel has");
  v("reliability", f.reliability, "confidence and accuracy in 15 bins of equal mass; of classes and pixels");
  v("errors", f.errors, "how well scores of uncertainty tell the wrong answers; of classes and of pixels");
}

/// Scores of an intensity of events.
struct EventScores {
  double nll_uniform = 0, expected = 0;
  std::optional<double> expected_error = {};
};

template <class V>
void describe(EventScores& f, V& v) {
  v("nll_uniform", f.nll_uniform, "nll of the uniform density; of events");
  v("expected", f.expected, "number of events that the model expects in the domain");
  v("expected_error", f.expected_error, "its estimated error; if it exceeds 1e-4 of it");
}

/// Scores of a forecast without a model, and the model's on the same windows (model/persistence.h).
struct ForecastScores {
  int64_t n = 0;
  std::optional<double> accuracy = {}, mae = {}, rmse = {}, mae_standardized = {}, rmse_standardized = {};
  std::optional<double> model_accuracy = {}, model_mae = {};
  std::optional<std::string> season = {};
};

template <class V>
void describe(ForecastScores& f, V& v) {
  v("n", f.n, "number of windows for which the forecast has a value");
  v("accuracy", f.accuracy, "accuracy; of classes");
  v("mae", f.mae, "mean absolute error; of numbers and counts");
  v("rmse", f.rmse, "root mean squared error; of numbers and counts");
  v("mae_standardized", f.mae_standardized, "mae of the target divided by its sd in training; of numbers");
  v("rmse_standardized", f.rmse_standardized, "rmse of the target divided by its sd in training; of numbers");
  v("model_accuracy", f.model_accuracy, "accuracy of the model on these windows");
  v("model_mae", f.model_mae, "mean absolute error of the model on these windows");
  v("season", f.season, "length of the season, such as 24 steps; of seasonal_persistence");
}

/// The metrics of a model's answers to n examples (Model::evaluate). A part that the kind of answer lacks is
/// empty: `numbers` is that of numbers and counts, `classes` that of classes, which a segmentation has beside
/// `pixels`, `events` that of an intensity. With weights of the examples, means and shares are by the weights
/// and total_weight and effective_rows are there; what is called a number of examples or rows counts them.
struct Evaluation {
  int64_t n = 0;
  double nll = 0;
  std::optional<double> nll_constant = {}, coverage = {}, coverage_online = {};
  std::optional<NumberScores> numbers = {};
  std::optional<InputScores> inputs = {};
  std::optional<ClassScores> classes = {};
  std::optional<PixelScores> pixels = {};
  std::optional<EventScores> events = {};
  std::optional<ForecastScores> persistence = {}, seasonal_persistence = {};
  std::optional<size_t> left_out = {};
  std::optional<double> total_weight = {}, effective_rows = {};
};

template <class V>
void describe(Evaluation& f, V& v) {
  v("n", f.n, "number of examples");
  v("nll", f.nll, "negative log likelihood, in nats a row, pixel or event");
  v("nll_constant", f.nll_constant,
    "NLL of one answer for every row: one Gaussian, one Poisson rate or the class frequencies");
  v("coverage", f.coverage, "share of the targets inside their intervals, or of the classes in their sets");
  v("coverage_online", f.coverage_online, "coverage of intervals that follow the targets; if adaptive");
  v.part(f.numbers);
  v.part(f.inputs);
  v.part(f.classes);
  v.part(f.pixels);
  v.part(f.events);
  v("persistence", f.persistence, "scores of the last target that a window sees; of windows");
  v("seasonal_persistence", f.seasonal_persistence, "scores of the target one season before; of windows");
  v("left_out", f.left_out, "number of examples without a finite answer, which are left out");
  v("total_weight", f.total_weight,
    "sum of the weights of the examples; with weights, by which all means are");
  v("effective_rows", f.effective_rows,
    "number of equally weighted examples that say as much (Kish): squared sum of the weights by the sum of "
    "their squares; with weights");
}

/// The metrics of the rows that a score of uncertainty keeps: one number for each share.
struct KeptRowMetrics {
  bool constant = false;
  std::optional<std::vector<double>> accuracy = {}, mae = {}, rmse = {}, nll = {};
  std::map<std::string, double> gain = {};
  std::optional<std::map<std::string, double>> gain_share = {};
};

template <class V>
void describe(KeptRowMetrics& f, V& v) {
  v("constant", f.constant, "whether the score is the same for all rows, so that it selects none");
  v("accuracy", f.accuracy, "accuracy at each share; of classes");
  v("mae", f.mae, "mean absolute error at each share: of the median, of counts of the mean");
  v("rmse", f.rmse, "root of the expected squared error of the mean at each share");
  v("nll", f.nll, "negative log likelihood at each share, in nats a row");
  v("gain", f.gain, "improvement of each metric from the first share to the last; positive is better");
  v("gain_share", f.gain_share,
    "gain of mae and rmse divided by the metric of all rows; absent where that is 0");
}

/// Selective prediction by each score of uncertainty.
struct SelectiveReport {
  std::string score = {};
  std::vector<double> share = {};
  std::vector<int64_t> rows = {};
  std::map<std::string, KeptRowMetrics> by = {};
};

template <class V>
void describe(SelectiveReport& f, V& v) {
  v("score", f.score, "name of the score to look at first");
  v("share", f.share, "shares of the rows that are kept");
  v("rows", f.rows, "number of rows that each share keeps; with weights of equally weighted rows");
  v("by", f.by, "the metrics of the kept rows, for each score");
}

/// Rows binned by the probability of their most probable class.
struct ReliabilityBins {
  std::vector<double> confidence, accuracy;
  std::vector<int64_t> rows;
  std::optional<std::vector<double>> weight = {};
};

template <class V>
void describe(ReliabilityBins& f, V& v) {
  v("confidence", f.confidence, "mean probability of the most probable class in each bin");
  v("accuracy", f.accuracy, "share of right answers in each bin");
  v("rows", f.rows, "number of rows in each bin");
  v("weight", f.weight, "sum of the weights of the rows in each bin; with weights");
}

/// The calibration curve of Gaussian intervals.
struct CurveFact {
  std::vector<double> level = {}, coverage = {};
  double area = 0;
  std::optional<std::vector<double>> coverage_epistemic = {};
  std::optional<double> area_epistemic = {};
};

template <class V>
void describe(CurveFact& f, V& v) {
  v("level", f.level, "19 nominal levels");
  v("coverage", f.coverage, "share of the rows in the Gaussian interval of each level");
  v("area", f.area, "mean distance between coverage and level");
  v("coverage_epistemic", f.coverage_epistemic, "the same of intervals of the epistemic sd alone");
  v("area_epistemic", f.area_epistemic, "mean distance of these from the level");
}

/// The intervals of the epistemic sd alone.
struct EpistemicReport {
  double coverage = 0, width = 0, width_standardized = 0;
};

template <class V>
void describe(EpistemicReport& f, V& v) {
  v("coverage_epistemic", f.coverage, "coverage of the intervals of the epistemic sd alone");
  v("width_epistemic", f.width, "their mean width, in the target's units");
  v("width_epistemic_standardized", f.width_standardized, "their mean width, in sds of the target");
}

/// The metrics that judge the uncertainty of an answer, beside those of an Evaluation.
struct UncertaintyReport {
  SelectiveReport selective = {};
  std::optional<ErrorsReport> errors = {};
  std::optional<ReliabilityBins> reliability = {};
  std::optional<CurveFact> calibration_curve = {};
  std::optional<EpistemicReport> epistemic = {};
};

template <class V>
void describe(UncertaintyReport& f, V& v) {
  v("selective", f.selective, "the metrics if only the rows are answered that the model is most certain of");
  v("errors", f.errors, "how well the scores tell the wrong answers; of classes");
  v("reliability", f.reliability, "confidence and accuracy in 15 bins of equal mass; of classes");
  v("calibration_curve", f.calibration_curve, "coverage of the Gaussian intervals of each level; of numbers");
  v.part(f.epistemic);
}

/// The metrics of answers and those that judge their uncertainty, whose keys stand side by side in JSON.
struct AnswerMetrics {
  Evaluation evaluation = {};
  std::optional<UncertaintyReport> uncertainty = {};  // empty for events and segmentation
};

template <class V>
void describe(AnswerMetrics& f, V& v) {
  v.part(f.evaluation);
  v.part(f.uncertainty);
}

/// The projector of a key layer, from which the score "residual" comes (inducing/gradient_projection.h).
struct ProjectorFact {
  std::string layer = {};
  int64_t columns = 0, directions = 0;
  double rank = 0;
  int64_t kept = 0;
};

template <class V>
void describe(ProjectorFact& f, V& v) {
  v("layer", f.layer, "label of the layer");
  v("columns", f.columns, "inducing columns of the layer");
  v("directions", f.directions, "directions of the gradients of the training rows");
  v("rank", f.rank, "trace of the projector");
  v("kept", f.kept, "number of directions that take the projector's place; 0 where it serves");
}

/// The scores of joint answers to several targets, beside those of the same answers taken as independent.
struct JointEvaluation {
  int64_t n = 0, complete = 0;
  double nll_joint = 0, nll_independent = 0, nll_gain = 0, energy = 0, energy_independent = 0,
         energy_gain = 0, level = 0;
  std::optional<double> nll_gain_se = {}, energy_gain_se = {}, region_coverage = {}, region_volume = {};
  std::string lower = {};
};

template <class V>
void describe(JointEvaluation& f, V& v) {
  v("n", f.n, "number of rows with a known target");
  v("complete", f.complete, "number of these rows in which all targets are known");
  v("nll_joint", f.nll_joint, "NLL of the known targets of a row, in nats; with counts no likelihood");
  v("nll_independent", f.nll_independent, "sum of their NLLs, in nats a row");
  v("nll_gain", f.nll_gain, "mean of nll_independent minus nll_joint; positive: joint answers are better");
  v("nll_gain_se", f.nll_gain_se, "standard error of these paired differences; of more than one row");
  v("energy", f.energy, "energy score of joint draws, of targets divided by their sds");
  v("energy_independent", f.energy_independent, "energy score of the draws without correlation");
  v("energy_gain", f.energy_gain, "mean of energy_independent minus energy; positive: joint is better");
  v("energy_gain_se", f.energy_gain_se, "standard error of these paired differences");
  v("level", f.level, "level of the joint regions");
  v("region_coverage", f.region_coverage, "share of the complete rows with all targets in the region");
  v("region_volume", f.region_volume, "mean volume of the regions, of targets divided by their sds");
  v("lower", f.lower, "the answers with the lower NLL: joint or independent");
}

}  // namespace slimbayes
