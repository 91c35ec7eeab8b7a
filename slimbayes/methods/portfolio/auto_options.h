#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "slimbayes/catalog/input_kind.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/catalog/option.h"
#include "slimbayes/catalog/task.h"

namespace slimbayes {

/// Options of `auto`, which fits several methods, its candidates, and answers with all of them together.
struct AutoOptions {
  std::string candidates = "by-size";
  std::string combine = "stack";
  std::string log_target = "auto";
  std::string tails = "auto";
  int64_t folds = 5;
  std::string fits = "needed";
  double time_limit = 0;
};

template <class V>
void describe(AutoOptions& o, V& v) {
  v("candidates", o.candidates,
    "methods to try, comma-separated; by-size: chosen by the task and the number of rows",
    ValueName{"METHODS"}, "slimbayes");
  v("combine", o.combine,
    "stack: all together, with the weights of the best held-out NLL (a mixture; of classes the weighted "
    "product "
    "of the probabilities); best: the one candidate with the best NLL, which is smaller and predicts faster",
    Choices{{"stack", "best"}}, "Yao et al. 2018");
  v("log_target", o.log_target,
    "whether the candidates learn the logarithm of a positive target; auto: where that predicts the held-out "
    "rows better",
    Choices{{"auto", "never", "always"}}, "slimbayes");
  v("tails", o.tails,
    "tails of the answer to a regression; auto: those of a Student-t distribution, or of a few wild rows "
    "with a variance of their own, where the held-out rows ask for it",
    Choices{{"auto", "gaussian"}}, "slimbayes");
  v("folds", o.folds, "folds that score the candidates where there are no validation rows", Range{2, 20},
    "slimbayes");
  v("fits", o.fits,
    "needed: without the fit to all rows of a candidate that gets no weight and, of numbers, without fits "
    "that add next to nothing: those of a candidate to further folds, and those with further seeds; all: "
    "every fit",
    Choices{{"needed", "all"}}, "slimbayes");
  v("time_limit", o.time_limit,
    "seconds of the whole call, from reading the data to the model file; what they do not allow is left out, "
    "and said; 0: about 60 for the fits of up to 1,000 rows, 600 of 50,000",
    Range{0, 1e9}, "slimbayes");
}

/// Returns what `fit` and `describe` say of the wild part of a candidate's density: its share, and the factor
/// of its variance beside the rest. If the factor is near 1, the second Gaussian only shapes the density, and
/// the text does not call rows wild.
std::string wild_text(double share, double factor);

/// A method that `auto` tries by itself.
struct PortfolioEntry {
  const char* method;
  int64_t copies;      // fits where one set of validation rows scores it
  int64_t least_rows;  // numbers of rows for which it is worth its time
  int64_t most_rows;
  /// A network of a recipe of its own, which is tried only where another candidate has shown that the target
  /// has little noise; "": that of the method.
  const char* network = "";
};

/// Returns the methods that `auto` tries for a task and a kind of input, the cheap and robust ones first.
/// Those that do not take this input are left out later.
std::span<const PortfolioEntry> portfolio(TaskKind task, InputKind kind);

/// Returns the names in AutoOptions::candidates; empty for "by-size".
std::vector<std::string> candidate_names(const std::string& text);

/// Returns those of the given options that the method has itself.
nlohmann::json options_among(const MethodInfo& info, const nlohmann::json& given);

/// Checks the options and returns all of them. Options of candidates, which may be given in the same object,
/// come under kPassedOn. It is the MethodInfo::resolve of `auto`. Throws std::invalid_argument for an option
/// that neither auto nor a candidate has, a value out of range, or a candidate that is no method or is auto
/// itself.
nlohmann::json resolve_auto(const nlohmann::json& given);

/// The largest number of rows of a table that `auto` scores in folds. Larger ones have enough validation
/// rows.
inline constexpr int64_t kMostFoldRows = 3000;

/// That of a table of classes, whose networks and trees cost less.
inline constexpr int64_t kMostFoldRowsOfClasses = 10000;

}  // namespace slimbayes
