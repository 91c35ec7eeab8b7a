#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/encoding/row_encoder.h"
#include "slimbayes/encoding/single_text.h"
#include "slimbayes/encoding/windows/single_window.h"

namespace slimbayes {

/// The encoders of what is served: rows of a table, windows of a series, texts.
using ServedEncoder = std::variant<Encoder, WindowEncoder, TextEncoder>;

/// Reads the encoder of a model file, which may be untrusted. Throws std::invalid_argument for one that is
/// damaged, and for one of images.
ServedEncoder served_encoder(const nlohmann::json& json);

const Schema& schema_of(const ServedEncoder& encoder);
const std::string& target_of(const ServedEncoder& encoder);

/// What turns the cells of one input into the numbers that a model takes: of a row, a window or a text.
using InputCells = std::variant<RowEncoder, SingleWindowEncoder, SingleTextEncoder>;

/// `missing`: further texts of a missing cell (Reading::missing); `notation`: how cells spell numbers and
/// dates.
InputCells input_cells(const ServedEncoder& encoder, std::vector<std::string> missing,
                       const Notation& notation);

const std::vector<Encoder::Feature>& columns_of(const InputCells& cells);
size_t cells_of(const InputCells& cells);    // texts of an input
size_t numbers_of(const InputCells& cells);  // of an input, before it is encoded
int64_t width_of(const InputCells& cells);   // numbers of an encoded input

/// Returns the number in (0, 1) that decides on the last class of a prediction set: that of
/// example_uniforms() (model/example_uniforms.h). x: the encoded input.
double uniform_of(const InputCells& cells, std::span<const float> x);

}  // namespace slimbayes
