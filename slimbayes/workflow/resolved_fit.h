#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/method_choices.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// A request in which every choice that the options leave open has been made. Later stages of a fit do not
/// choose a method or its options.
struct ResolvedFit {
  FitOptions fit;            // `method` is named; `options`: given ones and the preset's
  const MethodInfo* method;  // never null
  nlohmann::json options;    // all options of the method, with those of a network at hand
  const MethodInfo* inner;   // the member method of a wrapper such as ensemble, else `method`
  bool by_task;              // no method was named: the target's task chose it
  InputKind kind;            // of the examples
  std::string scale;         // of numeric inputs: "min-max" or "standard"
  int threads;               // during the fit; 0: the process's number of threads
  /// The model whose network the fit takes (FitOptions::network_from); nullptr: the method trains its own.
  std::shared_ptr<const Model> network;
};

/// Makes the choices that `fit` leaves open and checks the request as a whole: the kind of the examples, the
/// columns, the fractions, the method with its options, and the network. `examples` may still be the table of
/// a time series. `network` is network_asked(fit) if it was read before; otherwise it is read here. If a
/// target column decides the task, the task is checked later, when the column is encoded. Throws
/// std::invalid_argument, and DataError for a model file that cannot be read.
ResolvedFit resolve_fit(const Examples& examples, FitOptions fit, const MethodChoices& choices = {},
                        std::shared_ptr<const Model> network = nullptr);

/// Checks the options on the target, and that a table has the target's column. Throws std::invalid_argument.
void check_target(const Examples& examples, const FitOptions& options);

/// Returns the task that the options ask for on these examples. Throws std::invalid_argument if the target is
/// absent.
TaskKind task_asked(const Examples& examples, const FitOptions& options);

/// Returns the kind of input that the options ask for.
InputKind kind_asked(const Examples& examples, const FitOptions& options);

/// Returns the number of threads for kThreadsOfMethod: 1 for a method that trains a network, else 0 (as many
/// as the process uses).
int fit_threads(const MethodInfo& method);

/// Returns the table behind the examples; for windows, the table of their series; nullptr for images.
const Table* table_of(const Examples& examples);

}  // namespace slimbayes
