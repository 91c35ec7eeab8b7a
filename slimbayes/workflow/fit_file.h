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
  std::optional<Model> model;  // absent where the fit was interrupted before anything was chosen
  nlohmann::json valid, test;  // Model::evaluate of the held-out examples; null where there are none
  std::vector<std::string> notes;
  bool interrupted = false;
};

/// The report of Model::evaluate on those of the examples that have an answer, the others named in `notes`;
/// null of none.
nlohmann::json report_on(const Model& model, const Examples& examples, double level,
                         std::vector<std::string>& notes);

/// A part of the examples that the model was fitted on: "train", "valid", "calibration" or "test". Throws
/// std::invalid_argument for other examples (data_hash) and an empty part.
Examples part_of(const Model& model, const Examples& examples, const std::string& part);

/// One fit to one file that loses nothing: an interrupted or failed fit leaves MODEL.ckpt, from which `resume`
/// goes on to the same bits; the model is written last, after everything that may fail, and an older file stays
/// until then. The checkpoint and the finished model carry a fingerprint of everything but the program that
/// decides the result, so that `resume` can tell "go on", "already done" and "another fit" apart; the model of
/// an interrupted fit has none. A lock keeps other processes from both files as long as this object lives.
class FitFile {
 public:
  /// Throws DataError where the files cannot be written, or another process fits them. What an older model's
  /// mode denies to others, new files of this process deny.
  FitFile(std::filesystem::path model, bool resume, double checkpoint_every = 2);

  /// Fits and writes. `callback` hears the notes as they come and says when to stop. Where a fit was
  /// interrupted and the validation chose its parameters, the best so far is written. Throws as fit_model,
  /// std::invalid_argument for a file of another fit with `resume`; one that fails keeps its checkpoint,
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
