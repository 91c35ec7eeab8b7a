#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/trainer.h"

namespace slimbayes {

/// Several fits, one after another, that share one checkpoint, such as the members of an ensemble. The file
/// `policy.path` is the record: it holds the results of the finished fits. The file `policy.path`.<i> is the
/// checkpoint of fit i while it runs. A fit may itself be a series. If the path is empty, nothing is written.
class FitSeries {
 public:
  /// `kind` is stored in the record to distinguish it from other checkpoints. `callback` (not owned, may be
  /// nullptr) gets a note if the record cannot be written.
  FitSeries(CheckpointPolicy policy, std::string kind, Callback* callback = nullptr);

  /// Returns the record that an earlier run left. If there is none, or policy.resume is false, writes an
  /// empty record and returns nothing. The record's metadata `done` is the number of finished fits, from 0 to
  /// `fits`. The caller must check, within read_contents(), that the record holds the results of that many
  /// fits. Throws std::invalid_argument if the record belongs to another fit; while no fit is finished, only
  /// the fingerprint of the training is compared. Throws DataError if the record is damaged.
  std::optional<TensorFile> start(int64_t fits) const;

  /// Returns whether the checkpoint to resume from is the record of a series of this kind. False if
  /// policy.resume is false or there is no file.
  bool recorded() const;

  /// Returns the record's name in messages, such as "the checkpoint 'm.ckpt'".
  std::string name() const;

  /// Returns the checkpoint policy of fit i: the path `policy.path`.<i> and a fingerprint that names the fit.
  CheckpointPolicy part(int64_t i) const;

  /// Writes `record`, the results of the first `done` fits, then removes the checkpoints of these fits. If
  /// the record cannot be written, the callback gets a note and the checkpoints stay.
  void keep(TensorFile record, int64_t done) const;

 private:
  CheckpointPolicy policy_;
  std::string kind_;
  Callback* callback_;
};

}  // namespace slimbayes
