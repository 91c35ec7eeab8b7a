#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/trainer.h"

namespace slimbayes {

/// Several fits, one after another, that share one checkpoint, such as the members of an ensemble.
/// `policy.path` holds the results of the finished fits (the record); `policy.path`.<i> is the checkpoint of
/// fit i while it runs. A fit may itself be a series. If the path is empty, nothing is written.
class FitSeries {
 public:
  /// `kind` is stored in the record to distinguish it from other checkpoints. `callback` (not owned, may be
  /// nullptr) gets a note if the record cannot be written.
  FitSeries(CheckpointPolicy policy, std::string kind, Callback* callback = nullptr);

  /// Returns the record that an earlier run left. If there is none, or policy.resume is false, writes an
  /// empty record and returns nothing. The record's metadata `done` is the number of finished fits, 0 to
  /// `fits`. The caller must check that the record holds the results of that many fits (read_contents()).
  /// Throws std::invalid_argument if the record belongs to another fit; while no fit is finished, only the
  /// fingerprint of the training is compared. Throws DataError if the record is damaged.
  std::optional<TensorFile> start(int64_t fits) const;

  /// Returns whether the checkpoint to resume from is the record of a series of this kind.
  bool recorded() const;

  /// Returns the record's name in messages, such as "the checkpoint 'm.ckpt'".
  std::string name() const;

  /// Returns the checkpoint policy of the i-th fit.
  CheckpointPolicy part(int64_t i) const;

  /// Writes the record of the first `done` fits, then removes their own checkpoints. If the record cannot be
  /// written, the callback gets a note and those checkpoints stay.
  void keep(TensorFile record, int64_t done) const;

 private:
  CheckpointPolicy policy_;
  std::string kind_;
  Callback* callback_;
};

}  // namespace slimbayes
