#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/fit_examples.h"
#include "slimbayes/data/images/image_encoder.h"
#include "slimbayes/encoding/encoder.h"
#include "slimbayes/encoding/outside.h"
#include "slimbayes/encoding/text.h"
#include "slimbayes/encoding/windows/window_encoder.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// Turns the examples of a user into the inputs and targets of a network. There is one class per kind of
/// input (table rows, windows, images, text), each fitted on the training examples and saved with the model.
/// The functions below call the matching function of the class that the variant holds. They throw
/// std::invalid_argument for examples of another kind.
using InputEncoder = std::variant<Encoder, WindowEncoder, ImageEncoder, TextEncoder>;

SLIMBAYES_EXPORT InputKind kind_of(const InputEncoder& encoder);
SLIMBAYES_EXPORT const Schema& schema_of(const InputEncoder& encoder);

/// Returns the name of the column that is predicted; "" for events, "label" for images.
SLIMBAYES_EXPORT const std::string& target_of(const InputEncoder& encoder);

/// Returns how read_table should read rows for this encoder, with its target if `with_target` (see
/// Encoder::reading). Empty for images.
SLIMBAYES_EXPORT Reading reading_of(const InputEncoder& encoder, bool with_target);

/// Returns the examples in the form that a fitted encoder reads: for a WindowEncoder, a table is cut into its
/// windows; with `with_target`, only into those whose target is in the table. Other examples are returned
/// unchanged. Throws as find_windows.
SLIMBAYES_EXPORT Examples examples_of(Examples given, const InputEncoder& encoder, bool with_target);

/// Fits an encoder for the kind of input that the options ask for, on the examples with the indices `train`.
/// `scale` is the scale of numeric inputs: "min-max" or "standard". `all` has the statistics of all training
/// rows of a table of which the examples are a sample (Encoder::fit). `weights` has the weight of each of the
/// examples, above 0 (EncoderOptions::weights); empty: each counts once. `input_rows` has the rows of a table
/// that the inputs are fitted on (Encoder::fit); nullptr: `train`. Throws as the fit() of the encoder's
/// class.
SLIMBAYES_EXPORT InputEncoder fit_encoder(const Examples& examples, const std::vector<int64_t>& train,
                                          const FitOptions& options, const std::string& scale,
                                          const TableStatistics* all = nullptr,
                                          std::span<const double> weights = {},
                                          const std::vector<int64_t>* input_rows = nullptr);

/// Returns the encoded examples. Rows and windows that cannot be encoded (a number too far from training, see
/// Encoder::inputs) are appended to `bad`, and their features are 0; if `bad` is nullptr, they throw
/// DataError.
SLIMBAYES_EXPORT Dataset dataset_of(const InputEncoder& encoder, const Examples& examples, bool with_target,
                                    std::vector<BadRow>* bad = nullptr);

/// Returns the encoded training examples with their targets. `augmentation` varies images at random in
/// training batches; other inputs do not use it.
SLIMBAYES_EXPORT Dataset training_dataset(const InputEncoder& encoder, const Examples& examples,
                                          const Augmentation& augmentation);

/// Returns the targets [n] in the user's units, or class numbers. They come directly from the examples,
/// because converting standardised targets back would round them. Throws DataError for a class that was not
/// in training.
SLIMBAYES_EXPORT at::Tensor target_as_given(const InputEncoder& encoder, const Examples& examples);

/// Throws DataError if a target is too far from the training targets for float32 (check_standardised). Labels
/// of images always pass.
SLIMBAYES_EXPORT void check_targets(const InputEncoder& encoder, const Examples& examples);

/// Returns sentences about the columns that training dropped, imputed or found odd; none for images and text.
SLIMBAYES_EXPORT std::vector<std::string> notes_of(const InputEncoder& encoder);

/// Returns sentences about what looks odd in these examples compared with training (see Encoder::notes_for);
/// none for images.
SLIMBAYES_EXPORT std::vector<std::string> notes_for(const InputEncoder& encoder, const Examples& examples);

/// Returns how far the rows of a table lie outside the range of the training rows (see encoding/outside.h).
/// Returns nullopt for other kinds of input.
SLIMBAYES_EXPORT std::optional<Outside> outside(const InputEncoder& encoder, const Examples& examples);

SLIMBAYES_EXPORT nlohmann::json to_json(const InputEncoder& encoder);

/// Throws std::invalid_argument if the JSON does not describe an encoder.
SLIMBAYES_EXPORT InputEncoder input_encoder_from_json(const nlohmann::json& json);

}  // namespace slimbayes
