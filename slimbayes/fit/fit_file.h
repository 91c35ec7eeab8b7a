#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/export.h"
#include "slimbayes/fit/fit_outcome.h"
#include "slimbayes/fit/resolved_fit.h"
#include "slimbayes/storage/file_lock.h"

namespace slimbayes {

/// Fits a model and writes it to one model file without losing work. An interrupted or failed fit leaves the
/// checkpoint MODEL.ckpt; `resume` continues from it to bit-identical results. The model is written last,
/// after everything that may fail; an older model file stays until then.
///
/// The checkpoint and the finished model carry a fingerprint of everything that decides the result, except
/// the program itself. With it, `resume` tells whether the files belong to this fit, unfinished or finished,
/// or to another fit. The model of an interrupted fit has no fingerprint, so it never counts as finished. A
/// lock keeps other processes from both files while this object exists.
class SLIMBAYES_EXPORT FitFile {
 public:
  /// Throws DataError if the files cannot be written or another process fits to them. If an older model file
  /// denies permissions to group and others, the files that this process creates from now on deny them too.
  /// `checkpoint_every` is in seconds. In a fit by several processes each makes this object; those of a rank
  /// above 0 (`writes` is false) neither lock nor write a file.
  FitFile(std::filesystem::path model, bool resume, double checkpoint_every = 2, bool writes = true);

  /// Fits the model and writes it. `examples` are the windows of a time series, not its table; `valid` is
  /// separate validation data or nullptr; `notes` are notes on the data. `callback` receives all notes as
  /// they arise and decides when to stop. An interrupted fit writes its best model if validation rows chose
  /// the parameters. Without validation rows it writes the model only if that replaces no older model file.
  /// Throws as fit_resolved, and std::invalid_argument if `resume` finds the file of another fit. A failed
  /// fit keeps its checkpoint, unless the arguments were invalid and no training had begun.
  FitOutcome fit(const ResolvedFit& request, const Examples& examples, const Examples* valid,
                 const std::vector<std::string>& notes, Callback& callback) const;

  /// What the constructor was given.
  const std::filesystem::path& model() const { return model_; }
  bool resumes() const { return resume_; }
  double checkpoint_every() const { return checkpoint_every_; }

 private:
  class SLIMBAYES_NO_EXPORT Watched;
  class SLIMBAYES_NO_EXPORT Checkpoint;
  /// Fits the model. Returns nothing if the fit was interrupted before it had a model worth keeping;
  /// `callback` then gets a note.
  std::optional<Model> run(const ResolvedFit& request, const FitData& data, const CheckpointPolicy& policy,
                           const Checkpoint& checkpoint, Callback& callback) const;
  /// Tells `callback` whether the fit starts anew although a checkpoint exists or was expected, whether the
  /// file system has no locks, and the notes on the data.
  void announce(const Checkpoint& checkpoint, const std::vector<std::string>& notes,
                Callback& callback) const;
  /// Fits the model on a rank above 0, which says and writes nothing.
  FitOutcome follow(const ResolvedFit& request, const FitData& data, const CheckpointPolicy& policy,
                    Callback& callback) const;
  /// Writes the model, with its fingerprint unless the fit was interrupted.
  void write(const FitOutcome& out, const std::string& fingerprint) const;
  std::filesystem::path model_, checkpoint_;
  bool resume_;
  double checkpoint_every_;
  std::optional<FileLock> lock_;  // set by the constructor, after its checks; none where nothing is written
};

}  // namespace slimbayes
