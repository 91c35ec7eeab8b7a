#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace slimbayes::cli {

/// Returns the sizes of the layers of a model with inducing weights, from the facts of its file (network and
/// tensors), as a list of objects: `layer`, `out` and `in` of its matrix (with the bias as a column, if it is
/// one), `rows` and `columns` of the inducing matrix, `parameters` that are stored, those of a deterministic
/// layer (`dense`), and the `flow` ("none", "certified" or "paper"). Empty for another model, and for a
/// damaged file.
nlohmann::json inducing_layers(const nlohmann::json& facts);

/// Returns what the file holds for the score of foreign rows (the "residual" of models with inducing
/// weights) as a list of objects: `layer` and `numbers`. Empty for another model, and for a damaged file.
nlohmann::json foreign_score_layers(const nlohmann::json& facts);

/// Returns multiply_adds() of the network in the file; nothing for a model without one and a damaged file.
std::optional<int64_t> pass_cost(const nlohmann::json& facts);

/// Returns one line per matrix that the file holds in a smaller form: as a product A B^T of random factors,
/// or by inducing weights, with the parameters and bytes of each; "" if there is none.
std::string layers_text(const nlohmann::json& facts);

}  // namespace slimbayes::cli
