#pragma once

#include <optional>

#include "slimbayes/method/method.h"

namespace slimbayes::contract {

/// Returns the rows of a table as an encoder makes them, in float32.
Dataset as_encoded(const Dataset& data);

/// Returns the answers to rows, windows or texts without libtorch: by the data of Fitted::answer_spec(),
/// after a model file has kept them; nullopt for a method that has none. A regression has no density.
std::optional<Predictive> served_answer(const Fitted& fitted, const Dataset& rows);

/// Throws Violation unless the method is served if it is `expected` to be, and then answers the rows as
/// predict() does: to 2e-6 of each number, and to 1e-8 of the largest one of its kind.
void serves(const Fitted& fitted, const Dataset& rows, bool expected);

/// Returns whether rows of a table, of this task, are served for this method.
bool is_served(std::string_view method, TaskKind task);

/// The same for windows and texts, with this network.
bool is_served(std::string_view method, TaskKind task, std::string_view network);

}  // namespace slimbayes::contract
