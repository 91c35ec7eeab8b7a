#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/method_choices.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/export.h"
#include "slimbayes/model/model.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

class StreamedRows;   // data/stream/streamed_rows.h
struct GivenNetwork;  // fit/joint/shared_network_fit.h

/// What several processes share of a fit (ResolvedFit::ranks).
enum class Parallel : uint8_t {
  by_size,  // the parts if there are at least as many as ranks, else the rows
  jobs,     // the independent parts: candidates of `auto`, combinations of a search, members (job_ranks.h)
  rows      // the rows of every batch and sum
};

/// A request in which every choice that the options leave open has been made. Later stages of a fit do not
/// choose a method or its options.
struct ResolvedFit {
  FitOptions fit;            // names the method; `options`: the user's and the preset's
  const MethodInfo* method;  // never null
  nlohmann::json options;    // all options of the method, with the values of `network`
  const MethodInfo* inner;   // the member method of a wrapper such as ensemble, else `method`
  bool by_task;              // no method was named: the target's task chose it
  InputKind kind;            // what one example is
  std::string scale;         // of numeric inputs: "min-max" or "standard"
  int threads;               // during one fit; 0: the process's number of threads
  int workers;               // independent fits beside each other (FitOptions::workers)
  /// The model whose network the fit takes (FitOptions::network_from); nullptr: the method trains its own.
  std::shared_ptr<const Model> network;
  /// When the user's call began, from which a time limit counts: set it if the data were read before
  /// resolve_fit().
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  /// The processes that make this fit together, each with the same data and request; nullptr: this one alone.
  std::shared_ptr<const Collective> ranks = {};
  Parallel parallel = Parallel::by_size;  // what those processes share
  /// The training rows, if they are read from disk (stream_training); the examples of the fit are then
  /// StreamedTable::rows. nullptr: the examples have all rows.
  std::shared_ptr<const StreamedRows> streamed = {};
  /// The parts of the examples, if the caller has dealt them: a fit of several targets deals its rows once
  /// for all (fit_joint). nullptr: deal_examples() does.
  std::shared_ptr<const SplitRows> dealt = {};
  /// The names of all targets, of the fit of one of several (fit_joint); empty: `fit.target` is the only one.
  std::vector<std::string> targets = {};
  /// The trained network that the method starts from, with the encoder of its inputs: of a fit of several
  /// targets that share a network (FitOptions::share_network). nullptr: none is given.
  std::shared_ptr<const GivenNetwork> given = {};
  /// Where networks are trained, and where the model of the fit answers until it is written
  /// (FitOptions::device).
  at::Device device = at::kCPU;

  /// The device of the method: the CPU for one that computes there alone.
  at::Device device_of_method() const { return inner->device ? device : at::Device(at::kCPU); }
};

/// Returns what the ranks of this fit share: Parallel::jobs or Parallel::rows. Throws std::invalid_argument
/// for what they cannot share: parts of a method that has none, or the rows of a fit whose parts depend on
/// the time that is left, which the clocks of the ranks tell differently.
SLIMBAYES_EXPORT Parallel shared_by_ranks(const ResolvedFit& request);

/// Makes the choices that `fit` leaves open and checks the request as a whole: the kind of the examples, the
/// columns, the fractions, the method with its options, and the network. `examples` may still be the table of
/// a time series (examples_of in data/fit_examples.h). `network` is the model that FitOptions::network_from
/// names, if the caller has read it already; otherwise it is read here. If the values of a target column
/// decide the task, the method is checked against the task later, when the column is encoded. Throws
/// std::invalid_argument, also for FitOptions::share_network, which is not for one target, and for a device
/// that this process cannot use, and DataError for a model file that cannot be read.
SLIMBAYES_EXPORT ResolvedFit resolve_fit(const Examples& examples, FitOptions fit,
                                         const MethodChoices& choices = {},
                                         std::shared_ptr<const Model> network = nullptr);

/// Returns the task that a fit with these options does on these examples; without FitOptions::likelihood the
/// target's column decides. Throws std::invalid_argument if the table lacks the target's column.
SLIMBAYES_EXPORT TaskKind task_asked(const Examples& examples, const FitOptions& options);

/// Returns the number of threads of a fit whose option `threads` is kThreadsOfMethod: 1 for a method that
/// trains by gradient steps (MethodInfo::resumable), else 0 (as many as the process uses).
SLIMBAYES_EXPORT int fit_threads(const MethodInfo& method);

/// Returns how many independent fits run at the same time, as FitOptions::workers and FitOptions::threads
/// say. By default one where a method of these computes on another device than the CPU: several would share
/// it and its memory. A method without a name is the default of a task, all of which compute there. The
/// options may be a user's. Throws as device_of() for FitOptions::device, and std::invalid_argument for an
/// unknown method where that is no CPU.
SLIMBAYES_EXPORT int fit_workers(const FitOptions& fit, const std::vector<MethodChoice>& methods);

}  // namespace slimbayes
