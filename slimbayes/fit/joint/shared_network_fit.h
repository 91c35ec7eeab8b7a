#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slimbayes/data/input_encoder.h"
#include "slimbayes/fit/resolved_fit.h"
#include "slimbayes/fit/target_fit.h"
#include "slimbayes/method/method.h"
#include "slimbayes/method/shared_network.h"

namespace slimbayes {

// FitOptions::share_network: several targets of numbers share one trained network (method/shared_network.h).
//
// Rows      Those of each target are the rows of its own fit: rows with a wrong cell are left out for the
//           targets whose fit leaves them out. The network learns every row that one target has.
// Inputs    They are encoded alike for all targets, by scales and levels of all these training rows. A target
//           is standardised by its own rows, as in its own fit.
// Fits      The fit of a target starts from all layers of the network but the last, and its row of the last.
//           So the mean of its answers is that of the network, unless its method trains further. Noise folds
//           do not run: the network has seen the rows of every fold.
// Time      Of a time limit the network has half, the fits of the targets share the rest.

/// What the fit of one target takes from the network that all targets share.
struct GivenNetwork {
  std::shared_ptr<const InputEncoder> encoder;    // of the inputs on which the network was trained
  std::shared_ptr<const TrainedNetwork> network;  // with one output
  std::string note;                               // SplitRows::network_note
};

/// Throws std::invalid_argument unless the fit of a target, of this task, can start from a shared network:
/// for a method that takes no network, a task that is no regression, `refit`, a target that is not
/// standardised, and options of the network among those that are tuned.
void check_shares_network(const ResolvedFit& request, TaskKind task);

/// The encoded rows of all targets: target [n, k], NaN where a row lacks one.
struct SharedRows {
  Split parts;
  std::vector<std::shared_ptr<const InputEncoder>> encoders = {};  // one for each target, of the same inputs
  std::vector<int64_t> valid_rows = {};                            // number of validation rows of each target
};

/// Returns the rows of the targets of a table, whose fits target(0) to target(targets - 1) returns; `valid`
/// is separate validation data or nullptr. Throws as the fits of the targets do before they train.
SharedRows shared_rows(const Table& table, const Table* valid, size_t targets,
                       const std::function<TargetFit(size_t)>& target);

/// Trains the network. `first` is the fit of the first target, whose options serve all.
SharedNetwork train_on_rows(const SharedRows& rows, const ResolvedFit& first,
                            const CheckpointPolicy& checkpoint, Callback& callback);

/// Returns what the fit of the target with this number takes.
std::shared_ptr<const GivenNetwork> given_network(const SharedRows& rows, const SharedNetwork& network,
                                                  size_t target);

/// Gives it to the request of that fit.
void give(ResolvedFit& request, std::shared_ptr<const GivenNetwork> given);

}  // namespace slimbayes
