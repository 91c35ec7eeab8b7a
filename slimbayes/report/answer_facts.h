#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/catalog/fields.h"

namespace slimbayes {

// What a report says of the answers and their intervals, probabilities and scores: structs of
// catalog/fields.h.

/// The smallest and the largest share that chance explains.
using ChanceBand = std::pair<double, double>;

/// One score of the report, with its meaning and a verdict.
struct ScoreFact {
  std::string key, label;
  double value = 0;
  std::string word, verdict;
};

template <class V>
void describe(ScoreFact& f, V& v) {
  v("key", f.key, "name of the score in `report`");
  v("label", f.label, "name of the score for a person");
  v("value", f.value, "the score");
  v("word", f.word, "what the number means here, mostly beside that of a model without inputs");
  v("verdict", f.verdict, "good, fair, poor, or empty if the number alone says nothing");
}

/// Predicted against observed numbers or counts: lists of at most 1,000 rows, in the order of the mean.
struct PredictedRows {
  std::vector<int64_t> row;
  std::vector<double> target, mean, lower, upper;
  std::string says;
};

template <class V>
void describe(PredictedRows& f, V& v) {
  v("row", f.row, "number of each row in its file, from 1");
  v("target", f.target, "targets");
  v("mean", f.mean, "means of the answers, ascending");
  v("lower", f.lower, "lower ends of the intervals");
  v("upper", f.upper, "upper ends of the intervals");
  v("says", f.says, "how many targets lie outside their interval");
}

/// The coverage of the central intervals of each level.
struct CalibrationFact {
  std::vector<double> level, coverage;
  double area = 0;
  std::optional<std::vector<double>> level_calibrated = {}, coverage_calibrated = {};
  std::string says = {};
};

template <class V>
void describe(CalibrationFact& f, V& v) {
  v("level", f.level, "19 nominal levels");
  v("coverage", f.coverage,
    "share of the rows in the central interval of each level; a count at an end of its interval counts in "
    "part");
  v("area", f.area, "mean distance between coverage and level");
  v("level_calibrated", f.level_calibrated, "levels that the model can give a conformal interval of");
  v("coverage_calibrated", f.coverage_calibrated, "share of the rows in the conformal interval of each");
  v("says", f.says, "whether the intervals hold what they promise");
}

/// The histogram of the probability integral transform (Czado, Gneiting and Held 2009, section 2.1).
struct PitFact {
  std::vector<double> share;
  ChanceBand band;
  std::string says;
};

template <class V>
void describe(PitFact& f, V& v) {
  v("share", f.share, "share of the rows in each of equal bins from 0 to 1; of counts averaged");
  v("band", f.band, "least and largest share that chance explains");
  v("says", f.says, "the shape of the histogram, and how many bars lie outside the band");
}

/// A part of the rows: the share of hits among them (rows inside their interval, or of classes right answers)
/// beside what is expected.
struct PartOfRows {
  int64_t rows = 0;
  double share = 0, expected = 0;
  ChanceBand band;
  std::optional<double> width = {};
};

template <class V>
void describe(PartOfRows& f, V& v) {
  v("rows", f.rows, "number of rows");
  v("share", f.share, "share inside their interval; of classes the accuracy");
  v("expected", f.expected, "the level; of classes the mean confidence");
  v("band", f.band, "least and largest share that chance explains in 19 of 20 cases");
  v("width", f.width, "mean width of the intervals, in the target's units; absent for classes");
}

/// A quarter of the rows in the order of a number.
struct QuarterFact {
  PartOfRows part;
  double low = 0, high = 0;
};

template <class V>
void describe(QuarterFact& f, V& v) {
  v.part(f.part);
  v("low", f.low, "least value of the number in this quarter");
  v("high", f.high, "largest value of the number in this quarter");
}

struct QuarterFacts {
  std::vector<QuarterFact> mean, sd;
  std::string says;
};

template <class V>
void describe(QuarterFacts& f, V& v) {
  v("mean", f.mean, "the quarters in ascending order of the predicted mean");
  v("sd", f.sd, "the quarters in ascending order of the predicted sd");
  v("says", f.says, "the quarter whose coverage is least probable by chance");
}

/// The rows with one level of a categorical column.
struct LevelFact {
  PartOfRows part;
  std::string level;
};

template <class V>
void describe(LevelFact& f, V& v) {
  v.part(f.part);
  v("level", f.level, "the level, or (missing)");
}

/// The rows by the levels of one categorical or boolean column.
struct GroupFact {
  std::string column;
  std::vector<LevelFact> levels;
  std::string says;
};

template <class V>
void describe(GroupFact& f, V& v) {
  v("column", f.column, "name of the column");
  v("levels", f.levels, "its levels among these rows, 2 to 12");
  v("says", f.says, "the level whose share is least probable by chance");
}

/// How the intervals of numbers or counts hold their level.
struct CoverageFacts {
  CalibrationFact calibration;
  PitFact pit;
  QuarterFacts quarters;
  std::optional<SizeCoverage> sizes = {};
};

template <class V>
void describe(CoverageFacts& f, V& v) {
  v("calibration", f.calibration, "coverage of the intervals of each level");
  v("pit", f.pit, "histogram of the probability integral transform");
  v("quarters", f.quarters, "coverage by quarter of the predicted mean and sd");
  v("coverage_by_size", f.sizes, "coverage by the width of the interval; of at least 50 rows");
}

/// What only a report on numbers or counts has.
struct NumberFacts {
  PredictedRows predicted;
  CoverageFacts coverage;
  std::optional<ExcessRisk> conditional = {};
};

template <class V>
void describe(NumberFacts& f, V& v) {
  v("predicted", f.predicted, "predicted against observed, of at most 1,000 rows");
  v.part(f.coverage);
  v("conditional", f.conditional,
    "how far the coverage given the inputs is from the level at least (ERT); of tables");
}

/// Confidence and accuracy of the rows, binned by confidence.
struct ReliabilityFact {
  ReliabilityBins bins;
  double ece = 0;
  std::string says = {};
};

template <class V>
void describe(ReliabilityFact& f, V& v) {
  v.part(f.bins);
  v("ece", f.ece, "mean distance between confidence and accuracy (expected calibration error)");
  v("says", f.says, "whether the model is overconfident");
}

struct ConfusionFact {
  std::vector<std::string> classes;
  std::vector<std::vector<int64_t>> counts;
  std::string says;
};

template <class V>
void describe(ConfusionFact& f, V& v) {
  v("classes", f.classes, "names of the classes");
  v("counts", f.counts, "for each true class the number of rows answered as each class");
  v("says", f.says, "the most frequent mistake");
}

/// The accuracy if only the surest rows are answered.
struct SelectiveFact {
  std::vector<double> share;
  std::map<std::string, std::vector<double>> by;
  std::string says;
};

template <class V>
void describe(SelectiveFact& f, V& v) {
  v("share", f.share, "shares of the rows that are answered, 0.05 to 1");
  v("by", f.by, "for each score of uncertainty the accuracy of the rows answered");
  v("says", f.says, "whether the confidence tells right from wrong");
}

struct EntropyFact {
  std::vector<double> edges, right, wrong;
  std::string says;
};

template <class V>
void describe(EntropyFact& f, V& v) {
  v("edges", f.edges, "edges of bins of the entropy of an answer, 0 to log C nats");
  v("right", f.right, "number of rows answered rightly in each bin");
  v("wrong", f.wrong, "number of rows answered wrongly in each bin");
  v("says", f.says, "mean entropy of the wrong and of the right answers");
}

/// The prediction sets of a calibrated model.
struct SetFact {
  double level = 0, coverage = 0, size = 0;
  std::vector<double> sizes;
  std::string says;
};

template <class V>
void describe(SetFact& f, V& v) {
  v("level", f.level, "nominal level of the sets");
  v("coverage", f.coverage, "share of the rows whose set holds the true class");
  v("size", f.size, "mean number of classes in a set");
  v("sizes", f.sizes, "number of rows with 0, 1, ... classes in the set");
  v("says", f.says, "whether the sets hold what they promise");
}

/// What only a report on classes has.
struct ClassFacts {
  ReliabilityFact reliability;
  EntropyFact entropy;
  std::optional<ConfusionFact> confusion;
  std::optional<SelectiveFact> selective;
  std::optional<SetFact> sets;
};

template <class V>
void describe(ClassFacts& f, V& v) {
  v("reliability", f.reliability, "confidence and accuracy in 15 bins of equal mass");
  v("entropy", f.entropy, "histogram of the entropy of right and of wrong answers");
  v("confusion", f.confusion, "confusion matrix; absent for more than 100 classes");
  v("selective", f.selective, "accuracy of the surest answers; absent if no score tells rows apart");
  v("sets", f.sets, "prediction sets; absent for a model without calibration");
}

}  // namespace slimbayes
