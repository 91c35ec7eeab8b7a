#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/encoder.h"
#include "slimbayes/data/fit_examples.h"
#include "slimbayes/data/image_encoder.h"
#include "slimbayes/data/outside.h"
#include "slimbayes/data/text.h"
#include "slimbayes/data/window_encoder.h"

namespace slimbayes {

/// Turns a user's examples into a network's inputs and targets. It has one alternative per kind of input,
/// each fitted on the training examples and saved with the model. The functions below dispatch to the active
/// alternative; they throw std::invalid_argument for examples of another kind.
using InputEncoder = std::variant<Encoder, WindowEncoder, ImageEncoder, TextEncoder>;

InputKind kind_of(const InputEncoder& encoder);
const Schema& schema_of(const InputEncoder& encoder);

/// Returns the name of the column that is predicted; "" for events, "label" for images.
const std::string& target_of(const InputEncoder& encoder);

/// Says how to read a file of rows for this encoder (Encoder::reading). Images need none: the result is
/// empty.
Reading reading_of(const InputEncoder& encoder, bool with_target);

/// Returns the examples that a fitted encoder reads. For a WindowEncoder, a table becomes its windows; with
/// `with_target`, only those whose target is in the table. Throws as find_windows.
Examples examples_of(Examples given, const InputEncoder& encoder, bool with_target);

/// Fits the encoder for the options' kind of input on the examples at the indices `train`. `scale` is for
/// numeric inputs: "min-max" or "standard". Throws as the fit() of each encoder.
InputEncoder fit_encoder(const Examples& examples, const std::vector<int64_t>& train,
                         const FitOptions& options, const std::string& scale);

/// Returns the dataset of these examples. Rows and windows with invalid inputs (Encoder::inputs) are listed
/// in `bad`, and the features of an invalid row are 0; if `bad` is nullptr, they throw DataError.
Dataset dataset_of(const InputEncoder& encoder, const Examples& examples, bool with_target,
                   std::vector<BadRow>* bad = nullptr);

/// Returns the dataset of training examples with their targets. Images are varied at random in training.
Dataset training_dataset(const InputEncoder& encoder, const Examples& examples,
                         const Augmentation& augmentation);

/// Returns the targets [n] in the user's units; class numbers for classes. They are read from the examples:
/// undoing the standardisation would round them. Throws DataError for a class that was not in training.
at::Tensor target_as_given(const InputEncoder& encoder, const Examples& examples);

/// Throws DataError if a target is too far from those of training (check_standardised). Images always pass.
void check_targets(const InputEncoder& encoder, const Examples& examples);

/// Returns sentences about what training dropped or imputed; none for images and text.
std::vector<std::string> notes_of(const InputEncoder& encoder);

/// Returns sentences about what looks odd in these examples (Encoder::notes_for).
std::vector<std::string> notes_for(const InputEncoder& encoder, const Examples& examples);

/// Returns how far the rows of a table lie outside the training range; nullopt for other kinds of input.
std::optional<Outside> outside(const InputEncoder& encoder, const Examples& examples);

nlohmann::json to_json(const InputEncoder& encoder);

/// Throws std::invalid_argument if the JSON does not describe an encoder.
InputEncoder input_encoder_from_json(const nlohmann::json& json);

}  // namespace slimbayes
