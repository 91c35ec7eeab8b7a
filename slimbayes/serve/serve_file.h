#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/engine/spec/answer_spec.h"
#include "slimbayes/serve/input_cells.h"
#include "slimbayes/serve/row_regression.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

// What a model file holds for answers without libtorch: beside the encoder and the calibration scores, which
// every model file has, the metadata kServeKey and arrays whose names begin with kRowsPrefix
// (storage/model_kind.h).

/// The parts of a model file that rows, windows and texts are answered from.
struct ServedFile {
  std::string method;
  std::vector<std::string> missing;  // texts of a missing cell, beside those of every table
  Notation notation;                 // how the cells of a text spell numbers and dates
  ServedEncoder encoder;
  engine::AnswerSpec rows;
  double least_noise = 0;  // NoiseEstimate::var of the model, for a regression
  /// Whether the parts of the variance are aleatoric and epistemic, as the columns of `predict` are named;
  /// else the noise and the function's, of which the sum alone is calibrated.
  bool epistemic = false;
  /// Notes that answers need: Model::interrupted(), and parts_note() of the model (model/answer_table.h), ""
  /// for none. Older files lack them.
  bool interrupted = false;
  std::optional<std::string> parts_note;
  CalibrationScores calibration;
};

/// Adds what answers of a model are made of to its file: rows, least_noise, epistemic, interrupted and
/// parts_note of `parts`; the file holds the rest already. Its version is 3 for a target within bounds,
/// else 2 if the calibration in the file has weights, else 1: a reader that knows no bounds or no weights
/// refuses them, and takes all other files.
void store_served(const ServedFile& parts, TensorFile& file);

/// Removes what store_served() added.
void drop_served(TensorFile& file);

/// Reads the parts of a model file, which may be untrusted and of any of the versions. Throws
/// std::invalid_argument, DataError or an exception of the JSON library for a file that is damaged, and for
/// one that has no such parts; the message says why.
ServedFile served_file(const TensorFile& file);

}  // namespace slimbayes
