#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/method_choices.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// A fit with every choice made that its options leave open. No later stage of a fit chooses a method or its
/// options.
struct ResolvedFit {
  FitOptions fit;            // `method` is named; `options` are the given ones and those of the preset
  const MethodInfo* method;  // never null
  nlohmann::json options;    // every option of the method; of a network at hand, its own
  const MethodInfo* inner;   // the member method of a method that wraps another, else `method`
  bool by_task;              // the target's task chose the method: none was named
  InputKind kind;            // of the examples
  std::string scale;         // of numeric inputs: "min-max" or "standard"
  int threads;               // while it fits; 0: the process's number of threads
  /// The model whose network the fit takes (FitOptions::network_from); nullptr: the method trains its own.
  std::shared_ptr<const Model> network;
};

/// Makes the choices that `fit` leaves open and checks the request as a whole: the kind of the examples, the
/// columns, the fractions, the method with its options, and the network. `examples` may still be the table of
/// a time series. `network` is network_asked(fit) if it was read before; else it is read here. Throws
/// std::invalid_argument, and DataError for a model file that cannot be read. (The task of a table whose
/// target's column decides it is checked when that column is encoded.)
ResolvedFit resolve_fit(const Examples& examples, FitOptions fit, const MethodChoices& choices = {},
                        std::shared_ptr<const Model> network = nullptr);

/// Checks the options that concern the target, and that a table has the target's column. Throws
/// std::invalid_argument.
void check_target(const Examples& examples, const FitOptions& options);

/// Returns the task that the options ask for on these examples. Throws std::invalid_argument if the target is
/// absent.
TaskKind task_asked(const Examples& examples, const FitOptions& options);

/// Returns the kind of input that the options ask for.
InputKind kind_asked(const Examples& examples, const FitOptions& options);

/// Returns the number of threads that kThreadsOfMethod stands for: 1 for a method that trains a network, else
/// 0 (as many as the process uses).
int fit_threads(const MethodInfo& method);

/// Returns the table behind the examples, of windows the one of their series; nullptr for images.
const Table* table_of(const Examples& examples);

}  // namespace slimbayes
