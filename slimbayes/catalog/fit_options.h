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

namespace slimbayes {

/// The value of FitOptions::threads that leaves the choice to the method: 1 thread for methods that train by
/// gradient steps, else the process's number of threads. Gradient steps are too short to gain from more
/// threads, and several threads would wait for each other if the machine does other work too.
inline constexpr int kThreadsOfMethod = -1;

/// Bounds of the options below: rows of a window and of a horizon, words of a vocabulary, tokens of a text.
inline constexpr int64_t kLongestWindow = 100000, kMostWords = int64_t{1} << 24,
                         kLongestText = int64_t{1} << 16;

/// The options of a fit. describe() lists `target` and every field from `likelihood` on; the command-line
/// flags, the fingerprint of a resumed fit and the model file are derived from that list.
struct FitOptions {
  std::string target = "";  // column to predict; empty for events and for images, which have no columns
  std::string method = "";  // empty: default_method() of the target's task
  nlohmann::json options = nlohmann::json::object();  // the method's own; absent keys keep their defaults
  uint64_t seed = 0;                                  // seed of the initial weights and the batches
  std::vector<std::string> tune = {};  // method options to choose by validation NLL (workflow/tuning.h)
  double level = 0.95;  // coverage of the reported intervals; the calibration rows must suffice for it
  int threads = kThreadsOfMethod;  // threads while it fits; 0: the process's number of threads

  std::optional<LikelihoodKind> likelihood = {};  // empty: chosen from the target's column
  std::vector<std::string> ignore = {};           // columns that are not inputs
  std::vector<std::string> categorical = {};      // columns of names, as given to read_table (Reading::names)
  std::vector<std::string> na = {};  // further texts of a missing cell (Reading::missing); see marks_of()
  std::string scale = "auto";        // of numeric inputs: min-max or standard; auto: MethodInfo::input_scale
  std::string scale_on = "train";    // rows that determine the inputs' range: "train", or "all" as in N
  std::string target_scale = "standard";  // of a regression's target: "standard" or "centred", see Task
  std::string domain = "";                // for events: LOW:HIGH for each coordinate, comma-separated

  int64_t window = 0;   // rows that a forecast sees; 0: the rows are not a time series
  int64_t horizon = 1;  // rows from the last one seen to the one that is predicted
  /// time: columns that give the time. group: columns whose values tell one series from another.
  std::vector<std::string> time = {}, group = {};
  bool fill_gaps = false;  // insert rows at missing steps and carry missing inputs forward (data/gaps.h)

  std::string text = "";       // column of text, the only input if it is set
  int64_t vocabulary = 20000;  // number of the most frequent training words that have a token of their own
  int64_t longest = 256;       // tokens per text; the rest is cut off

  std::string format = "auto";  // format of an image file; auto: by the file
  int64_t crop = 0;             // largest random shift of a training image, in pixels
  bool flip = false;            // mirror half of the training images, left to right

  /// Shares of all examples, rounded up: valid chooses the best parameters, test is kept for the final
  /// report.
  double valid_fraction = 0.1;
  double test_fraction = 0;
  std::string split = "auto";  // grouped, random or auto
  uint64_t split_seed = 0;     // seed of the split alone

  /// Model file whose trained network, encoder and, for the same data, split the fit takes; empty: none.
  std::string network_from = "";

  std::string calibrate = "none";     // none or conformal
  double calibration_fraction = 0.1;  // share of all examples to calibrate on; unused without calibration
  /// Folds that estimate the noise of a regression where validation rows are few or put it in doubt; 0: none
  /// (workflow/noise_folds.h).
  int64_t noise_folds = 5;
};

/// Returns what one example is according to the options. Throws std::invalid_argument for options of two
/// kinds of input at once, and for `time` or `group` without `window`.
InputKind input_kind(const FitOptions& options);

/// Returns the further texts of a missing cell: the comma-separated parts of FitOptions::na.
std::vector<std::string> marks_of(const FitOptions& options);

/// Throws std::invalid_argument if an option of another kind of input differs from its default, such as
/// --horizon without --window.
void check_sections(const FitOptions& options, InputKind kind);

/// Throws std::invalid_argument unless valid_fraction and test_fraction lie in [0, 1) and, with calibration,
/// calibration_fraction in (0, 1).
void check_fractions(const FitOptions& options);

/// The first bytes of an IDX file of images: bytes in three dimensions.
inline constexpr std::string_view kIdxImages("\0\0\x08\x03", 4);

/// Returns the format of the images in a file: "idx" if its name contains "idx3", as in MNIST's
/// train-images-idx3-ubyte.gz, or if it begins as such a file; else "", which stands for a table. A packed
/// file is judged by its name alone (see format_of in data/images.h).
std::string image_format(const std::filesystem::path& path);

/// The ends of the names of tables, in lower case.
inline constexpr std::array kTableEndings = {".csv",     ".csv.gz",  ".tsv",   ".tsv.gz",
                                             ".parquet", ".feather", ".arrow", ".ipc"};

/// Returns whether the name ends as that of a table (kTableEndings), in capitals or not. read_table refuses
/// others.
bool is_table_name(const std::filesystem::path& path);

/// Returns whether the name is that of a packed file, but not of a packed table (.csv.gz, .tsv.gz).
bool is_packed_data(const std::filesystem::path& path);

inline constexpr const char *kColumnSection = "Target and columns",
                            *kWindowSection = "Windows of a time series", *kTextSection = "Text",
                            *kImageSection = "Images";

template <class V>
void describe(FitOptions& o, V& v) {
  const char* kNone = "";
  v.section(kColumnSection);
  v("target", o.target, "column to predict; not needed for images and for --likelihood cox", kNone);
  v("likelihood", o.likelihood,
    "gaussian: numbers; bernoulli, softmax: classes; poisson: counts; cox: rows are events; auto: text, "
    "booleans and two different whole numbers are classes, other numbers gaussian",
    kNone);
  v("ignore", o.ignore, "columns that are no inputs, comma-separated", kNone);
  v("categorical", o.categorical,
    "columns of names, however their cells look (codes, years), comma-separated", kNone);
  v("na", o.na,
    "further texts of a missing cell, comma-separated (-, -999), beside an empty cell, NA, NaN, null, None "
    "and ?; the model reads its data so too",
    kNone);
  v("scale", o.scale, "of numeric inputs; auto: the method's own", Choices{{"auto", "min-max", "standard"}},
    "N section 4");
  v("scale_on", o.scale_on,
    "rows that give the numeric inputs' range: train, or all as in the papers' tables",
    Choices{{"train", "all"}}, "N appendix B");
  v("target_scale", o.target_scale,
    "of a target of numbers in training. standard: mean 0, sd 1; centred: mean 0, in its own units, in which "
    "the priors and initial noises of the methods then count",
    Choices{{"standard", "centred"}}, "R appendix C");
  v("domain", o.domain, "of events: LOW:HIGH for each coordinate, comma-separated", kNone);

  v.section(kWindowSection);
  v("window", o.window, "rows that a forecast sees, the target's past among them; 0: rows are no time series",
    Range{0, kLongestWindow}, kNone);
  v("horizon", o.horizon, "rows from the last one seen to the one that is predicted",
    Range{1, kLongestWindow}, kNone);
  v("time", o.time, "column of times, or those named year, month, day, hour, minute, second, comma-separated",
    kNone);
  v("group", o.group, "columns that tell one series from another, comma-separated", kNone);
  v("fill_gaps", o.fill_gaps,
    "insert a row at each missing time (of gaps below a window), and carry missing inputs forward from the "
    "last known cells; without it no window reaches over a gap, so that one missing hour costs --window "
    "forecasts. predict, evaluate and update then do the same",
    kNone);

  v.section(kTextSection);
  v("text", o.text, "column of text, the input; other columns are not used", kNone);
  v("vocabulary", o.vocabulary, "most frequent words of the training rows that have a token of their own",
    Range{1, kMostWords}, kNone);
  v("longest", o.longest, "tokens of a text; the rest is cut off", Range{1, kLongestText}, kNone);

  v.section(kImageSection);
  v("format", o.format,
    "idx: grey images, labels in a file beside them (MNIST); cifar10, cifar100: records; auto: idx for a "
    "file that begins as one or has idx3 in its name, else a table",
    Choices{{"auto", "table", "idx", "cifar10", "cifar100"}}, kNone);
  v("crop", o.crop, "pixels by which a training image is shifted at most, at random", Range{0, 1024},
    "He et al. 2016");
  v("flip", o.flip, "mirror half of the training images, left to right", "He et al. 2016");

  v.section("Split");
  v("valid_fraction", o.valid_fraction, "share of all examples that choose the best parameters", Range{0, 1},
    kNone);
  v("test_fraction", o.test_fraction, "share of all examples kept for the final report", Range{0, 1}, kNone);
  v("split", o.split,
    "grouped: examples with identical inputs stay on one side\nrandom: one by one\nauto: grouped, but one by "
    "one where an input comes too often to be held out, or inputs come more than ten times on average; "
    "windows are split by time",
    Choices{{"auto", "grouped", "random"}}, kNone);
  v("split_seed", o.split_seed, "seed of the split alone, so that seeds share one",
    Range{0, 18446744073709549568.0}, kNone);

  v.section("Network");
  v("network_from", o.network_from,
    "model file whose trained network the fit starts from, with that model's columns and, for the same data, "
    "split: swag trains it on, every other method keeps it and computes what it adds to it",
    kNone);

  v.section("Calibration");
  v("calibrate", o.calibrate,
    "conformal: scale the intervals so that they hold their level on examples kept for this (those with "
    "identical inputs count once); of classes, sets that hold it; none: intervals of the Gaussian answer",
    Choices{{"none", "conformal"}}, "Romano, Sesia and Candes 2020");
  v("calibration_fraction", o.calibration_fraction, "share of all examples kept to calibrate on", Range{0, 1},
    kNone);
  v("noise_folds", o.noise_folds,
    "folds that estimate a regression's noise where fewer than 30 validation rows choose, or where these "
    "rows "
    "show that it is too small, and at most 2,000 "
    "train: as many more fits; 0 for none",
    Range{0, 1000}, "Stone 1974; Geisser 1975");
}

}  // namespace slimbayes
