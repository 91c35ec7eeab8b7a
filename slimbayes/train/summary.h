#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/export.h"

namespace slimbayes {

/// Why a fit ended: the budget was used, the validation score did not improve, the time limit was reached,
/// the caller stopped it, the optimiser made no further progress, or a numerical failure (a note describes
/// it).
enum class Stopped : uint8_t { budget, patience, time, interrupted, converged, failure };

/// Returns the reason's name in reports and model files, such as "budget".
SLIMBAYES_EXPORT std::string_view name_of(Stopped stopped);

/// What a fit did: its rows, steps, score and notes. The model file saves it.
struct SLIMBAYES_EXPORT Summary {
  int64_t rows = 0, valid_rows = 0;
  int64_t steps = 0, epochs = 0, best_epoch = 0;
  /// The name of the score that chose the kept parameters; lower is better. Usually it is the NLL of the
  /// validation rows (for a regression, of the standardised target). It is the mean squared error for a
  /// regression with dnn, and -log evidence per training row for gp-exact.
  std::string score = "score";
  /// The score of the kept parameters; NaN (JSON: null) if there was no score to choose by.
  double best_score = std::numeric_limits<double>::quiet_NaN();
  /// Training time in seconds, including earlier runs that this one resumed, without the fits of the folds
  /// that estimate the noise (fit/noise_folds.h). It is not saved, so that equal fits give equal files.
  double seconds = 0;
  Stopped stopped = Stopped::budget;
  /// What computed the passes of the networks: "engine", "libtorch" or, of several fits, "engine, libtorch";
  /// "": no network was trained.
  std::string trained_by = "";
  /// The jitter with which the Cholesky factorisation behind the predictions succeeded: a number added to the
  /// diagonal of the matrix, as a share of its mean diagonal. 0: none was needed.
  double jitter = 0;
  std::vector<std::string> notes;  // sentences that the user should read, such as warnings
  std::vector<std::string> facts;  // sentences about what the fit chose, such as a prior sd; not warnings

  /// Returns the summary in one line of text. `noun` is the word for one example: "row", "window", "image".
  std::string brief(std::string_view noun = "row") const;
};

template <class V>
void describe(Summary& f, V& v) {
  v("rows", f.rows, "number of examples that the model learned from");
  v("valid_rows", f.valid_rows, "number of examples that chose among parameters");
  v("steps", f.steps, "number of steps of the optimiser; 0 where nothing was trained by steps");
  v("epochs", f.epochs, "number of passes over the examples");
  v("best_epoch", f.best_epoch, "epoch of the kept parameters");
  v("score", f.score, "name of the score that chose the kept parameters; lower is better");
  v("best_score", f.best_score, "score of the kept parameters; null without one");
  v("seconds", f.seconds,
    "training time, that of earlier runs included and that of noise folds not; not in the model file");
  v("stopped", f.stopped, "why the fit ended: budget, patience, time, interrupted, converged or failure");
  v("trained_by", f.trained_by,
    "what computed the passes of the networks: engine, libtorch or both; empty where no network was trained");
  v("jitter", f.jitter,
    "added to the diagonal of a factorised matrix, as a share of its mean; 0: none was needed");
  v("notes", f.notes, "sentences that the user should read, such as warnings");
  v("facts", f.facts, "sentences about what the fit chose");
}

/// Returns whether the parameters of a fit are usable for prediction: the fit ended by itself, or the caller
/// stopped it after a validation score had chosen parameters or, without validation rows, after the first
/// step.
SLIMBAYES_EXPORT bool is_usable(const Summary& summary);

/// Returns the summary as JSON, without `seconds`.
SLIMBAYES_EXPORT nlohmann::json to_json(const Summary& summary);
/// Reads a summary from JSON. An absent key keeps its default. Throws std::invalid_argument for a value of
/// another type, a count below 0, or a number that is not finite.
SLIMBAYES_EXPORT Summary summary_from_json(const nlohmann::json& json);

}  // namespace slimbayes
