#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/storage/file_lock.h"
#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// The result of FitFile::fit: the fitted model, its held-out reports, and whether the fit was interrupted.
struct FitOutcome {
  std::optional<Model> model;  // absent if the fit was interrupted and no model was written
  /// Model::evaluate of the held-out examples; null if there are none or the fit was interrupted.
  nlohmann::json valid, test;
  std::vector<std::string> notes;
  bool interrupted = false;
};

/// Returns the report of Model::evaluate on the examples that have an answer, and adds a note on the others.
/// The report has count_inputs().
/// Returns null for no examples. Throws DataError if no example has an answer.
nlohmann::json report_on(const Model& model, const Examples& examples, double level,
                         std::vector<std::string>& notes);

/// Returns a part of the examples that the model was fitted on: "train", "valid", "calibration" or "test".
/// Throws std::invalid_argument if the model was fitted on other examples (their hash differs) or the part is
/// empty.
Examples part_of(const Model& model, const Examples& examples, const std::string& part);

/// Fits a model and writes it to one model file so that no work is lost. An interrupted or failed fit leaves
/// MODEL.ckpt, and `resume` continues from it to bit-identical results. The model is written last, after
/// everything that may fail; an older model file stays until then. The checkpoint and the finished model
/// carry a fingerprint of everything that decides the result, except the program itself. With it, `resume`
/// distinguishes a fit to continue, a finished fit, and another fit. The model of an interrupted fit has no
/// fingerprint. A lock keeps other processes from both files as long as this object lives.
class FitFile {
 public:
  /// Throws DataError if the files cannot be written or another process fits to them. Files that this process
  /// creates from then on deny to group and others what the mode of an older model file denies them.
  /// `checkpoint_every` is in seconds.
  FitFile(std::filesystem::path model, bool resume, double checkpoint_every = 2);

  /// Fits the model and writes it. `callback` receives the notes as they arise and decides when to stop. If
  /// the fit is interrupted, the best model so far is written when validation rows chose its parameters, or
  /// when there are no validation rows and no older model file. Throws as fit_model, and
  /// std::invalid_argument if `resume` finds the file of another fit. A fit that fails keeps its checkpoint,
  /// unless the arguments were invalid and no training began.
  FitOutcome fit(const Examples& examples, const FitOptions& options, const Examples* valid,
                 std::vector<std::string> notes, Callback& callback) const;

 private:
  class Watched;
  std::filesystem::path model_, checkpoint_;
  bool resume_;
  double checkpoint_every_;
  FileLock lock_;
};

}  // namespace slimbayes
