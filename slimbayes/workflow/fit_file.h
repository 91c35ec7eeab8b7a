#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/storage/file_lock.h"
#include "slimbayes/workflow/fit_data.h"
#include "slimbayes/workflow/resolved_fit.h"

namespace slimbayes {

/// The result of FitFile::fit: the fitted model, its held-out reports, and whether the fit was interrupted.
struct FitOutcome {
  std::optional<Model> model;  // absent if the fit was interrupted and no model was written
  /// Model::evaluate of the held-out examples; null if there are none or the fit was interrupted.
  nlohmann::json valid, test;
  std::vector<std::string> notes;
  bool interrupted = false;
};

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

  /// Fits the model and writes it. `examples` are the windows of a time series, not its table; `valid` holds
  /// validation data of their own, or is nullptr; `notes` are known of the data. `callback` receives all notes
  /// as they arise and decides when to stop. If the fit is interrupted, the best model so far is written when
  /// validation rows chose its parameters, or when there are no validation rows and no older model file.
  /// Throws as fit_resolved, and std::invalid_argument if `resume` finds the file of another fit. A fit that
  /// fails keeps its checkpoint, unless the arguments were invalid and no training began.
  FitOutcome fit(const ResolvedFit& request, const Examples& examples, const Examples* valid,
                 const std::vector<std::string>& notes, Callback& callback) const;

 private:
  class Watched;
  class Checkpoint;
  /// Runs the fit. Returns nothing if it was interrupted before it had a model worth keeping.
  std::optional<Model> run(const ResolvedFit& request, const FitData& data, const CheckpointPolicy& policy,
                           const Checkpoint& checkpoint, Callback& callback) const;
  /// Tells the user how the fit begins, and the notes on the data.
  void announce(const Checkpoint& checkpoint, const std::vector<std::string>& notes,
                Callback& callback) const;
  /// Writes the model, with the fingerprint unless the fit was interrupted.
  void write(const FitOutcome& out, const std::string& fingerprint) const;
  std::filesystem::path model_, checkpoint_;
  bool resume_;
  double checkpoint_every_;
  FileLock lock_;
};

}  // namespace slimbayes
