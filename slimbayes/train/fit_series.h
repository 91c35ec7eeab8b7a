#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/trainer.h"

namespace slimbayes {

/// Fits that follow one another under one checkpoint, such as the members of an ensemble: `policy.path` holds
/// what they left so far (the record), `policy.path`.<i> the i-th one's own checkpoint while it runs. Series
/// nest. Without a path nothing is written.
class FitSeries {
 public:
  /// `kind` stands in the record and tells it from other checkpoints. `callback` (not owned, may be nullptr)
  /// gets a note where a record cannot be written.
  FitSeries(CheckpointPolicy policy, std::string kind, Callback* callback = nullptr);

  /// The record that an earlier run left, to go on from. Nothing where there is none or no wish to resume:
  /// then a fresh, empty one is written. Throws std::invalid_argument for another fit's, DataError for a
  /// damaged one; it says in `done` that 0 to `fits` of them are finished, and the caller compares that with
  /// what it finds (read_contents()).
  std::optional<TensorFile> start(int64_t fits) const;

  /// "the checkpoint 'm.ckpt'".
  std::string name() const;

  /// The checkpoint of the i-th fit.
  CheckpointPolicy part(int64_t i) const;

  /// Writes the record of the first `done` fits; their own checkpoints go. Where it cannot be written they
  /// stay.
  void keep(TensorFile record, int64_t done) const;

 private:
  CheckpointPolicy policy_;
  std::string kind_;
  Callback* callback_;
};

}  // namespace slimbayes
