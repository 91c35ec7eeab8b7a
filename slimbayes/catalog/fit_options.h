#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/catalog/input_kind.h"
#include "slimbayes/catalog/option.h"
#include "slimbayes/catalog/task.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// The value of FitOptions::threads that leaves the number of threads to the method: 1 for a method that
/// trains by gradient steps, else the process's number of threads. A gradient step is too short to gain from
/// more threads, and the threads would wait for each other while the machine does other work.
inline constexpr int kThreadsOfMethod = -1;

/// The value of FitOptions::threads that keeps the process's number of threads, for a caller that has set it.
inline constexpr int kThreadsOfProcess = 0;

/// Upper limits of the options below: kLongestWindow for the rows of a window and of the horizon, kMostWords
/// for the words of a vocabulary, kLongestText for the tokens of a text.
inline constexpr int64_t kLongestWindow = 100000, kMostWords = int64_t{1} << 24,
                         kLongestText = int64_t{1} << 16;

/// The options of a fit. The function describe() at the end of this file lists `target`, `share_network` and
/// every field from `likelihood` on. The command-line flags, the fingerprint by which --resume recognises a
/// fit, and the options in the model file are derived from that list; the other fields are handled one by
/// one.
struct FitOptions {
  /// Column to predict; empty for events and images. For fit_joint also several columns of a table,
  /// comma-separated (targets_of in data/fit_examples.h).
  std::string target = "";
  /// Of several targets, all numbers: trains one network with an output for each of them in the place of one
  /// a target (fit/joint/shared_network_fit.h). For a method that starts from a trained network.
  bool share_network = false;
  std::string method = "";  // name of the method; empty: the default for the target's task
  nlohmann::json options = nlohmann::json::object();  // the method's own; absent keys keep their defaults
  uint64_t seed = 0;                                  // seed of the initial weights and the batches
  std::vector<std::string> tune = {};  // method options that are chosen by a grid search on validation NLL
  double level = 0.95;             // coverage of the reported intervals; calibration needs enough rows for it
  int threads = kThreadsOfMethod;  // threads during the fit; 0: the process's number of threads
  /// How many independent fits run beside each other where the fit consists of several (train/jobs.h), with
  /// one thread each. 0: `threads` of them, or by default one for each core of the process.
  int workers = 0;
  /// Where networks are trained, as device_of() of core/device.h takes it: "cpu", "cuda", "cuda:1", or
  /// "auto", the first accelerator that is there. It is no part of what makes a model, and a model file does
  /// not keep it.
  std::string device = "cpu";

  std::optional<LikelihoodKind> likelihood = {};  // empty: chosen from the values of the target's column
  std::vector<std::string> ignore = {};           // columns that are not inputs
  /// Column with the weight of each row, from 0 on; it is no input. A row of weight w counts as w equal rows,
  /// and one of weight 0 is in no part of the fit. "": each row counts once.
  std::string weights = "";
  /// "importance": the weights are divided by their mean over the training rows, so that the posterior rests
  /// on as many rows as there are; "counts": it rests on the sum of the weights.
  std::string weights_are = "importance";
  std::vector<std::string> categorical = {};  // columns of categories, even if cells look like numbers
  std::vector<std::string> na = {};  // further texts of a missing cell, such as "-,-999" (comma-separated)
  std::string thousands = "";        // sign between groups of three digits in a text file: , . ' or a blank
  std::string decimal = ".";         // decimal sign of the numbers in a text file, "." or ","
  std::string separator = ",";       // sign between the columns of a .csv: , ; | or tab
  std::string date_format = "";      // of dates in a text file beside ISO 8601, such as "%d.%m.%Y"
  std::string scale = "auto";        // scale of numeric inputs: "min-max", "standard" or the method's choice
  std::string scale_on = "train";    // rows that the scale is computed from: "train" or "all"
  std::string target_scale = "standard";  // scale of a numeric target: "standard" or "centred" (mean 0)
  /// Values between which a regression's target lies by its nature, "LOW,HIGH" (bounds_named of
  /// catalog/task.h); an end may be empty. "": none. A model file keeps it only if it is set.
  std::string bounds = "";
  std::string domain = "";  // region of events: LOW:HIGH for each coordinate, comma-separated
  /// Rows of a table with a wrong cell (data/rows/wild_rows.h): "leave-out" or "keep".
  std::string wild_cells = "leave-out";

  int64_t window = 0;                   // consecutive rows that a forecast sees; 0: not a time series
  int64_t horizon = 1;                  // rows from the last row that a forecast sees to the predicted row
  std::vector<std::string> time = {};   // columns that give the time, also for the split "time" of a table
  std::vector<std::string> group = {};  // columns whose values tell one series from another
  bool fill_gaps = false;               // insert rows at missing steps and carry missing inputs forward

  std::string text = "";       // column of text, the only input if it is set
  int64_t vocabulary = 20000;  // number of the most frequent training words that have a token of their own
  int64_t longest = 256;       // tokens per text; the rest is cut off

  std::string format = "auto";  // format of the data file; auto: from its name and first bytes
  int64_t crop = 0;             // largest random shift of a training image, in pixels
  bool flip = false;            // mirror half of the training images, left to right
  /// Pixels are divided by this number; 0: each channel is standardised by the training images.
  double pixel_divisor = 0;

  double valid_fraction = 0.1;  // share of all examples, rounded up, that choose the best parameters
  double test_fraction = 0;     // share of all examples, rounded up, that only the report uses
  /// "grouped": equal inputs stay together; "random"; "auto"; "time": the latest rows of a table are held
  /// out.
  std::string split = "auto";
  uint64_t split_seed = 0;  // seed of the split; `seed` does not change the split
  /// With test_folds above 0 the examples are dealt into so many folds, and the test part is the fold with
  /// the number test_fold, from 0, in the place of a random part. Not for a split by time. compare() sets
  /// both.
  int64_t test_folds = 0, test_fold = 0;

  /// Model file of an earlier fit. The new fit takes its trained network, its encoder of the inputs and, for
  /// the same data, its split. Empty: the fit trains its own network.
  std::string network_from = "";
  std::string engine = "auto";  // what computes the networks of a fit: "auto" or "libtorch"

  std::string calibrate = "none";  // none, conformal or adaptive
  /// Column by whose cells the calibration is done group by group (answers/calibration/group_calibration.h);
  /// "": all rows together. Predictions need it too, also if it is no input.
  std::string calibrate_by = "";
  double calibration_fraction = 0.1;  // share of all examples to calibrate on; unused without calibration
  /// Number of folds of the cross-fitting that estimates the noise of a regression. It runs only if there are
  /// few validation rows or they show that the sd is too small (fit/noise_folds.h). 0: never.
  int64_t noise_folds = 5;
};

/// Returns what one example is according to the options: segmentation if `format` is camvid, images if it
/// names another image format, text if `text` is set, windows if `window` is above 0, else a table row.
/// Throws std::invalid_argument for options of two kinds of input at once, for `group` without `window`, and
/// for `time` without `window` or the split "time".
SLIMBAYES_EXPORT InputKind input_kind(const FitOptions& options);

/// Returns the columns that are no inputs beside the target: those of FitOptions::ignore and that of the
/// weights.
SLIMBAYES_EXPORT std::vector<std::string> ignored_columns(const FitOptions& options);

/// Returns the texts in FitOptions::na, one by one: each entry is split at its commas, and empty texts are
/// dropped. A cell with such a text counts as missing.
SLIMBAYES_EXPORT std::vector<std::string> marks_of(const FitOptions& options);

/// Throws std::invalid_argument if an option that this kind of input does not use differs from its default,
/// such as --horizon without --window.
SLIMBAYES_EXPORT void check_sections(const FitOptions& options, InputKind kind);

/// Throws std::invalid_argument unless valid_fraction and test_fraction lie in [0, 1), with calibration
/// calibration_fraction in (0, 1), and pixel_divisor is 0 or lies in [1, 255].
SLIMBAYES_EXPORT void check_fractions(const FitOptions& options);

/// The first bytes of an IDX file of images: two zeros, 8 for elements of one byte, 3 for three dimensions
/// (image, row, column).
inline constexpr std::string_view kIdxImages("\0\0\x08\x03", 4);

/// Returns "idx" if the file holds images in IDX format: its name contains "idx3", as in MNIST's
/// train-images-idx3-ubyte.gz, or it begins with kIdxImages. Else returns "": the file may be a table. A
/// compressed file is judged by its name alone; format_of (data/images/images.h) also looks inside it.
SLIMBAYES_EXPORT std::string image_format(const std::filesystem::path& path);

/// The endings of the names of table files, in lower case.
inline constexpr std::array kTableEndings = {".csv",     ".csv.gz",  ".tsv",   ".tsv.gz",
                                             ".parquet", ".feather", ".arrow", ".ipc"};

/// Returns whether the name has one of kTableEndings, in upper or lower case. read_table refuses other files.
SLIMBAYES_EXPORT bool is_table_name(const std::filesystem::path& path);

/// Returns whether the name is that of a gzip file that is not a table: it ends in .gz, but not in .csv.gz or
/// .tsv.gz.
SLIMBAYES_EXPORT bool is_packed_data(const std::filesystem::path& path);

inline constexpr const char *kColumnSection = "Target and columns",
                            *kWindowSection = "Windows of a time series", *kTextSection = "Text",
                            *kImageSection = "Images";

namespace detail {

/// Returns the help text of --likelihood, which names the methods that take those that few take.
SLIMBAYES_EXPORT std::string likelihood_help();

/// Returns the help text of --share-network, which names the methods that take such a network.
SLIMBAYES_EXPORT std::string share_network_help();

/// Returns the help text of --network-from, which names the methods that train the network further.
SLIMBAYES_EXPORT std::string network_from_help();

/// Describes how the cells of a text file are read.
template <class V>
void describe_cells(FitOptions& o, V& v) {
  v("na", o.na,
    "further texts that mean a missing cell, comma-separated, such as -,-999. An empty cell, NA, NaN, null, "
    "None and ? always do. The model reads later data in the same way",
    ValueName{"TEXT"}, "");
  v("thousands", o.thousands,
    "sign between groups of three digits in a text file: , . ' or a blank. With `.thousands=,` the cell "
    "\"1,234.5\" is a number; digits in other groups are none. The model reads later data in the same way",
    ValueName{"SIGN"}, "");
  v("decimal", o.decimal,
    "decimal sign of the numbers in a text file, . or a comma. With `.thousands=.` and `.decimal=,` the cell "
    "\"1.234,5\" is 1234.5, and 1.5 no number",
    ValueName{"SIGN"}, "");
  v("separator", o.separator,
    "sign between the columns of a .csv: a comma, ; | or tab. A .tsv has tabs. The model reads later data in "
    "the same way, and answers are written with commas",
    ValueName{"SIGN"}, "");
  v("date_format", o.date_format,
    "format of the dates in a text file where it is not ISO 8601, such as \"%d.%m.%Y\" or \"%m/%d/%Y "
    "%H:%M\": "
    "%d day, %m month, %b its English name, %Y year, %y of two digits, %H hours (%I with %p for AM and PM), "
    "%M "
    "minutes, %S seconds. ISO dates stay dates. The model reads later data in the same way",
    ValueName{"FORMAT"}, "");
}

template <class V>
void describe_columns(FitOptions& o, V& v) {
  v.section(kColumnSection);
  v("target", o.target,
    "column to predict, or several of a table, comma-separated, which one model then predicts together; not "
    "needed for images and for `.likelihood=cox`",
    ValueName{"COLUMN"}, "");
  v("share_network", o.share_network, share_network_help(), "Caruana 1997");
  v("likelihood", o.likelihood, likelihood_help(), "");
  v("ignore", o.ignore, "columns that are not used as inputs, comma-separated", ValueName{"COLUMN"}, "");
  v("weights", o.weights,
    "column with the weight of each row, a number from 0 on. A row of weight 2 counts as two equal rows; one "
    "of weight 0 is left out. The column is no input, and predict does not need it",
    ValueName{"COLUMN"}, "");
  v("weights_are", o.weights_are,
    "importance: how much each row matters beside the others; the weights are divided by their mean over the "
    "training rows, so that the posterior is as sure as of that many rows. counts: how many equal rows each "
    "row stands for; the posterior is as sure as of the sum of the weights",
    Choices{{"importance", "counts"}}, "");
  v("categorical", o.categorical,
    "columns whose cells name categories, even if they look like numbers (codes, years), comma-separated",
    ValueName{"COLUMN"}, "");
  describe_cells(o, v);
  v("scale", o.scale,
    "scale of numeric inputs. min-max: to [-1, 1]; standard: mean 0, sd 1; auto: the method's choice",
    Choices{{"auto", "min-max", "standard"}}, "N section 4");
  v("scale_on", o.scale_on,
    "rows that this scale is computed from: train, or all rows, held-out rows too, as in the papers' tables",
    Choices{{"train", "all"}}, "N appendix B");
  v("target_scale", o.target_scale,
    "scale of a numeric target in training. standard: mean 0, sd 1; centred: mean 0 in its own units; the "
    "priors and the initial noise of the methods are then in these units",
    Choices{{"standard", "centred"}}, "R appendix C");
  v("bounds", o.bounds,
    "values between which a target of numbers lies by its nature, such as 0,1 for shares; 0, (no second "
    "number) for numbers above 0. The fit then sees log((y - LOW) / (HIGH - y)), or the logarithm of the "
    "distance to the only bound, and all answers lie within the bounds",
    ValueName{"LOW,HIGH"}, "Johnson 1949");
  v("wild_cells", o.wild_cells,
    "rows of a table with a cell of the target or of an input that lies far beyond all others, as a typing "
    "error does. leave-out: they are no part of the fit, and a note names the cells; keep: they are fitted",
    Choices{{"leave-out", "keep"}}, "Hill 1975");
  v("domain", o.domain,
    "region in which events can happen: LOW:HIGH for each coordinate, comma-separated, such as 0:1,0:2",
    ValueName{"LOW:HIGH,..."}, "");
}

template <class V>
void describe_windows(FitOptions& o, V& v) {
  v.section(kWindowSection);
  v("window", o.window,
    "number of consecutive rows that a forecast sees, with the target's values in them; 0: the rows are not "
    "a time series",
    Range{0, kLongestWindow}, "");
  v("horizon", o.horizon, "number of rows from the last row seen to the row that is predicted",
    Range{1, kLongestWindow}, "");
  v("time", o.time,
    "the column of times, or several columns named year, month, day, hour, minute, second, comma-separated. "
    "Also for `.split=time`",
    ValueName{"COLUMN"}, "");
  v("group", o.group, "columns whose values tell one series from another, comma-separated",
    ValueName{"COLUMN"}, "");
  v("fill_gaps", o.fill_gaps,
    "insert a row for each missing time in gaps shorter than a window, and give it the last known inputs. "
    "Without it no window crosses a gap: one missing hour costs `.window` forecasts. predict, evaluate and "
    "update fill gaps as the fit did",
    "");
}

template <class V>
void describe_text(FitOptions& o, V& v) {
  v.section(kTextSection);
  v("text", o.text, "column of text, which is then the only input", ValueName{"COLUMN"}, "");
  v("vocabulary", o.vocabulary,
    "number of words with a token of their own: the most frequent ones of the training rows",
    Range{1, kMostWords}, "");
  v("longest", o.longest, "largest number of tokens of a text; the rest is cut off", Range{1, kLongestText},
    "");
}

template <class V>
void describe_images(FitOptions& o, V& v) {
  v.section(kImageSection);
  v("format", o.format,
    "format of the data. idx: grey images, with the labels in a file beside them (MNIST); cifar10, cifar100: "
    "their binary records; camvid: records of a 96 x 128 label map and its colour image, for segmentation; "
    "auto: idx for a file that begins as one or has idx3 in its name, camvid for one that begins with a "
    "label map, else a table",
    Choices{{"auto", "table", "idx", "cifar10", "cifar100", "camvid"}}, "");
  v("crop", o.crop,
    "largest random shift of a training image, in pixels. The uncovered edge is the reflected image; a label "
    "map moves with its image",
    Range{0, 1024}, "He et al. 2016");
  v("flip", o.flip, "mirror a random half of the training images, left to right", "He et al. 2016");
  v("pixel_divisor", o.pixel_divisor,
    "number from 1 to 255 by which every pixel, from 0 to 255, is divided: 255 for inputs from 0 to 1, 126 "
    "as "
    "in some papers; 0: each channel to mean 0, sd 1 of the training images",
    Range{0, 255}, "Blundell et al. 2015 (126)");
}

template <class V>
void describe_split(FitOptions& o, V& v) {
  v.section("Split");
  v("valid_fraction", o.valid_fraction,
    "share of all examples for validation: the training keeps the parameters that score best on them",
    Range{0, 1}, "");
  v("test_fraction", o.test_fraction, "share of all examples that only the final report uses", Range{0, 1},
    "");
  v("split", o.split,
    "grouped: examples with identical inputs stay in the same part\nrandom: each example by itself\nauto: "
    "grouped, but random if one input is too frequent to be held out, or if inputs repeat more than ten "
    "times on average; windows are split by time\ntime: the latest rows of a table are held out, in the "
    "order "
    "training, validation, calibration, test; rows of one time stay together. `.time` names the column, by "
    "default the only one of dates",
    Choices{{"auto", "grouped", "random", "time"}}, "");
  v("split_seed", o.split_seed, "seed of the split; `.seed` does not change the split",
    Range{0, 18446744073709549568.0}, "");
}

template <class V>
void describe_calibration(FitOptions& o, V& v) {
  v.section("Calibration");
  v("calibrate", o.calibrate,
    "conformal: scale the intervals (for classes, choose sets of classes) so that they hold their level on "
    "examples kept for this; examples with identical inputs count once. adaptive: of windows of numbers, "
    "begin so and follow the targets that `slimbayes update` brings, so that the level holds in the long "
    "run whatever the series does. none: the intervals of the model",
    Choices{{"none", "conformal", "adaptive"}},
    "Romano, Sesia and Candes 2020; Angelopoulos, Candes and Tibshirani 2023");
  v("calibrate_by", o.calibrate_by,
    "column of groups: with `.calibrate=conformal` each of its cells has a calibration of its own, so that "
    "the level holds within each group and not only on average. Groups with too few calibration rows share "
    "that of all rows, and a note names them. predict needs the column, also if `.ignore` names it",
    ValueName{"COLUMN"}, "Vovk et al. 2005; Romano et al. 2020");
  v("calibration_fraction", o.calibration_fraction, "share of all examples kept for the calibration",
    Range{0, 1}, "");
  v("noise_folds", o.noise_folds,
    "number of folds that estimate the noise of a regression by cross-fitting, which takes as many more "
    "fits; 0: never. They run only with at most 2,000 training rows, and only if there are fewer than 30 "
    "validation rows or these show that the sd is too small",
    Range{0, 1000}, "Stone 1974; Geisser 1975");
}

}  // namespace detail

template <class V>
void describe(FitOptions& o, V& v) {
  detail::describe_columns(o, v);
  detail::describe_windows(o, v);
  detail::describe_text(o, v);
  detail::describe_images(o, v);
  detail::describe_split(o, v);
  v.section("Network");
  v("network_from", o.network_from, detail::network_from_help(), ValueName{"FILE"}, "");
  v("engine", o.engine,
    "what computes the networks while they are trained. auto: the engine of slimbayes where it knows every "
    "layer, else libtorch; libtorch: libtorch always, as a reference",
    Choices{{"auto", "libtorch"}}, "");
  detail::describe_calibration(o, v);
}

}  // namespace slimbayes
